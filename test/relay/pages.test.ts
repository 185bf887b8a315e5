/** Pages of random connections: walked forward and backward, they are the list. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHOICE_MAX, Choices, numbersOf } from '../permission-safety/choices.ts';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { askRelay, decoded, encoded } from './ask.ts';

const CONNECTIONS = Number(process.env['SVC_SAFETY_CASES'] ?? cases(600, 20));

let service: TestService;
let ask: ReturnType<typeof askRelay>;

beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '4', INFER_FUNCTION_PERMISSIONS: 'true' });
  ask = askRelay(service);
  await service.sql(
    `
    create table owner (id int primary key, name text, born date, weight numeric);
    insert into owner select i, nullif(chr(97 + i % 4), 'd'), case when i % 3 > 0 then date '2020-01-01' + i % 2 end, nullif(i % 5, 0) * 1.5
      from generate_series(1, 7) as i;
    create table item (
      shelf text not null, place int not null, owner_id int references owner, name text, score float8, price numeric, big int8,
      at timestamptz, flag boolean, data jsonb, tags text[], code bpchar(4), span int4range, hidden int not null,
      primary key (shelf, place)
    );
    insert into item select 's' || i % 3, i, nullif(i % 8, 0), case i % 5 when 0 then null when 1 then 'ä"\\' when 2 then 'B' else 'b' end,
      (array[null, 1.5, 'NaN', '-Infinity', 0.1 + 0.2])[1 + i % 5], (array[null, 0.10, 12345678901234567890.5, -1])[1 + i % 4],
      case when i % 3 > 0 then 9007199254740993 + i % 2 end, case when i % 4 > 0 then timestamptz '2020-01-01 00:00:00.000001Z' * 1 end,
      nullif(i % 3, 2) > 0, (array[null, 'null', '{"a": [1]}', '"text"']::jsonb[])[1 + i % 4], (array['{}', null, '{a,null,"b c"}'])[1 + i % 3]::text[],
      (array['a', null, 'b  '])[1 + i % 3], (array[null, '[1,4)', 'empty', '(,5]'])[1 + i % 4]::int4range, i % 2
      from generate_series(1, 40) as i;
    create index on item (name, place);
    create function search(lowest int) returns setof item language sql stable as 'select * from item where place >= lowest';
    create function points(item) returns float8 language sql stable as 'select $1.score / nullif($1.place % 4, 0)';
  `.replace("timestamptz '2020-01-01 00:00:00.000001Z' * 1", "timestamptz '2020-01-01 00:00:00.000001Z' + i % 3 * interval '1 us'"),
  );
  await configure();
});
afterAll(async () => {
  await service?.stop();
});

/** The role sees some rows and no column of the key; the inherited role has masked columns too. */
async function configure(): Promise<void> {
  const steps: readonly (readonly [string, Json])[] = [
    ['pg_track_table', { table: 'owner' }],
    ['pg_track_table', { table: 'item' }],
    ['pg_track_function', { function: 'search' }],
    ['pg_add_computed_field', { table: 'item', name: 'points', definition: { function: 'points' } }],
    ['pg_create_object_relationship', { table: 'item', name: 'owner', using: { foreign_key_constraint_on: 'owner_id' } }],
    [
      'pg_create_array_relationship',
      { table: 'owner', name: 'items', using: { foreign_key_constraint_on: { table: 'item', column: 'owner_id' } } },
    ],
    ...['guest', 'partner'].flatMap((role): readonly (readonly [string, Json])[] => [
      [
        'pg_create_select_permission',
        {
          table: 'owner',
          role,
          permission: {
            columns: ['id', 'name', 'born', 'weight'],
            filter: role === 'guest' ? { id: { _lt: 6 } } : { id: { _gt: 2 } },
            allow_aggregations: true,
          },
        },
      ],
      [
        'pg_create_select_permission',
        {
          table: 'item',
          role,
          permission: {
            columns:
              role === 'guest'
                ? ['owner_id', 'name', 'score', 'price', 'big', 'at', 'flag', 'data', 'tags', 'code', 'span', 'place']
                : ['name', 'owner_id', 'shelf'],
            computed_fields: ['points'],
            filter: role === 'guest' ? { hidden: { _eq: 0 } } : { owner: { name: { _neq: 'a' } } },
            allow_aggregations: true,
          },
        },
      ],
    ]),
    ['add_inherited_role', { role_name: 'both', role_set: ['guest', 'partner'] }],
  ];
  for (const [type, args] of steps) await service.metadata(type, args);
}

const DIRECTIONS = ['asc', 'desc', 'asc_nulls_first', 'asc_nulls_last', 'desc_nulls_first', 'desc_nulls_last'];
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  admin: ['shelf', 'place', 'owner_id', 'name', 'score', 'price', 'big', 'at', 'flag', 'data', 'tags', 'code', 'span', 'points'],
  guest: ['place', 'owner_id', 'name', 'score', 'price', 'big', 'at', 'flag', 'data', 'tags', 'code', 'span', 'points'],
  partner: ['name', 'owner_id', 'shelf'],
  both: ['place', 'shelf', 'owner_id', 'name', 'score', 'price', 'big', 'at', 'flag', 'data', 'points'],
};

/** The permissions as conditions. */
const NAMED_OWNER = '{owner: {_or: [{name: {_neq: "a"}}, {name: {_is_null: true}}]}}';
const SEEN_ITEMS: Readonly<Record<string, string>> = {
  admin: '{}',
  guest: '{hidden: {_eq: 0}}',
  partner: NAMED_OWNER,
  both: `{_or: [{hidden: {_eq: 0}}, ${NAMED_OWNER}]}`,
};
const SEEN_OWNERS: Readonly<Record<string, string>> = { admin: '{}', guest: '{id: {_lt: 6}}', partner: '{id: {_gt: 2}}', both: '{}' };

interface Connection {
  readonly role: string;
  readonly field: string;
  readonly table: 'item' | 'owner';
  readonly args: readonly string[];
  /** A list of admin with these rows; for other roles perhaps in another order. */
  readonly list: string;
}

function itemOrder(choices: Choices, role: string): readonly string[] {
  return Array.from({ length: choices.int(6) }, () => {
    if (choices.chance(15)) return ordered(`owner: {${choices.pick(['name', 'born', 'weight'])}: `, choices);
    if (choices.chance(8)) return ordered(`owner: {items_aggregate: {${choices.pick(['count: ', 'max: {name: '])}`, choices);
    return ordered(`${choices.pick(COLUMNS[role] as readonly string[])}: `, choices);
  });
}

const OWNER_TERMS = [
  ...['name: ', 'born: ', 'weight: '],
  ...['items_aggregate: {count: ', 'items_aggregate: {avg: {owner_id: ', 'items_aggregate: {min: {name: '],
];

function ownerOrder(choices: Choices): readonly string[] {
  return Array.from({ length: choices.int(4) }, () => ordered(choices.pick(OWNER_TERMS), choices));
}

/** @param start of an object, up to the direction */
function ordered(start: string, choices: Choices): string {
  return `{${start}${choices.pick(DIRECTIONS)}${'}'.repeat(start.split('{').length)}`;
}

/** A list in the order of the connection: `order_by` and then the primary key, which only admin can name. */
function makeConnection(choices: Choices): Connection {
  const role = choices.pick(['admin', 'admin', 'guest', 'partner', 'both']);
  if (choices.chance(25)) {
    const order = ownerOrder(choices);
    const args = order.length === 0 ? [] : [`order_by: [${order}]`];
    const list = `owner(where: ${SEEN_OWNERS[role]}, order_by: [${[...order, '{id: asc}']}])`;
    return { role, table: 'owner', field: 'owner_connection', args, list };
  }
  const distinct = choices.chance(10) && role !== 'both' ? choices.pick(['name', 'owner_id']) : null;
  const order = [...(distinct === null ? [] : [`{${distinct}: ${choices.pick(DIRECTIONS)}}`]), ...itemOrder(choices, role)];
  const where = choices.chance(30) ? `{name: {_is_null: ${choices.chance(50)}}}` : '{}';
  const isFunction = choices.chance(15);
  const own = [...(isFunction ? ['args: {lowest: 9}'] : []), ...(distinct === null ? [] : [`distinct_on: ${distinct}`])];
  return {
    role,
    table: 'item',
    field: `${isFunction ? 'search' : 'item'}_connection`,
    args: [...own, `where: ${where}`, ...(order.length === 0 ? [] : [`order_by: [${order}]`])],
    list: `${isFunction ? 'search' : 'item'}(${[...own, `where: {_and: [${where}, ${SEEN_ITEMS[role]}]}`, `order_by: [${[...order, '{shelf: asc}, {place: asc}']}]`]})`,
  };
}

interface Page {
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string;
    readonly endCursor: string;
  };
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
}

async function pageOf({ role, field, args }: Connection, more: string, cursor: string): Promise<Page> {
  const all = [...args, ...(more === '' ? [] : [more])];
  const query = `query ($cursor: String) { page: ${field}${all.length === 0 ? '' : `(${all})`} { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  const usesCursor = more.includes('$cursor');
  const answer = await ask(usesCursor ? query : query.replace('query ($cursor: String)', ''), {
    role,
    ...(usesCursor ? { variables: { cursor } } : {}),
  });
  if (answer['errors'] !== undefined) throw new Error(JSON.stringify({ role, query, cursor: cursor && decoded(cursor), answer }));
  return (answer['data'] as unknown as { page: Page }).page;
}

function idsOf({ edges }: Page): readonly string[] {
  return edges.map(({ node }) => node.id);
}

/** The ids of the list. */
async function listOf({ list, table }: Connection): Promise<readonly string[]> {
  const key = table === 'item' ? ['shelf', 'place'] : ['id'];
  const answer = await service.graphql(`{ rows: ${list} { ${key.join(' ')} } }`);
  const rows = (answer['data'] as JsonObject)['rows'] as readonly JsonObject[];
  return rows.map((row) =>
    Buffer.from(`[1, "public", "${table}", ${key.map((name) => JSON.stringify(row[name])).join(', ')}]`).toString('base64'),
  );
}

it(
  `gives each row once, in order, in pages of any size and direction (seed ${SEED})`,
  async () => {
    let pages = 0;
    for (let i = 0; i < CONNECTIONS; i++) {
      const choices = new Choices(numbersOf(SEED * 1_000_003 + i, 200).map((number) => number % (CHOICE_MAX + 1)));
      const connection = makeConnection(choices);
      const about = JSON.stringify({ seed: SEED, i, connection });
      const whole = await pageOf(connection, '', '');
      const ids = idsOf(whole);
      expect(new Set(ids).size, about).toBe(ids.length);
      const list = await listOf(connection);
      // Other roles see null in place of some values that decide about the order.
      if (connection.role === 'admin') expect(ids, about).toEqual(list);
      else if (!connection.list.includes('distinct_on')) expect([...ids].sort(), about).toEqual([...list].sort());
      expect(whole.pageInfo, about).toEqual({
        hasNextPage: false,
        hasPreviousPage: false,
        startCursor: whole.edges[0]?.cursor ?? '',
        endCursor: whole.edges.at(-1)?.cursor ?? '',
      });
      pages += await walk(connection, choices, ids, 'forward', about);
      pages += await walk(connection, choices, ids, 'backward', about);
      if (ids.length > 0) await slice(connection, choices, whole, about);
    }
    expect(pages).toBeGreaterThan(CONNECTIONS * 2);
  },
  Math.max(180_000, CONNECTIONS * 300),
);

async function walk(
  connection: Connection,
  choices: Choices,
  ids: readonly string[],
  way: 'forward' | 'backward',
  about: string,
): Promise<number> {
  const found: string[] = [];
  const isForward = way === 'forward';
  let cursor = '';
  for (let pages = 1; ; pages++) {
    const size = 1 + choices.int(12);
    const page = await pageOf(connection, isForward ? `first: ${size}, after: $cursor` : `last: ${size}, before: $cursor`, cursor);
    const part = idsOf(page);
    if (isForward) found.push(...part);
    else found.unshift(...part);
    const seen = found.length;
    const expected = isForward ? ids.slice(0, seen) : ids.slice(ids.length - seen);
    expect(found, `${about} ${way}`).toEqual(expected);
    const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo;
    expect([hasNextPage, hasPreviousPage], `${about} ${way} ${cursor}`).toEqual(
      isForward ? [seen < ids.length, cursor !== ''] : [cursor !== '', seen < ids.length],
    );
    if (seen >= ids.length) return pages;
    cursor = isForward ? endCursor : startCursor;
  }
}

/** A cursor and a size from the same and from the other end, as a literal and as a variable. */
async function slice(connection: Connection, choices: Choices, { edges }: Page, about: string): Promise<void> {
  const at = choices.int(edges.length);
  const { cursor } = edges[at] as Page['edges'][number];
  const size = choices.int(5);
  const isAfter = choices.chance(50);
  const side = isAfter ? edges.slice(at + 1) : edges.slice(0, at);
  const isFirst = choices.chance(50);
  const expected = isFirst ? side.slice(0, size) : side.slice(Math.max(0, side.length - size));
  const text = choices.chance(50) ? JSON.stringify(cursor) : '$cursor';
  const page = await pageOf(connection, `${isFirst ? 'first' : 'last'}: ${size}, ${isAfter ? 'after' : 'before'}: ${text}`, cursor);
  expect(page.edges, `${about} ${isFirst} ${isAfter} ${size} ${cursor}`).toEqual(expected);
  const more = side.length > size;
  expect([page.pageInfo.hasNextPage, page.pageInfo.hasPreviousPage], about).toEqual([
    (isFirst && more) || !isAfter,
    (!isFirst && more) || isAfter,
  ]);
}

it(
  `answers tampered cursors with rows or an error of the request (seed ${SEED})`,
  async () => {
    for (let i = 0; i < cases(5_000, 100); i++) {
      const choices = new Choices(numbersOf(SEED * 7_000_003 + i, 200).map((number) => number % (CHOICE_MAX + 1)));
      const connection = makeConnection(choices);
      const whole = await pageOf(connection, 'first: 3', '');
      const cursor = decoded(whole.edges.at(-1)?.cursor ?? encoded({})) as JsonObject;
      const junk: readonly Json[] = [
        null,
        1,
        -1e300,
        'x',
        '\u0000',
        true,
        [],
        {},
        [1, null],
        '9'.repeat(400),
        '{',
        Number.MAX_SAFE_INTEGER,
        '{"a":1}',
      ];
      const entries = Object.entries(cursor).map(([key, value]): [string, Json] => [key, choices.chance(60) ? choices.pick(junk) : value]);
      if (choices.chance(10)) entries.push([choices.pick(['hidden', '__proto__', '']), 1]);
      const text = choices.chance(10)
        ? choices.pick(['x', '====', 'e30=', 'bnVsbA==', '🐢', 'A'.repeat(20_000)])
        : encoded(Object.fromEntries(entries));
      const { role, field, args } = connection;
      const query = `query ($cursor: String) { ${field}(${[...args, `first: 2, ${choices.pick(['after', 'before'])}: $cursor`]}) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage } } }`;
      const headers = { 'x-svc-role': role };
      const { status, text: body } = await service.send('/v1/relay', {
        method: 'POST',
        headers: { ...headers, accept: 'application/graphql-response+json' },
        body: JSON.stringify({ query, variables: { cursor: text } }),
      });
      expect(status, `${query} ${text} ${body}`).toBeLessThan(500);
      expect(body).not.toContain('"unexpected"');
    }
  },
  DEEP ? 600_000 : 180_000,
);
