import type { CompilerOptions } from '../../../backend/backend.ts';
import type { QualifiedName } from '../../../catalog/catalog.ts';
import { identifier, type Sql } from '../../../sql/fragment.ts';
import type { Row } from '../../shared/row.ts';

/** State that the compilation of one statement shares. */
export interface Context {
  readonly options: CompilerOptions;
  /** Returns an unused table alias. */
  alias(): Sql;
  /** Derived tables of the statement; they cannot be correlated. */
  readonly derived: Sql[];
  /** Rows that conditions on other rows must not find, or `null`. */
  excluded: ExcludedRows | null;
}

/** Rows of a table, such as those being checked, whose existence must not satisfy their own check. */
export interface ExcludedRows {
  readonly table: QualifiedName;
  /** Condition that is true for all other rows. */
  isOther(row: Row): Sql;
}

export function createContext(options: CompilerOptions): Context {
  let aliases = 0;
  return { options, derived: [], alias: () => identifier(`:t${++aliases}`), excluded: null };
}
