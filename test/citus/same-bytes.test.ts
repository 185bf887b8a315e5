/** Random requests of random roles, compiled for PostgreSQL and for Citus, give the same bytes from one database. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Compiler, CompilerOptions } from '../../src/backend/backend.ts';
import { citus } from '../../src/databases/citus/index.ts';
import { postgresql } from '../../src/databases/postgresql/index.ts';
import { PostgresqlSource } from '../../src/databases/postgresql/source.ts';
import { textOfBytes } from '../../src/util/bytes.ts';
import { CHOICE_MAX, Choices, numbersOf } from '../permission-safety/choices.ts';
import { makeRoots } from '../permission-safety/make-query.ts';
import { ALL_ROLES, makeWorld } from '../permission-safety/make-world.ts';
import { print } from '../permission-safety/query.ts';
import { ask, someSession } from '../permission-safety/session.ts';
import { setUp } from '../permission-safety/set-up.ts';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { JsonRow, Statement } from '../../src/backend/connection.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(5_000, 60));
const PER_WORLD = cases(250, 60);

/** Keyed by the text of the statement for PostgreSQL. */
const twins = new Map<string, { readonly theirs: Statement; readonly ours: Statement }>();
const counts = { compared: 0, withRows: 0 };
const differences: string[] = [];

/** Records the statements of both compilers. */
function withTwins(compiler: (options: CompilerOptions) => Compiler): (options: CompilerOptions) => Compiler {
  return (options) => {
    const made = compiler(options);
    const citusCompiler = citus.compiler(options);
    return {
      ...made,
      select(roots) {
        const [theirs, ours] = [made.select(roots), citusCompiler.select(roots)];
        twins.set(theirs.text, { theirs, ours });
        return { ...theirs, parameters: [...theirs.parameters, ...ours.parameters] };
      },
    };
  };
}

/** Removes blanks, which databases print differently. */
function withoutBlanks(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

function cells(row: JsonRow): readonly (string | null)[] {
  return row.map((cell) => (cell === null ? null : withoutBlanks(textOfBytes(cell))));
}

let service: TestService;
beforeAll(async () => {
  const { compiler } = postgresql;
  vi.spyOn(postgresql, 'compiler').mockImplementation(withTwins(compiler));
  const { runJson } = PostgresqlSource.prototype;
  vi.spyOn(PostgresqlSource.prototype, 'runJson').mockImplementation(async function (this: PostgresqlSource, statement, values, how) {
    const twin = twins.get(statement.text);
    if (twin === undefined) return runJson.call(this, statement, values, how);
    const { theirs, ours } = twin;
    const answer = await runJson.call(this, theirs, values.slice(0, theirs.parameters.length), how);
    const other = await runJson.call(this, ours, values.slice(theirs.parameters.length), how);
    const [one, two] = [cells(answer), cells(other)];
    counts.compared++;
    if (one.some((cell) => cell?.includes('[{'))) counts.withRows++;
    if (JSON.stringify(one) !== JSON.stringify(two)) differences.push(`${theirs.text}\n${one.join()}\n${ours.text}\n${two.join()}`);
    return answer;
  });
  service = await startTestService({ PG_CONNECTIONS: '4', OPERATION_CACHE_SIZE: '64' });
});
afterAll(async () => {
  await service?.stop();
  vi.restoreAllMocks();
});

it(
  `gives the same bytes for ${CASES} random requests (seed ${SEED})`,
  async () => {
    for (let seed = SEED; counts.compared < CASES; seed++) {
      const world = makeWorld(new Choices(numbersOf(seed, 20_000)), 7, 'dbc');
      await setUp({ service }, { ...world, database: 'pg' });
      twins.clear();
      const property = fc.asyncProperty(fc.noBias(fc.array(fc.nat(CHOICE_MAX), { minLength: 300, maxLength: 300 })), async (numbers) => {
        const choices = new Choices(numbers);
        const role = choices.pick(ALL_ROLES);
        const session = someSession(choices);
        const roots = makeRoots(choices, { world, role, total: true, failing: false });
        if (roots === null) return;
        const request = print(world, roots, () => choices.chance(30));
        const answer = await ask(service.url, { role, session, request });
        expect(differences.splice(0), JSON.stringify({ role, session, ...request })).toEqual([]);
        expect(answer, request.query).not.toContain('"errors"');
      });
      await fc.assert(property, { numRuns: PER_WORLD, seed });
    }
    console.info(`same bytes: ${JSON.stringify(counts)}, seed ${SEED}`);
    // The share is only meaningful for many cases; many of them request one row, aggregates, or few visible rows.
    expect(counts.withRows).toBeGreaterThan(DEEP ? 0.2 * counts.compared : 0);
  },
  Math.max(120_000, CASES * 100),
);
