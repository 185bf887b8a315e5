/** Mutations have the same answers and leave the same rows on a PostgreSQL source and on an equal Citus source. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSql, type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { addTwin, allowWrites, lastProblems, trackTwin, TWIN_TABLES, twinAnswer, twinRows, WRITES } from './twin.ts';

describe('mutations of PostgreSQL and Citus', () => {
  let service: TestService;
  let twin: TestDatabase;
  beforeAll(async () => {
    twin = await testDatabase();
    service = await startTestService({ ENABLED_LOG_TYPES: 'query-log' }, { TWIN: twin.url });
    await runSql(twin.url, TWIN_TABLES);
    await service.sql(TWIN_TABLES);
    await addTwin(service, { from_env: 'TWIN' });
    for (const [kind, source] of [
      ['pg', 'default'],
      ['dbc', 'twin'],
    ] as const) {
      await trackTwin(service, kind, source);
      await allowWrites(service, kind, source);
    }
  });
  afterAll(async () => {
    await service?.stop();
    await twin?.drop();
  });

  it.each(WRITES)('$request', async ({ request, ...options }) => {
    const theirs = await twinAnswer(service, 'pg', request, options);
    expect(await twinAnswer(service, 'dbc', request, options)).toBe(theirs);
    expect(lastProblems(service)).toEqual([]);
    expect(await twinRows(service, 'dbc', 'twin')).toBe(await twinRows(service, 'pg', 'default'));
  });
});
