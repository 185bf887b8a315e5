/** How `svc doctor` looks at the databases of a kind. Types only. */
import type { JsonObject } from '../util/json.ts';

export interface Finding {
  readonly id: string;
  readonly severity: 'error' | 'warning';
  readonly cause: string;
  readonly remedy: string;
}

/** Source of a running service. */
export interface DiagnosedSource {
  readonly name: string;
  /** Its entry in the metadata document of the service. */
  readonly entry: JsonObject;
  /** Runs one read-only statement. Returns its rows without the header; SQL NULL is the text `NULL`. @throws ProjectFailure */
  query(sql: string): Promise<readonly (readonly string[])[]>;
}

export interface Subject extends DiagnosedSource {
  /** Other sources of the service with the same kind, which may be in the same database. */
  readonly others: readonly DiagnosedSource[];
  /** SQL of the up migrations that the project has for the source, in their order. */
  readonly migrations: readonly string[];
}

export interface Diagnostics {
  /** Returns findings in the database of a source. @throws ProjectFailure if the database does not answer */
  inspect?(subject: Subject): Promise<readonly Finding[]>;
  /** Returns the remedy for an inconsistency, by its reason; `undefined` if none is known. */
  remedyOf?(reason: string): string | undefined;
}
