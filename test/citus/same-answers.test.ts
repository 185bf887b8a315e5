/** The same database as a source of PostgreSQL and as one of Citus has the same answers, by statements that Citus takes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { READS, ROLE_READS, ROLES } from '../support/twin-reads.ts';
import { addTwin, lastComplaints, trackTwin, TWIN_TABLES, twinAnswer } from './twin.ts';

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

  it.each(sample(READS, 8))('answer %s', async (request) => {
    const theirs = await twinAnswer(service, 'pg', request);
    expect(theirs).toContain('"data"');
    expect(await twinAnswer(service, 'dbc', request)).toBe(theirs);
    expect(lastComplaints(service)).toEqual([]);
  });

  it.each(ROLES)('let $role with $session see the same', async (options) => {
    for (const request of ROLE_READS) {
      const theirs = await twinAnswer(service, 'pg', request, options);
      expect(theirs).toContain('"data"');
      expect(await twinAnswer(service, 'dbc', request, options)).toBe(theirs);
    }
  });
});
