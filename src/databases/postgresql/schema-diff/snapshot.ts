/** The schema of a database, as `snapshot.sql` reads it. All names are SQL: with their schemas, and with quotes where needed. */
import { readFileSync } from 'node:fs';
import type { DumpContext } from '../../../backend/migration-dialect.ts';

export interface SchemaSnapshot {
  /** `server_version_num`. */
  readonly version: number;
  readonly schemas: readonly string[];
  readonly extensions: readonly { readonly name: string; readonly schema: string }[];
  readonly enums: readonly EnumType[];
  /** All but those of identity columns. */
  readonly sequences: readonly Sequence[];
  readonly tables: readonly Table[];
  readonly others: readonly OtherObject[];
}

export interface EnumType {
  readonly name: string;
  readonly schema: string;
  /** As literals. */
  readonly labels: readonly string[];
  /** Objects that use the type and are not compared. */
  readonly usedBy: readonly string[];
}

export interface SequenceOptions {
  readonly name: string;
  readonly schema: string;
  /** Name without quotes and schema. */
  readonly plain: string;
  readonly type: string;
  readonly increment: string;
  readonly minimum: string;
  readonly maximum: string;
  readonly start: string;
  readonly cache: string;
  readonly cycle: boolean;
}

export interface Sequence {
  readonly options: SequenceOptions;
  readonly owner: { readonly table: string; readonly column: string } | null;
}

export interface Table {
  readonly name: string;
  readonly schema: string;
  readonly plain: string;
  readonly isUnlogged: boolean;
  readonly columns: readonly Column[];
  readonly constraints: readonly TableConstraint[];
  readonly indexes: readonly Index[];
  /** Objects that use the table, are not compared and would outlive it. */
  readonly usedBy: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly plain: string;
  readonly type: string;
  /** Type without its modifier. */
  readonly base: string;
  /** `atttypmod`: -1 without a modifier. */
  readonly modifier: number;
  readonly isEnum: boolean;
  /** Enum of the column or of its elements. */
  readonly enum: string | null;
  /** `null` for that of the type. */
  readonly collation: string | null;
  /** `null` if the column is nullable. The members are `null` before PostgreSQL 18. */
  readonly notNull: { readonly name: string | null; readonly plain: string | null; readonly definition: string | null } | null;
  readonly default: string | null;
  readonly generated: Generated | null;
  /** Sequences that the default uses. */
  readonly sequences: readonly string[];
  readonly identity: 'always' | 'by default' | null;
  readonly sequence: SequenceOptions | null;
  /** Objects that use the column and are not compared. */
  readonly usedBy: readonly string[];
}

export interface Generated {
  readonly expression: string;
  readonly isStored: boolean;
  readonly columns: readonly string[];
}

export interface TableConstraint {
  readonly name: string;
  /** Check, foreign key, primary key, unique or exclusion. */
  readonly kind: 'c' | 'f' | 'p' | 'u' | 'x';
  readonly definition: string;
  readonly columns: readonly string[];
  /** Index of the constraint; for a foreign key, the index of the referenced key. */
  readonly index: string | null;
  readonly references: { readonly table: string; readonly columns: readonly string[] } | null;
}

export interface Index {
  readonly name: string;
  readonly definition: string;
  readonly columns: readonly string[];
}

/** An object that is only compared, not written. */
export interface OtherObject {
  readonly what: string;
  readonly name: string | null;
  readonly schema: string | null;
  /** Changes with the definition. */
  readonly digest: string;
}

const QUERY = readFileSync(new URL('./snapshot.sql', import.meta.url), 'utf8');

/** Reads the schema of a database. */
export async function readSnapshot({ rows, failure, source }: DumpContext): Promise<SchemaSnapshot> {
  const [[cell] = []] = await rows(QUERY);
  if (cell === undefined) throw failure('server', `the service did not return the schema of ${source}`);
  return JSON.parse(cell) as SchemaSnapshot;
}
