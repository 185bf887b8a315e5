import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BlogDatabase, blogDatabase } from '../../../../test/support/blog-database.ts';
import {
  all,
  by,
  column,
  compare,
  field,
  joined,
  literal,
  related,
  rows,
  table,
  text,
  type,
  variable,
} from '../../../../test/support/ir.ts';
import { parameterTexts, runSelect, type Values } from '../../../../test/support/run-select.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { type Json, parseJson } from '../../../util/json.ts';
import { compiler } from './compiler.ts';

const author = table('author');
const live = (roots: readonly SelectRoot[]) => {
  const { liveQuery, select } = compiler({ stringifyNumericTypes: false });
  if (liveQuery === undefined) throw new Error('the compiler has no live queries');
  return { query: liveQuery(roots), single: select(roots) };
};

let blog: BlogDatabase;
beforeAll(async () => {
  blog = await blogDatabase();
});
afterAll(() => blog.close());

/** Returns the results of a batch in the order of the cohorts. */
async function runLive(roots: readonly SelectRoot[], cohorts: readonly Values[]): Promise<readonly (readonly Json[])[]> {
  const { query } = live(roots);
  const { text: sql, values } = query.batch(cohorts.map((cohort) => parameterTexts(query.parameters, cohort)));
  const result = await blog.client.query({
    text: sql,
    values: [...values],
    rowMode: 'array',
    types: { getTypeParser: () => (raw: string) => raw },
  });
  const byId = new Map((result.rows as unknown as string[][]).map(([id, ...cells]) => [Number(id), cells]));
  expect(byId.size).toBe(cohorts.length);
  return cohorts.map((_, id) => (byId.get(id) ?? []).slice(0, query.columns).map(parseJson));
}

async function expectSameAsAlone(roots: readonly SelectRoot[], cohorts: readonly Values[]): Promise<readonly (readonly Json[])[]> {
  const together = await runLive(roots, cohorts);
  const { single } = live(roots);
  for (const [i, cohort] of cohorts.entries()) expect(together[i]).toEqual(await runSelect(blog.client, single, cohort));
  return together;
}

describe('live queries', () => {
  test('binds one typed array per value', () => {
    const where = all(compare(column('id'), '_gt', variable('id')), compare(column('name', text), '_in', variable('names'), text, true));
    const { query } = live([{ alias: 'x', query: rows(author, [field('name', text)], { where, limit: 5, offset: literal(1) }) }]);
    expect(query.text).toMatchInlineSnapshot(
      `"select "_cohorts"."id", coalesce("_answer"."r1", 'null'), date_part('epoch', clock_timestamp() - statement_timestamp()), case when "_cohorts"."id" = 0 then (select case when pg_is_in_recovery() then null else concat(pg_current_snapshot(), ' ', extract(epoch from pg_postmaster_start_time())) end) end from unnest(($1)::int4[], ($2)::"int4"[], ($3)::"text"[], ($4)::"int8"[]) as "_cohorts" ("id", "v1", "v2", "v3") left join lateral (select coalesce(json_agg("t2".*), '[]') as "json" from (select "t1"."name" as "name" from "public"."author" as "t1" where ("t1"."id" > ("_cohorts"."v1")::"int4") and ("t1"."name" = any (("_cohorts"."v2")::"text"[])) limit 5 offset ("_cohorts"."v3")::"int8") as "t2") as "_answer" ("r1") on true"`,
    );
    expect(query.parameters).toHaveLength(3);
    expect(
      query.batch([
        ['1', '{"x,y"}', '0'],
        [null, '{}', '2'],
      ]).values,
    ).toEqual(['{0,1}', '{"1",NULL}', '{"{\\"x,y\\"}","{}"}', '{"0","2"}']);
  });

  test('returns to each cohort the result of the single query', async () => {
    const where = compare(column('id'), '_eq', variable('id'));
    const articles = related(
      'articles',
      joined('id', 'author_id', false),
      rows(table('article'), [field('title', text)], { orderBy: [by(column('id'))] }),
    );
    const roots: readonly SelectRoot[] = [
      { alias: '0', query: rows(author, [field('name', text), articles], { where, orderBy: [by(column('id'))] }) },
      { alias: '1', query: rows(author, [field('id')], { where }, 'single') },
    ];
    const found = await expectSameAsAlone(
      roots,
      [1, 2, 1, -1].map((id) => ({ variables: { id } })),
    );
    expect(found[3]).toEqual([[], null]);
    expect(found[0]).not.toEqual(found[1]);
  });

  test('binds lists, session variables and paging per cohort', async () => {
    const where = all(
      compare(column('name', text), '_nin', variable('names'), text, true),
      compare(column('id'), '_gte', { kind: 'session', name: 'x-svc-min' }),
    );
    const query = rows(author, [field('id')], { where, orderBy: [by(column('id'))], offset: variable('skip') });
    await expectSameAsAlone(
      [{ alias: '0', query }],
      [
        { variables: { names: [], skip: 0 }, session: { 'x-svc-min': '1' } },
        { variables: { names: ['a, "b"', "O'Hara", 'NULL', '\\'], skip: 1 }, session: { 'x-svc-min': '2' } },
        { variables: { names: ['x'], skip: null }, session: { 'x-svc-min': '100' } },
      ],
    );
  });

  test('runs a statement without values for all cohorts', async () => {
    const found = await expectSameAsAlone([{ alias: '0', query: rows(author, [field('id')], { orderBy: [by(column('id'))] }) }], [{}, {}]);
    expect(found[0]).toEqual(found[1]);
  });

  test.each<[string, Json, Json]>([
    ['box', '(1,1),(0,0)', '(2,2),(0,0)'],
    ['jsonb', { a: [1, '"', null] }, 'text'],
    ['timestamptz', '2020-01-01T00:00:00+02:00', '1999-12-31'],
    ['numeric', 1.5, parseJson('12345678901234567890.5')],
    ['int4[]', [1, 2], []],
    ['text[]', ['a,b', '"', null], '{x}'],
    ['bytea', '\\x00ff', '\\x'],
  ])('binds values of %s in arrays', async (name, first, second) => {
    const of = type(name);
    await blog.client.query(`drop table if exists sample; create table sample (value ${name})`);
    const query = rows(table('sample'), [field('value', of)], { where: compare(column('value', of), '_eq', variable('v')) });
    const [value = null] = parameterTexts(live([{ alias: '0', query }]).query.parameters, { variables: { v: first } });
    await blog.client.query(`insert into sample values (($1)::${name})`, [value]);
    const found = await expectSameAsAlone([{ alias: '0', query }], [{ variables: { v: first } }, { variables: { v: second } }]);
    expect(found.map(([answer]) => (answer as readonly Json[]).length)).toEqual([1, 0]);
  });
});
