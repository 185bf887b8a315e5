/** Checks each statement that services compile for Citus during a test. */
import { vi } from 'vitest';
import type { Compiler, CompilerOptions } from '../../src/backend/backend.ts';
import { citus } from '../../src/databases/citus/index.ts';
import { comparesWithOuterRow } from '../../src/ir/bool-exp.ts';
import { COMPARES_ROWS, problemsIn } from './shape.ts';

export interface Shapes {
  /** Number of statements by purpose. */
  readonly seen: Readonly<Record<'select' | 'mutation' | 'join' | 'live', number>>;
  /** Statements that compare columns of two rows. */
  readonly comparing: number;
  /** Refusals of Citus, with the statement. */
  readonly problems: readonly string[];
}

/** Must be called before the service starts; `vi.restoreAllMocks` ends it. */
export function watchShapes(): Shapes {
  const seen = { select: 0, mutation: 0, join: 0, live: 0 };
  const problems: string[] = [];
  const shapes = { seen, comparing: 0, problems };
  const look = (kind: keyof typeof seen, text: string, meaning: object): void => {
    seen[kind]++;
    const found = problemsIn(text);
    // Only comparisons of rows may be correlated.
    const compares = found.includes(COMPARES_ROWS);
    if (compares) shapes.comparing++;
    if (compares && !comparesRows(meaning)) problems.push(`${COMPARES_ROWS} without need\n${text}`);
    for (const problem of found) if (problem !== COMPARES_ROWS) problems.push(`${problem}\n${text}`);
  };
  const { compiler } = citus;
  vi.spyOn(citus, 'compiler').mockImplementation((options: CompilerOptions): Compiler => {
    const made = compiler(options);
    return {
      ...made,
      select(roots) {
        const statement = made.select(roots);
        look('select', statement.text, roots);
        return statement;
      },
      mutation(roots, once) {
        const mutation = made.mutation?.(roots, once);
        if (mutation === undefined) throw new Error('invariant: Citus compiles mutations');
        for (const { statement } of mutation.statements) look('mutation', statement.text, roots);
        return mutation;
      },
      join(target) {
        const statement = made.join?.(target);
        if (statement === undefined) throw new Error('sources of Citus can be joined to');
        look('join', statement.text, target);
        return statement;
      },
      liveQuery(roots) {
        const live = made.liveQuery?.(roots);
        if (live === undefined) throw new Error('sources of Citus have live queries');
        const cohort = live.parameters.map(() => null);
        look('live', live.text, roots);
        look('live', live.batch([cohort, cohort, cohort]).text, roots);
        return live;
      },
    };
  });
  return shapes;
}

/** Returns whether a condition compares a row with the one that it was found for. */
function comparesRows(meaning: unknown): boolean {
  if (typeof meaning !== 'object' || meaning === null) return false;
  if ('kind' in meaning && (meaning.kind === 'exists' || meaning.kind === 'aggregate-predicate') && 'where' in meaning) {
    if (comparesWithOuterRow(meaning.where as Parameters<typeof comparesWithOuterRow>[0], 1)) return true;
  }
  const parts = meaning instanceof Map ? meaning.values() : Object.values(meaning);
  return [...parts].some(comparesRows);
}
