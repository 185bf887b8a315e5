/** Types without some comparison operators or without an order: GraphQL offers only the operations of the database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

const SCHEMA = `
  create extension hstore;
  create extension citext;
  create extension ltree;
  create type place as (name text, spot point);
  create type pair as (name text, rank int);
  create type mood as enum ('good', 'bad');
  create domain spot as point;
  create domain tag as varchar(20);
  create schema other;
  create type other.token;
  create function other.token_in(cstring) returns other.token language internal immutable strict as 'textin';
  create function other.token_out(other.token) returns cstring language internal immutable strict as 'textout';
  create type other.token (input = other.token_in, output = other.token_out, like = text, collatable = true);
  create type token;
  create function token_in(cstring) returns token language internal immutable strict as 'textin';
  create function token_out(token) returns cstring language internal immutable strict as 'textout';
  create type token (input = token_in, output = token_out, like = text, collatable = true);
  create function token_eq(token, token) returns boolean language internal immutable strict as 'texteq';
  create operator = (leftarg = token, rightarg = token, function = token_eq);
  create type label;
  create function label_in(cstring) returns label language internal immutable strict as 'textin';
  create function label_out(label) returns cstring language internal immutable strict as 'textout';
  create type label (input = label_in, output = label_out, like = text, collatable = true);
  create cast (label as text) without function as implicit;
  create table thing (
    id int primary key, point point, box box, circle circle, line line, json json, xml xml, hstore hstore, xid xid, lquery lquery,
    place place, pair pair, spot spot, points point[], boxes box[], jsons json[], pairs pair[], label label, token token, other_token other.token,
    tag tag, tags tag[], mood mood, moods mood[], citext citext, span int4range, cidr cidr, texts text[]);
  create table bare (p point, q json);
  create table owner (id int primary key, thing_id int references thing);
  insert into thing (id, point, box, json, hstore, place, pair, points, label, token, other_token, tag, mood, xid)
    values (1, '(1,2)', '(1,1),(0,0)', '{"a": 1}', 'a=>1', '(x,"(1,2)")', '(x,1)', '{"(1,2)"}', 'l', 't', 't', 'tag', 'good', '7'),
           (2, '(2,2)', '(2,2),(0,0)', '{"a": 2}', 'a=>2', '(y,"(1,2)")', '(y,1)', '{"(2,2)"}', 'm', 'u', 'u', 'gat', 'bad', '8');
  insert into bare values ('(1,2)', '1');
`;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(SCHEMA);
  for (const table of ['thing', 'bare', 'owner']) await service.metadata('pg_track_table', { table });
  const using = { foreign_key_constraint_on: { table: 'owner', column: 'thing_id' } };
  await service.metadata('pg_create_array_relationship', { table: 'thing', name: 'owners', using });
  await service.metadata('pg_create_object_relationship', {
    table: 'owner',
    name: 'thing',
    using: { foreign_key_constraint_on: 'thing_id' },
  });
});
afterAll(() => service.stop());

interface Field {
  readonly name: string;
}
interface Introspection {
  readonly data: { readonly __type: { readonly inputFields: readonly Field[] | null; readonly fields: readonly Field[] | null } | null };
}

async function fieldsOf(type: string): Promise<readonly string[]> {
  const { data } = (await service.graphql(
    `{ __type(name: "${type}") { inputFields { name } fields { name } } }`,
  )) as unknown as Introspection;
  return (data.__type?.inputFields ?? data.__type?.fields ?? []).map(({ name }) => name);
}

const EQUALITY = ['_eq', '_neq', '_in', '_nin'];
const ORDER = ['_gt', '_gte', '_lt', '_lte'];
const NULLS = ['_is_null'];
const sorted = (names: readonly string[]): readonly string[] => [...names].sort();

describe('offers the comparison operators that the database has', () => {
  it.each<[string, readonly string[]]>([
    ['point', ['_neq', '_nin']],
    ['point_array', []],
    ['box', ['_eq', '_in', ...ORDER]],
    ['box_array', []],
    ['circle', [...EQUALITY, ...ORDER]],
    ['line', ['_eq', '_in']],
    ['json', []],
    ['json_array', []],
    ['xml', []],
    ['hstore', EQUALITY],
    ['xid', EQUALITY],
    ['lquery', []],
    ['place_scalar', []],
    ['pair_scalar', [...EQUALITY, ...ORDER]],
    ['pair_scalar_array', [...EQUALITY, ...ORDER, '_contains', '_contained_in']],
    ['label', [...EQUALITY, ...ORDER]],
    ['tag_array', [...EQUALITY, ...ORDER, '_contains', '_contained_in']],
    ['mood', [...EQUALITY, ...ORDER]],
    ['mood_array', [...EQUALITY, ...ORDER, '_contains', '_contained_in']],
    ['int4range', [...EQUALITY, ...ORDER]],
    ['cidr', [...EQUALITY, ...ORDER]],
    ['String_array', [...EQUALITY, ...ORDER, '_contains', '_contained_in']],
    // For two types with one name, the operators of either.
    ['token', ['_eq', '_in']],
  ])('%s', async (type, operators) => {
    expect(sorted(await fieldsOf(`${type}_comparison_exp`))).toEqual(sorted([...operators, ...NULLS]));
  });
});

const UNSORTED = [
  'point',
  'box',
  'circle',
  'line',
  'json',
  'xml',
  'xid',
  'lquery',
  'place',
  'spot',
  'points',
  'boxes',
  'jsons',
  'token',
  'other_token',
];
const SORTED = ['id', 'hstore', 'pair', 'pairs', 'label', 'tag', 'tags', 'mood', 'moods', 'citext', 'span', 'cidr', 'texts'];

describe('offers orders of columns that the database can sort', () => {
  it('in order_by', async () => {
    expect(sorted(await fieldsOf('thing_order_by'))).toEqual(sorted([...SORTED, 'owners_aggregate']));
    expect(await fieldsOf('bare_order_by')).toEqual([]);
  });

  it('as the cursor of a stream', async () => {
    expect(sorted(await fieldsOf('thing_stream_cursor_value_input'))).toEqual(sorted(SORTED.filter((name) => name !== 'hstore')));
    expect(await fieldsOf('bare_stream_cursor_value_input')).toEqual([]);
  });

  it('as min and max', async () => {
    const offered = ['id', 'tag', 'tags', 'mood', 'moods', 'citext', 'texts', 'pairs'];
    expect(sorted(await fieldsOf('thing_max_fields'))).toEqual(sorted(offered));
    expect(sorted(await fieldsOf('thing_min_fields'))).toEqual(sorted(offered));
  });
});

const VALUES: Readonly<Record<string, string>> = {
  box: '(1,1),(0,0)',
  circle: '<(0,0),1>',
  hstore: 'a=>1',
  pair: '(x,1)',
  label: 'l',
  mood: 'good',
};

async function codeOf(query: string): Promise<string> {
  const answer = (await service.graphql(query)) as { readonly errors?: readonly { readonly extensions: { readonly code: string } }[] };
  return answer.errors?.[0]?.extensions.code ?? 'none';
}

describe('runs every offered operation', () => {
  it('conditions of selects and updates', async () => {
    for (const [column, value] of Object.entries(VALUES)) {
      for (const operator of await fieldsOf(`${column === 'pair' ? 'pair_scalar' : column}_comparison_exp`)) {
        const operand = operator === '_is_null' ? 'true' : operator.endsWith('in') ? `["${value}"]` : `"${value}"`;
        const where = `{${column}: {${operator}: ${operand}}}`;
        expect([where, await codeOf(`{ thing(where: ${where}) { id } }`)]).toEqual([where, 'none']);
        expect([where, await codeOf(`mutation { update_thing(where: ${where}, _set: {lquery: "a"}) { affected_rows } }`)]).toEqual([
          where,
          'none',
        ]);
      }
    }
  });

  it('orders, distinct rows, counts, min and max', async () => {
    for (const column of SORTED) {
      expect([column, await codeOf(`{ thing(order_by: {${column}: asc}, distinct_on: ${column}) { id } }`)]).toEqual([column, 'none']);
      expect([column, await codeOf(`{ thing_aggregate { aggregate { count(columns: ${column}, distinct: true) } } }`)]).toEqual([
        column,
        'none',
      ]);
    }
    for (const column of await fieldsOf('thing_max_fields')) {
      expect([column, await codeOf(`{ thing_aggregate { aggregate { max { ${column} } min { ${column} } } } }`)]).toEqual([column, 'none']);
    }
  });

  it('counts of values without an order', async () => {
    expect(await service.graphql('{ thing_aggregate { aggregate { count(columns: [point, json]) } } }')).toEqual({
      data: { thing_aggregate: { aggregate: { count: 2 } } },
    });
  });
});

describe('rejects operations that the database does not have', () => {
  it('as conditions and orders', async () => {
    for (const operator of ['_eq: "(1,2)"', '_in: ["(1,2)"]', '_gt: "(1,2)"']) {
      expect(await codeOf(`{ thing(where: {point: {${operator}}}) { id } }`)).toBe('validation-failed');
      expect(await codeOf(`mutation { update_thing(where: {spot: {${operator}}}, _set: {tag: "x"}) { affected_rows } }`)).toBe(
        'validation-failed',
      );
    }
    for (const column of UNSORTED) expect(await codeOf(`{ thing(order_by: {${column}: asc}) { id } }`)).toBe('validation-failed');
    expect(await codeOf('{ owner(order_by: {thing: {json: asc}}) { id } }')).toBe('validation-failed');
  });

  it('as distinct rows and counts, with the column', async () => {
    for (const column of UNSORTED) {
      expect([column, await codeOf(`{ thing(distinct_on: ${column}) { id } }`)]).toEqual([column, 'validation-failed']);
      const count = `{ thing_aggregate { aggregate { count(columns: [id, ${column}], distinct: true) } } }`;
      expect([column, await codeOf(count)]).toEqual([column, 'validation-failed']);
    }
    expect(await service.graphql('{ thing(distinct_on: point) { id } }')).toMatchObject({
      errors: [
        {
          message: 'column "point" has type "point", which the database cannot sort',
          extensions: { path: '$.selectionSet.thing.args.distinct_on' },
        },
      ],
    });
  });

  it('on two types with one name, for the type without the operator', async () => {
    expect(await service.graphql('{ thing(where: {token: {_eq: "t"}}) { id } }')).toEqual({ data: { thing: [{ id: 1 }] } });
    expect(await service.graphql('{ thing(where: {other_token: {_eq: "t"}}) { id } }')).toMatchObject({
      errors: [
        {
          message: 'the database has no operator "_eq" for the type "token"',
          extensions: { code: 'validation-failed', path: '$.selectionSet.thing.args.where.other_token._eq' },
        },
      ],
    });
  });

  it.each([
    [{ point: { _eq: '(1,2)' } }, 'column "point" has type "point", for which the database has no operator "_eq"'],
    [{ point: '(1,2)' }, 'column "point" has type "point", for which the database has no operator "_eq"'],
    [{ spot: { _in: ['(1,2)'] } }, 'column "spot" has type "point", for which the database has no operator "_in"'],
    [{ points: { _contains: ['(1,2)'] } }, 'column "points" has type "point[]", for which the database has no operator "_contains"'],
    [{ point: { _ceq: 'spot' } }, 'column "point" has type "point", for which the database has no operator "_eq"'],
    [{ hstore: { _gt: 'a=>1' } }, 'column "hstore" has type "hstore", for which the database has no operator "_gt"'],
  ])('as the permission %j', async (filter, reason) => {
    const permission = { table: 'thing', role: 'user', permission: { columns: ['id'], filter } };
    const error = await service.metadata('pg_create_select_permission', permission).then(
      () => 'none',
      (reason: unknown) => String(reason),
    );
    expect(JSON.stringify(error).replaceAll('\\', '')).toContain(reason);
  });

  it('in data operations', async () => {
    const run = (type: string, args: object) =>
      service.send('/v1/query', { method: 'POST', body: JSON.stringify({ type, args: { table: 'thing', ...args } }) });
    expect(await run('select', { columns: ['id'], order_by: '+point' })).toMatchObject({
      status: 400,
      json: { code: 'unexpected-payload' },
    });
    const where = { point: { $eq: '(1,2)' } };
    expect(await run('select', { columns: ['id'], where })).toMatchObject({ status: 400, json: { code: 'unexpected-payload' } });
    expect(await run('count', { distinct: ['point'] })).toMatchObject({ status: 400, json: { code: 'unexpected-payload' } });
  });
});

it('offers an operator as soon as the database has it', async () => {
  await service.sql(`
    create function point_equal(point, point) returns boolean language internal immutable strict as 'point_eq';
    create operator = (leftarg = point, rightarg = point, function = point_equal);`);
  expect(sorted(await fieldsOf('point_comparison_exp'))).toEqual(sorted([...EQUALITY, ...NULLS]));
  expect(await service.graphql('{ thing(where: {point: {_eq: "(1,2)"}}) { id } }')).toEqual({ data: { thing: [{ id: 1 }] } });
});
