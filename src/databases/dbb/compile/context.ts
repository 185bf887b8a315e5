import type { CompilerOptions } from '../../../backend/backend.ts';
import { identifier, type Sql } from '../../../sql/fragment.ts';

/** What the compilation of one statement shares. */
export interface Context {
  readonly options: CompilerOptions;
  /** A table alias that this statement has not used yet. */
  alias(): Sql;
}

export function createContext(options: CompilerOptions): Context {
  let aliases = 0;
  return { options, alias: () => identifier(`:t${++aliases}`) };
}
