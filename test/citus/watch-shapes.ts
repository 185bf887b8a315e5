/** Looks at each statement that services make for Citus while a test runs. */
import { vi } from 'vitest';
import type { Compiler, CompilerOptions } from '../../src/backend/backend.ts';
import { citus } from '../../src/databases/citus/index.ts';
import { looksOut } from '../../src/ir/bool-exp.ts';
import { COMPARES_ROWS, complaintsAbout } from './shape.ts';

export interface Shapes {
  /** Statements by what they are for. */
  readonly seen: Readonly<Record<'select' | 'mutation' | 'join' | 'live', number>>;
  /** Statements that compare columns of two rows. */
  readonly comparing: number;
  /** What Citus would refuse, with the statement. */
  readonly complaints: readonly string[];
}

/** To be called before the service is started; `vi.restoreAllMocks` ends it. */
export function watchShapes(): Shapes {
  const seen = { select: 0, mutation: 0, join: 0, live: 0 };
  const complaints: string[] = [];
  const shapes = { seen, comparing: 0, complaints };
  const look = (kind: keyof typeof seen, text: string, meaning: object): void => {
    seen[kind]++;
    const found = complaintsAbout(text);
    // Only what compares rows may look at the row around it.
    const compares = found.includes(COMPARES_ROWS);
    if (compares) shapes.comparing++;
    if (compares && !comparesRows(meaning)) complaints.push(`${COMPARES_ROWS} without need\n${text}`);
    for (const complaint of found) if (complaint !== COMPARES_ROWS) complaints.push(`${complaint}\n${text}`);
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

/** Whether some condition in it is about a row and the one that it was found for. */
function comparesRows(meaning: unknown): boolean {
  if (typeof meaning !== 'object' || meaning === null) return false;
  if ('kind' in meaning && (meaning.kind === 'exists' || meaning.kind === 'aggregate-predicate') && 'where' in meaning) {
    if (looksOut(meaning.where as Parameters<typeof looksOut>[0], 1)) return true;
  }
  const parts = meaning instanceof Map ? meaning.values() : Object.values(meaning);
  return [...parts].some(comparesRows);
}
