/** The same database as a source of PostgreSQL and as one of Citus has the same answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { complaintsAbout } from './shape.ts';
import { READS, ROLES, trackTwin, TWIN_TABLES } from './twin.ts';

describe('PostgreSQL and Citus', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ ENABLED_LOG_TYPES: 'query-log' });
    await service.sql(TWIN_TABLES);
    const customization = (prefix: string): JsonObject => ({ root_fields: { prefix }, type_names: { prefix } });
    await service.metadata('pg_update_source', { name: 'default', customization: customization('pg_') });
    await service.metadata('dbc_add_source', {
      name: 'twin',
      configuration: { connection_info: { database_url: service.databaseUrl } },
      customization: customization('dbc_'),
    });
    await trackTwin(service, 'pg', 'default');
    await trackTwin(service, 'dbc', 'twin');
  });
  afterAll(() => service.stop());

  async function answer(request: string, prefix: string, options: JsonObject): Promise<string> {
    const text = JSON.stringify(await service.graphql(request.replaceAll(/\b_(?=writer|book|mark)/g, prefix), options));
    return text.replaceAll(prefix, '_');
  }

  /** What Citus would refuse in the statements of the last request. */
  const complaints = (): readonly string[] => {
    const last = service.observations.findLast((each) => each.kind === 'query');
    const statements = [...(last?.statements?.values() ?? [])];
    expect(statements).not.toEqual([]);
    return statements.flatMap(({ text }) => complaintsAbout(text));
  };

  it.each(READS)('answer %s', async (request) => {
    const theirs = await answer(request, 'pg_', {});
    expect(theirs).toContain('"data"');
    expect(await answer(request, 'dbc_', {})).toBe(theirs);
    expect(complaints()).toEqual([]);
  });

  it.each(ROLES)('let $role with $session see the same', async (options) => {
    for (const request of [
      '{ _book(order_by: {id: asc}) { id title writer { name } } _book_aggregate(order_by: {id: desc}) { aggregate { count } nodes { id } } }',
      '{ _writer(order_by: {id: asc}) { id books(order_by: {title: asc_nulls_first, id: asc}) { id } books_aggregate(limit: 9, order_by: {id: asc}) { aggregate { count } nodes { id } } } }',
      '{ _book(where: {writer: {name: {_neq: "q"}}}, order_by: {writer: {name: desc}, id: asc}) { id } }',
    ]) {
      const theirs = await answer(request, 'pg_', options);
      expect(theirs).toContain('"data"');
      expect(await answer(request, 'dbc_', options)).toBe(theirs);
    }
  });
});
