import type { CompilerOptions } from '../../../backend/backend.ts';
import type { QualifiedName } from '../../../catalog/catalog.ts';
import { identifier, type Sql } from '../../../sql/fragment.ts';
import type { Row } from '../../shared/row.ts';

/** What the compilation of one statement shares. */
export interface Context {
  readonly options: CompilerOptions;
  /** A table alias that this statement has not used yet. */
  alias(): Sql;
  /** Derived tables of the statement, which see nothing around them. */
  readonly derived: Sql[];
  /** Rows that conditions on others do not find; null: they find all. */
  unseen: UnseenRows | null;
}

/** Rows of a table, such as those that are being checked: that they are there must not speak for them. */
export interface UnseenRows {
  readonly table: QualifiedName;
  /** Holds for the other rows. */
  isOther(row: Row): Sql;
}

export function createContext(options: CompilerOptions): Context {
  let aliases = 0;
  return { options, derived: [], alias: () => identifier(`:t${++aliases}`), unseen: null };
}
