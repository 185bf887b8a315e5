/** Mutations of a database of PostgreSQL, and of the same one as a source of Citus, have the same answers and leave the same rows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { runSql, type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { complaintsAbout } from './shape.ts';
import { allowWrites, TABLES, trackTwin, TWIN_TABLES, WRITES } from './twin.ts';

const SNAPSHOT = TABLES.map((table) => `(select json_agg(t order by t::text) from ${table} t)`).join(', ');

describe('mutations of PostgreSQL and Citus', () => {
  let service: TestService;
  let twin: TestDatabase;
  beforeAll(async () => {
    twin = await testDatabase();
    service = await startTestService({ ENABLED_LOG_TYPES: 'query-log' }, { TWIN: twin.url });
    await runSql(twin.url, TWIN_TABLES);
    await service.sql(TWIN_TABLES);
    const customization = (prefix: string): JsonObject => ({ root_fields: { prefix }, type_names: { prefix } });
    await service.metadata('pg_update_source', { name: 'default', customization: customization('pg_') });
    await service.metadata('dbc_add_source', {
      name: 'twin',
      configuration: { connection_info: { database_url: { from_env: 'TWIN' } } },
      customization: customization('dbc_'),
    });
    for (const [kind, source] of [
      ['pg', 'default'],
      ['dbc', 'twin'],
    ] as const) {
      await trackTwin(service, kind, source);
      await allowWrites(service, kind, source);
    }
  });
  afterAll(async () => {
    await service.stop();
    await twin.drop();
  });

  async function answer(request: string, kind: 'pg' | 'dbc', options: JsonObject): Promise<string> {
    const prefixed = request.replaceAll(/(?<!\w)_(?=writer|book|mark|raise|cheap|insert|update|delete)/g, `${kind}_`);
    return JSON.stringify(await service.graphql(prefixed, options)).replaceAll(`${kind}_`, '_');
  }

  async function rows(source: string, kind: string): Promise<string> {
    const result = await service.send('/v2/query', {
      method: 'POST',
      body: JSON.stringify({ type: `${kind}_run_sql`, args: { source, sql: `select ${SNAPSHOT}` } }),
    });
    return result.text;
  }

  it.each(WRITES)('$request', async ({ request, ...options }) => {
    const theirs = await answer(request, 'pg', options);
    expect(await answer(request, 'dbc', options)).toBe(theirs);
    const last = service.observations.findLast((each) => each.kind === 'query');
    expect([...(last?.statements?.values() ?? [])].flatMap(({ text }) => complaintsAbout(text))).toEqual([]);
    expect(await rows('twin', 'dbc')).toBe(await rows('default', 'pg'));
  });
});
