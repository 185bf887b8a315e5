import type { CompilerOptions } from '../../../backend/backend.ts';
import { identifier, type Sql } from '../../../sql/fragment.ts';
import type { Asks } from '../../shared/set-plan/writer.ts';

/** What the compilation of one statement shares. */
export interface Context {
  readonly options: CompilerOptions;
  /** A table alias that this statement has not used yet. */
  alias(): Sql;
  /** Answers what masks ask about other tables; null: sub-selects that look out by equality of keys. */
  asks: Asks | null;
}

export function createContext(options: CompilerOptions): Context {
  let aliases = 0;
  return { options, asks: null, alias: () => identifier(`:t${++aliases}`) };
}

/** What is compiled meanwhile asks about other tables in this way. */
export function asking<T>(context: Context, asks: Asks | null, make: () => T): T {
  const before = context.asks;
  context.asks = asks;
  const made = make();
  context.asks = before;
  return made;
}
