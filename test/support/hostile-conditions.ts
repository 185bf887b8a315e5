/**
 * Small requests that are expensive for the database: conditions and orders over relationships. The
 * table is that of `relatedSchema`: 1,000 rows in a tree, related to each other.
 */
import type { JsonObject } from '../../src/util/json.ts';

export const relatedSchema = {
  sql: `create table node (id int primary key, parent_id int references node, name text);
    insert into node select i, nullif(i / 2, 0), 'n' || i from generate_series(1, 1000) i;
    create index on node (parent_id);
    create table note (id int primary key, data jsonb);
    insert into note select i, jsonb_build_object('a', i, 'b', jsonb_build_array(1, 2, i)) from generate_series(1, 1000) i;
    analyze node, note`,
  tables: ['node', 'note'],
  relationships: [
    { kind: 'object', table: 'node', name: 'parent', using: { foreign_key_constraint_on: 'parent_id' } },
    { kind: 'array', table: 'node', name: 'children', using: { foreign_key_constraint_on: { table: 'node', column: 'parent_id' } } },
  ],
} as const;

export interface HostileQuery {
  readonly name: string;
  readonly query: string;
  readonly variables: JsonObject;
}

const list = (count: number, item: (n: number) => JsonObject): JsonObject[] => Array.from({ length: count }, (_, n) => item(n));

function nested(levels: number, wrap: (inner: JsonObject) => JsonObject, innermost: JsonObject): JsonObject {
  let condition = innermost;
  for (let level = 0; level < levels; level++) condition = wrap(condition);
  return condition;
}

const parent = (of: JsonObject): JsonObject => ({ parent: of });
const children = (of: JsonObject): JsonObject => ({ children: of });
const not = (of: JsonObject): JsonObject => ({ _not: of });
const above = (id: number): JsonObject => ({ id: { _gt: id } });

/** One item of a list of conditions; `relations` is the number of tables in it. */
const ITEMS: Readonly<Record<string, { readonly relations: number; readonly item: (n: number) => JsonObject }>> = {
  parents: { relations: 1, item: (n) => parent(above(-n)) },
  'parents that are not there': { relations: 1, item: (n) => parent(above(5000 + n)) },
  children: { relations: 1, item: (n) => children(above(-n)) },
  'children by name': { relations: 1, item: (n) => children({ name: { _eq: `x${n}` } }) },
  'no children': { relations: 1, item: (n) => not(children(above(-n))) },
  'no children that are not there': { relations: 1, item: (n) => not(children(above(5000 + n))) },
  'parents of parents': { relations: 2, item: (n) => parent(parent(above(-n))) },
  'children of children': { relations: 2, item: (n) => children(children(above(-n))) },
  'parents of children': { relations: 2, item: (n) => children(parent(above(-n))) },
  'no children without children': { relations: 2, item: (n) => not(children(not(children(above(5000 + n))))) },
  'numbers of children': { relations: 4, item: (n) => ({ children_aggregate: { count: { predicate: { _gt: -n } } } }) },
  'numbers of different children': {
    relations: 4,
    item: (n) => ({ children_aggregate: { count: { arguments: ['name'], distinct: true, predicate: { _gt: 50 + n } } } }),
  },
  'numbers of children with children': {
    relations: 5,
    item: (n) => ({ children_aggregate: { count: { filter: children(above(5000 + n)), predicate: { _gt: 50 + n } } } }),
  },
  ...Object.fromEntries(
    [4, 30, 94].flatMap((levels) => [
      [`${levels} parents above`, { relations: levels, item: (n: number) => nested(levels, parent, above(-n)) }],
      [`${levels} levels of children`, { relations: levels, item: (n: number) => nested(levels, children, above(-n)) }],
      [
        `${levels} steps up and down`,
        { relations: levels, item: (n: number) => nested(levels / 2, (inner) => children(parent(inner)), above(-n)) },
      ],
      [
        `${levels} steps down and up, in vain`,
        { relations: levels, item: (n: number) => nested(levels / 2, (inner) => parent(children(inner)), { name: { _eq: `z${n}` } }) },
      ],
      [
        `${levels} choices`,
        {
          relations: levels,
          item: (n: number) => nested(Math.min(levels, 30), (inner) => ({ _or: [{ id: { _lt: -5 } }, parent(inner)] }), above(n)),
        },
      ],
      [
        `${levels} choices of relationships`,
        {
          relations: 2 * levels,
          item: (n: number) => nested(Math.min(levels, 30), (inner) => ({ _or: [children({ id: { _lt: -5 } }), parent(inner)] }), above(n)),
        },
      ],
    ]),
  ),
};

const COUNTS = [16, 160, 900];

const REGEXES: readonly HostileQuery[] = [16, 1500].flatMap((count) =>
  ['_regex', '_niregex', '_similar'].map((operator) => ({
    name: `any of ${count} times ${operator}`,
    query: 'query ($w: node_bool_exp!) { node(where: $w) { id } }',
    variables: { w: { _or: list(count, (n) => ({ name: { [operator]: `(x${n}){1,20}(a|b)*z` } })) } },
  })),
);

const conditions = Object.entries(ITEMS).flatMap(([name, { relations, item }]) =>
  (['_and', '_or'] as const).flatMap((how) =>
    COUNTS.filter((count) => count >= relations).map((count) => ({
      name: `${how === '_and' ? 'all' : 'any'} of ${Math.floor(count / relations)} times ${name}`,
      query: 'query ($w: node_bool_exp!) { node(where: $w) { id } }',
      variables: { w: { [how]: list(Math.floor(count / relations), item) } },
    })),
  ),
);

const writes = Object.entries({
  'an update': 'update_node(where: $w, _set: {name: "x"}) { affected_rows }',
  'a deletion': 'delete_node(where: $w) { affected_rows }',
}).flatMap(([what, field]) =>
  ['parents', 'children', 'no children', 'numbers of children'].flatMap((name) =>
    COUNTS.map((count) => {
      const { relations, item } = ITEMS[name] as (typeof ITEMS)[string];
      return {
        name: `${what} by ${Math.floor(count / relations)} times ${name}`,
        query: `mutation ($w: node_bool_exp!) { ${field} }`,
        // No remaining tables to write.
        variables: { w: { _and: [...list(Math.floor(count / relations), item), children({ name: { _eq: 'none' } })] } },
      };
    }),
  ),
);

const ORDERS: Readonly<Record<string, { readonly relations: number; readonly item: () => JsonObject }>> = {
  parents: { relations: 1, item: () => parent({ id: 'asc' }) },
  'parents of parents': { relations: 2, item: () => parent(parent({ id: 'asc' })) },
  'averages of children': { relations: 4, item: () => ({ children_aggregate: { avg: { id: 'asc' } } }) },
  '30 parents above': { relations: 30, item: () => nested(30, parent, { id: 'asc' }) },
};

const orders = Object.entries(ORDERS).flatMap(([name, { relations, item }]) =>
  COUNTS.filter((count) => count >= relations).map((count) => ({
    name: `in the order of ${Math.floor(count / relations)} times ${name}`,
    query: 'query ($o: [node_order_by!]) { node(order_by: $o) { id } }',
    variables: { o: list(Math.floor(count / relations), item) },
  })),
);

const selections: readonly HostileQuery[] = [
  { name: '94 parents above', query: `{ node { id ${'parent { '.repeat(94)} id ${'}'.repeat(94)} } }`, variables: {} },
  ...['parent { id }', 'children { id }', 'children_aggregate { aggregate { count } }'].map((field) => ({
    name: `160 times ${field}`,
    query: `{ node { id ${Array.from({ length: 160 }, (_, n) => `a${n}: ${field}`).join(' ')} } }`,
    variables: {},
  })),
];

const names = Array.from({ length: 100_000 }, (_, n) => `no name ${n}`);
const letters = 'x'.repeat(15_000_000);
const times = (count: number, text: string): string => text.repeat(count);

/** Values that are sent once and used many times. */
const repeated: readonly HostileQuery[] = [
  {
    name: 'a pattern of 6 MB',
    query: 'query ($p: String!) { node(where: {name: {_ilike: $p}}) { id } }',
    variables: { p: times(3_000_000, '%p') },
  },
  {
    name: '400 times a pattern of 10 kB',
    query: `query ($p: String!) { node(where: {_or: [${times(400, '{name: {_ilike: $p}} ')}]}) { id } }`,
    variables: { p: times(5000, '%p') },
  },
  {
    name: 'a document with 90,000 items',
    query: 'query ($d: jsonb!) { note(where: {data: {_contains: $d}}) { id } }',
    variables: { d: names.slice(0, 90_000) },
  },
  {
    name: '90,000 keys',
    query: 'query ($k: [String!]!) { note(where: {data: {_has_keys_all: $k}}) { id } }',
    variables: { k: names.slice(0, 90_000) },
  },
  {
    name: 'long names for each row of the answer',
    query: `{ node { ${Array.from({ length: 13 }, (_, n) => `${'a'.repeat(140_000)}${n}: id`).join(' ')} } }`,
    variables: {},
  },
  {
    name: '200 times the long value of a fragment',
    query: `{ ${Array.from({ length: 200 }, (_, n) => `a${n}: node(limit: 1) { ...F }`).join(' ')} }
      fragment F on node { children(where: {name: {_eq: "${'x'.repeat(1_800_000)}"}}) { id } }`,
    variables: {},
  },
  {
    name: '200 times a list of 100,000 names',
    query: `query ($l: [String!]) { node(where: {_and: [${times(200, '{name: {_nin: $l}} ')}]}) { id } }`,
    variables: { l: names },
  },
  {
    name: 'a list of 200 times a text of 15 MB',
    query: `query ($a: String!) { node(where: {name: {_in: [${times(200, '$a ')}]}}) { id } }`,
    variables: { a: letters },
  },
  {
    name: '200 rows with a text of 15 MB',
    query: `mutation ($a: String!) { insert_node(objects: [${times(200, '{name: $a} ')}]) { affected_rows } }`,
    variables: { a: letters },
  },
];

export const hostileQueries: readonly HostileQuery[] = [...conditions, ...REGEXES, ...writes, ...orders, ...selections, ...repeated];
