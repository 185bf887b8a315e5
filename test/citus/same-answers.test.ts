/** A database gives the same answers as a PostgreSQL and as a Citus source, with statements that Citus accepts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { READS, ROLE_READS, ROLES } from '../support/twin-reads.ts';
import { addTwin, lastProblems, trackTwin, TWIN_TABLES, twinAnswer } from './twin.ts';

describe('PostgreSQL and Citus', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ ENABLED_LOG_TYPES: 'query-log' });
    await service.sql(TWIN_TABLES);
    await addTwin(service, service.databaseUrl);
    await trackTwin(service, 'pg', 'default');
    await trackTwin(service, 'dbc', 'twin');
  });
  afterAll(() => service?.stop());

  it.each(sample(READS, 8))('answer %s alike', async (request) => {
    const theirs = await twinAnswer(service, 'pg', request);
    expect(theirs).toContain('"data"');
    expect(await twinAnswer(service, 'dbc', request)).toBe(theirs);
    expect(lastProblems(service)).toEqual([]);
  });

  it.each(ROLES)('show $role with $session the same rows', async (options) => {
    for (const request of ROLE_READS) {
      const theirs = await twinAnswer(service, 'pg', request, options);
      expect(theirs).toContain('"data"');
      expect(await twinAnswer(service, 'dbc', request, options)).toBe(theirs);
    }
  });
});
