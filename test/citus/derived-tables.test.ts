/** Set plans with derived tables, for databases that evaluate a common table expression for each reference, give the same answers. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Compiler, CompilerOptions } from '../../src/backend/backend.ts';
import { withRelations } from '../../src/databases/citus/compile/context.ts';
import { createStatementDraft } from '../../src/databases/citus/compile/draft.ts';
import { writerOf } from '../../src/databases/citus/compile/writer.ts';
import { citus } from '../../src/databases/citus/index.ts';
import { dialect } from '../../src/databases/postgresql/compile/dialect.ts';
import { identifier, join, print, sql } from '../../src/sql/fragment.ts';
import { rootAnswer } from '../../src/databases/shared/set-plan/answer.ts';
import type { SetWriter } from '../../src/databases/shared/set-plan/writer.ts';
import { answersAsNaive } from '../permission-safety/answers-as-naive.ts';
import { shareWithRows } from '../permission-safety/of-kind.ts';
import { cases, DEEP, sample } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { READS } from '../support/twin-reads.ts';
import { addTwin, trackTwin, TWIN_TABLES, twinAnswer } from './twin.ts';

const { compiler } = citus;
const CASES = cases(2_000, 20);

function derived(options: CompilerOptions): Compiler {
  return {
    ...compiler(options),
    select(roots) {
      const draft = createStatementDraft(options);
      const writer: SetWriter = { ...writerOf(draft), named: false, relation: (select) => sql`(${select()})` };
      const columns = roots.map(({ query }, i) => sql`(${rootAnswer(writer, query)}) as ${identifier(String(i))}`);
      // Conditions on tables of other locations still use common table expressions.
      const { text, parameters } = print(withRelations(draft, sql`select ${join(columns, sql`, `)}`), dialect);
      return { text, parameters, repeatable: !draft.context.volatile, columns: roots.length };
    },
  };
}

let service: TestService;
beforeAll(async () => {
  vi.spyOn(citus, 'compiler').mockImplementation(derived);
  service = await startTestService();
  await service.sql(TWIN_TABLES);
  await addTwin(service, service.databaseUrl);
  await trackTwin(service, 'pg', 'default');
  await trackTwin(service, 'dbc', 'twin');
});
afterAll(async () => {
  await service?.stop();
  vi.restoreAllMocks();
});

it.each(sample(READS, 4))('answers %s', async (request) => {
  expect(await twinAnswer(service, 'dbc', request)).toBe(await twinAnswer(service, 'pg', request));
});

it(`answers ${CASES} random requests like a naive evaluator`, async () => {
  const perWorld = cases(500, 20);
  const counts = await answersAsNaive({ service }, 'dbc', { all: CASES, perWorld });
  // The share is only meaningful for many cases.
  expect(counts.nonEmpty).toBeGreaterThan(DEEP ? shareWithRows(CASES / perWorld) * counts.answered : 0);
}, 600_000);
