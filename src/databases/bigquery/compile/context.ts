import type { CompilerOptions } from '../../../backend/backend.ts';
import { identifier, type Sql } from '../../../sql/fragment.ts';
import type { RelatedConditions } from '../../shared/set-plan/writer.ts';

/** State that the compilation of one statement shares. */
export interface Context {
  readonly options: CompilerOptions;
  /** Returns an unused table alias. */
  alias(): Sql;
  /** Compiles conditions on other tables; `null` compiles them to subqueries, correlated by equality of keys. */
  relatedConditions: RelatedConditions | null;
}

export function createContext(options: CompilerOptions): Context {
  let aliases = 0;
  return { options, relatedConditions: null, alias: () => identifier(`:t${++aliases}`) };
}
