import type { CompilerOptions } from '../../../backend/backend.ts';
import { identifier, type Sql } from '../../../sql/fragment.ts';
import type { RelatedConditions } from '../../shared/set-plan/writer.ts';

/** State that the compilation of one statement shares. */
export interface Context {
  readonly options: CompilerOptions;
  /** Returns an unused table alias. */
  alias(): Sql;
  /** Compiles conditions on other tables; `null` compiles them to subqueries, correlated by equality of keys. */
  asks: RelatedConditions | null;
}

export function createContext(options: CompilerOptions): Context {
  let aliases = 0;
  return { options, asks: null, alias: () => identifier(`:t${++aliases}`) };
}

/** Runs `make` with other `asks`. */
export function asking<T>(context: Context, asks: RelatedConditions | null, make: () => T): T {
  const before = context.asks;
  context.asks = asks;
  const made = make();
  context.asks = before;
  return made;
}
