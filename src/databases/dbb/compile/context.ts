import type { CompilerOptions } from '../../../backend/backend.ts';
import { identifier, type Sql } from '../../../sql/fragment.ts';

/** What the compilation of one statement shares. */
export interface Context {
  readonly options: CompilerOptions;
  /** A table alias that this statement has not used yet. */
  alias(): Sql;
  /** Derived tables of the statement, which see nothing around them. */
  readonly derived: Sql[];
}

export function createContext(options: CompilerOptions): Context {
  let aliases = 0;
  return { options, derived: [], alias: () => identifier(`:t${++aliases}`) };
}
