/** Queries of the same tables have the same answers on PostgreSQL and BigQuery. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { trackTwin, twinAnswer, TWIN_TABLES } from '../citus/twin.ts';
import { hasBigQuery } from '../support/bigquery-emulator/index.ts';
import { sample } from '../support/deep.ts';
import { READS, ROLE_READS, ROLES } from '../support/twin-reads.ts';
import { type BigQueryService, configurationOf, startBigQueryService } from './bigquery.ts';

const TABLES = `
create table shop.writer (id int64 not null, name string not null, age int64, boss_id int64);
create table shop.book (id int64 not null, writer_id int64, title string, price numeric, sold bool not null, day date, score float64);
create table shop.mark (book_id int64 not null, label string not null);
create table shop.note (id int64 not null, writer_id int64, body json, made timestamp not null, tags array<string>, odd numeric);
insert into shop.writer (id, name, age, boss_id) values (1, 'a', 50, null), (2, 'B', null, 1), (3, 'c_%', 30, 1), (4, 'ä"\\\\\\\\/', 30, 3), (5, '', 0, 5);
insert into shop.book (id, writer_id, title, price, sold, day, score) values (1, 1, 'one', 1.50, true, date '2020-01-01', 0.1), (2, 1, 'two', 2.25, false, null, 1e300),
 (3, 1, null, null, true, date '2020-01-02', -1e300), (4, 2, 'four', 0, false, date '1999-12-31', null), (5, 3, 'one', 10.00, true, null, 0.2),
 (6, null, 'six', 7.10, true, date '2020-01-01', 0.3), (7, 1, 'seven', 1.50, false, null, 0.7);
insert into shop.mark (book_id, label) values (1, 'x'), (1, 'y'), (2, 'x'), (5, 'z'), (6, 'x');`;

/** BigQuery has no keys, so there are no rows by primary key. */
const SHARED = READS.filter((request) => !request.includes('_by_pk'));

/** On PostgreSQL, the trailing zeros of a decimal depend on the column. */
function asNumber(_key: string, value: Json): Json {
  return typeof value === 'string' && /^-?\d+\.\d+$/.test(value) ? Number(value) : value;
}

describe.skipIf(!hasBigQuery())('BigQuery answers like PostgreSQL', () => {
  let both: BigQueryService;
  beforeAll(async () => {
    both = await startBigQueryService(TABLES);
    const { service, bigquery } = both;
    await service.sql(TWIN_TABLES);
    const customization = (prefix: string): JsonObject => ({ root_fields: { prefix }, type_names: { prefix } });
    await service.metadata('pg_update_source', { name: 'default', customization: customization('pg_') });
    await service.metadata('dwh_add_source', {
      name: 'twin',
      configuration: configurationOf(bigquery, 'shop'),
      customization: customization('dwh_'),
    });
    await trackTwin(service, 'pg', 'default');
    await trackTwin(service, 'dwh', 'twin', 'shop');
  });
  afterAll(() => both?.stop());

  const answer = async (kind: 'pg' | 'dwh', request: string, options: JsonObject = {}): Promise<JsonObject> =>
    JSON.parse(await twinAnswer(both.service, kind, request, options), asNumber) as JsonObject;

  it.each(sample(SHARED, 4))('%s', async (request) => {
    const expected = await answer('pg', request);
    expect(expected).toHaveProperty('data');
    expect(await answer('dwh', request)).toEqual(expected);
  });

  it.each(
    sample(
      ROLE_READS.flatMap((request) => ROLES.map((as) => [request, as] as const)),
      2,
    ),
  )('%s as %j', async (request, as) => {
    const expected = await answer('pg', request, as);
    expect(expected).toHaveProperty('data');
    expect(await answer('dwh', request, as)).toEqual(expected);
  });
});
