/** Each operation of MariaDB sources, in the order of a source's life: one case that succeeds and two that are refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { listedOperations, operate } from '../support/source-cases.ts';
import { CASES } from './operation-cases.ts';

describe.skipIf(!hasMariadb())('operations of MariaDB', () => {
  let server: TestMariadb;
  let service: TestService;
  let event = '';

  beforeAll(async () => {
    server = await startMariadb();
    await server.run(`create database shop; use shop; create table item (id int primary key, name varchar(9));
      create table part (id int primary key, item_id int, label varchar(9), foreign key (item_id) references item (id)); create table keyless (a int);
      insert into item values (1, 'a'), (2, 'b')`);
    service = await startTestService({ ENABLE_EXT_FEDERATION: 'true' }, { SHOP: server.url('shop') });
    await service.sql('create table note (id int primary key, item_id int)');
    await service.metadata('pg_track_table', { table: 'note' });
  });
  afterAll(async () => {
    await service?.stop();
    await server?.stop();
  });

  async function isSubgraph(): Promise<void> {
    const variables: JsonObject = {
      of: [
        { __typename: 'thing', id: 2 },
        { __typename: 'thing', id: 9 },
      ],
    };
    const { data } = await service.graphql(
      'query($of: [_Any!]!) { _entities(representations: $of) { ... on thing { id title } } _service { sdl } }',
      {
        variables,
      },
    );
    expect(data).toMatchObject({
      _entities: [{ id: 2, title: 'b' }, null],
      _service: { sdl: expect.stringContaining('type thing @key(fields: "id")') },
    });
  }

  const run = (operation: string, args: JsonObject): Promise<Answer> =>
    operate(service, `dbb_${operation}`, args, (body) => body.replace('$event', event));

  it.each(CASES.map(([operation, args, ...refusals]) => ({ operation, args, refusals })))(
    'dbb_$operation',
    async ({ operation, args, refusals }) => {
      // An event may be in delivery at this moment.
      const isBusy = ({ json: body }: Answer): boolean => (body as JsonObject | null)?.['code'] === 'busy';
      let answered = await run(operation, args);
      for (; isBusy(answered); answered = await run(operation, args)) await new Promise((resolve) => setTimeout(resolve, 20));
      const { status, text, json } = answered;
      expect(status, text).toBe(200);
      if (operation === 'invoke_event_trigger') event = String((json as JsonObject)['event_id']);
      if (operation === 'set_ext_federation_config') await isSubgraph();
      if (operation === 'get_source_tables')
        expect(json).toContainEqual(expect.objectContaining({ kind: 'table', tracked: false, estimated_rows: expect.any(Number) }));
      if (operation === 'get_table_info')
        expect(json).toMatchObject({ kind: 'table', unique_keys: [], columns: [{ generated: false }, {}] });
      for (const [code, wrong] of refusals) {
        const answer = await run(operation, wrong);
        expect([answer.status >= 400, answer.json], answer.text).toMatchObject([true, { code }]);
      }
    },
  );

  it('covers the whole list of operations', async () => {
    expect(CASES.map(([operation]) => operation).sort()).toEqual([...listedOperations('dbb'), 'run_sql'].sort());
    for (const absent of ['track_function', 'add_computed_field', 'set_table_is_enum'])
      expect((await run(absent, {})).json).toMatchObject({ code: expect.stringMatching(/not-supported|parse-failed/) });
  });
});
