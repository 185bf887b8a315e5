/** Geometry operators fail for some values. Requires PostGIS on the server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableExtensions } from '../support/extensions.ts';
import { runSql } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { ask } from './session.ts';

const available = await availableExtensions(['postgis']);

describe.skipIf(!available.has('postgis'))('unseen geometries', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ PG_CONNECTIONS: '2' });
    await service.metadata('clear_metadata', {});
    await runSql(
      service.databaseUrl,
      `create extension postgis;
       create table owner (id integer primary key, user_id integer);
       create table place (id integer primary key, owner_id integer references owner, area geometry);
       insert into owner values (1, 1), (2, 2);
       insert into place values (1, 1, st_geomfromtext('POINT(1 1)', 4326)), (2, 2, st_geomfromtext('POINT(2 2)', 4326));`,
    );
    await service.metadata('replace_metadata', {
      version: 3,
      sources: [
        {
          name: 'default',
          kind: 'postgres',
          configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
          tables: [
            { table: 'owner' },
            {
              table: 'place',
              object_relationships: [{ name: 'owner', using: { foreign_key_constraint_on: 'owner_id' } }],
              select_permissions: [{ role: 'user', permission: { columns: '*', filter: { owner: { user_id: 'X-Svc-User-Id' } } } }],
            },
          ],
        },
      ],
    });
  });
  afterAll(async () => {
    await service?.stop();
  });

  const point = '{type: "Point", coordinates: [1, 1], crs: {type: "name", properties: {name: "EPSG:4326"}}}';
  it.each([
    `{area: {_st_intersects: ${point}}}`,
    `{area: {_st_d_within: {distance: 1, from: ${point}}}}`,
    `{area: {_cast: {geography: {_st_d_within: {distance: 1, from: ${point}}}}}}`,
  ])('do not make %s fail', async (where) => {
    const request = { query: `{ place(where: ${where}) { id } }`, variables: {} };
    const answer = (): Promise<string> => ask(service.url, { role: 'user', session: { 'user-id': '1' }, request });
    await runSql(service.databaseUrl, `update place set area = st_geomfromtext('POINT(2 2)', 4326) where id = 2`);
    const before = await answer();
    expect(before).toBe('{"data":{"place":[{"id":1}]}}');
    await runSql(service.databaseUrl, `update place set area = st_geomfromtext('POINT(2 2)', 3857) where id = 2`);
    expect(await answer()).toBe(before);
  });
});
