/** Checks of `svc doctor` in the databases of a kind. Types only. */
import type { JsonObject } from '../util/json.ts';

export interface Finding {
  readonly id: string;
  readonly severity: 'error' | 'warning';
  readonly cause: string;
  readonly remedy: string;
}

/** A source of a running service. */
export interface DiagnosedSource {
  readonly name: string;
  /** Entry in the metadata of the service. */
  readonly entry: JsonObject;
  /** Runs one read-only statement. Returns its rows without the header; SQL NULL is the text `NULL`. @throws ProjectFailure */
  query(sql: string): Promise<readonly (readonly string[])[]>;
}

export interface InspectedSource extends DiagnosedSource {
  /** Other sources of the service with the same kind, which may be in the same database. */
  readonly others: readonly DiagnosedSource[];
  /** SQL of the project's up migrations for the source, in order. */
  readonly migrations: readonly string[];
}

export interface Diagnostics {
  /** Returns findings in the database of a source. @throws ProjectFailure if the database does not answer */
  inspect?(source: InspectedSource): Promise<readonly Finding[]>;
  /** Returns the remedy for an inconsistency, by its reason; `undefined` if none is known. */
  remedyOf?(reason: string): string | undefined;
}
