/**
 * Requests that keep a server busy: each has the maximum size (one megabyte) or
 * the maximum cost within the limits. The tables are those of `hostileSchema`.
 */
import { MEGABYTE, type HostileRequest, fill, times, nest, document } from './hostile-request.ts';
import { batches, conditions, lists, variables, writes } from './hostile-values.ts';

/** Two tables that reference each other, so that selections and filters nest to any depth. */
export const hostileSchema = {
  sql: `create table author (id int primary key, name text, rating numeric, score float8, code char(3), data jsonb);
    create table book (id int primary key, title text, author_id int references author);
    insert into author values (1, 'one', 1.5, 2.5, 'abc', '{}'); insert into book values (1, 'first', 1)`,
  tables: ['author', 'book'],
  relationships: [
    { kind: 'array', table: 'author', name: 'books', using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } } },
    { kind: 'object', table: 'book', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
  ],
} as const;

/**
 * CPU time that a request may take, in ms. Rejected and cheap requests take 50. Thousands of nested rows are permitted, and
 * writing them is legitimate work. A batch is a hundred requests in sequence, between which other requests run.
 */
export function budgetOf({ name }: HostileRequest): number {
  if (/rows? below|row above/.test(name)) return 300;
  return name.startsWith('a batch of') || name === '250 insertions' ? 150 : 50;
}

const LEVEL = 'books { author { ';
/** Fragments that each spread the next one twice. */
const bomb = (levels: number): string =>
  `{ author { ...F0 } } ${times(levels, (n) => `fragment F${n} on author { a: books { author { ...F${n + 1} } } b: books { author { ...F${n + 1} } } } `)}fragment F${levels} on author { id }`;

/** A selection of an author in two roots. */
const twice = (selection: string): string => `{ a: author { ${selection} } b: author { ${selection} } }`;

const nesting: readonly HostileRequest[] = [
  document('selections without end', () => `{ author { ${fill(MEGABYTE, () => LEVEL)}`),
  document('deep selections, closed', () => `{ author { ${nest(28_000, LEVEL, 'id', ' } } ')} } }`),
  ...[10, 24, 49].map((levels) => document(`${2 * levels + 2} levels`, () => `{ author { ${nest(levels, LEVEL, 'id', ' } } ')} } }`)),
  document('inline fragments without end', () => `{ author { ${fill(MEGABYTE, () => '... { ')}`),
  document('deep inline fragments', () => `{ author { ${nest(100_000, '...{', 'id', '}')} } }`),
  document('deep input objects', () => `{ author(where: ${nest(100_000, '{_not:', '{}', '}')}) { id } }`),
  ...[30, 90].map((levels) =>
    document(`${levels} input objects`, () => `{ author(where: ${nest(levels, '{_not:', '{id:{_eq:1}}', '}')}) { id } }`),
  ),
  document('relationships in a filter', () => `{ author(where: ${nest(45, '{books:{author:', '{id:{_eq:1}}', '}}')}) { id } }`),
  document('deep lists', () => `{ author(where: {data: {_eq: ${nest(400_000, '[', '', ']')}}}) { id } }`),
  document('brackets that are never closed', () => `{ author(where: ${'['.repeat(MEGABYTE)}`),
  document('braces that are never closed', () => '{'.repeat(MEGABYTE)),
  document(
    'a deep variable',
    () => 'query ($w: author_bool_exp) { author(where: $w) { id } }',
    () => nest(500, '{"w":[', '1', ']}'),
  ),
  document(
    'a filter as deep as a variable may be',
    () => 'query ($w: author_bool_exp) { author(where: $w) { id } }',
    () => `{"w":${nest(90, '{"_not":', '{}', '}')}}`,
  ),
  document(
    'JSON without end',
    () => '{ author { id } }',
    () => '['.repeat(MEGABYTE),
  ),
  document('a deep type', () => `query ($a: ${nest(400_000, '[', 'Int', ']')}) { author { id } }`),
  document('a type of 3000 levels', () => `query ($a: ${nest(3000, '[', 'Int', ']')}) { author(limit: $a) { id } }`),
  document('a deep default', () => `query ($a: jsonb = ${nest(3000, '[', '1', ']')}) { author(where: {data: {_eq: $a}}) { id } }`),
  document(
    'a deep default of objects',
    () => `query ($a: jsonb = ${nest(100_000, '{a:', '1', '}')}) { author(where: {data: {_eq: $a}}) { id } }`,
  ),
];

/** Names of equal and almost equal reads, which are expensive to compare. */
const repeats: readonly HostileRequest[] = [
  ...[20, 58].map((levels) => document(`two roots of ${levels + 2} levels`, () => twice(nest(levels / 2, LEVEL, 'id', ' } } ')))),
  ...[10, 28].map((levels) =>
    document(`two roots of ${3 * levels + 2} levels of aggregates`, () =>
      twice(nest(levels, 'books_aggregate { nodes { author { ', 'id', ' } } } ')),
    ),
  ),
  document('two roots of 60 levels that differ at their end', () => {
    const root = (end: string): string => `author { ${nest(29, LEVEL, end, ' } } ')} }`;
    return `{ a: ${root('id')} b: ${root('name')} }`;
  }),
  document(
    'names at each of 60 levels',
    () => `{ author { ${nest(29, 'x: id y: id books { s: title t: title author { ', 'id', ' } } ')} } }`,
  ),
  document('siblings at each of 20 levels', () =>
    twice(nest(10, 'a: books { id } b: books { id } c: books { id title } d: books { author { ', 'id', ' } } ')),
  ),
  document('a long text in two roots', () => {
    const root = `author(where: {name: {_eq: "${'x'.repeat(MEGABYTE / 2 - 100)}"}}) { id }`;
    return `{ a: ${root} b: ${root} }`;
  }),
  document(
    'a long text in a fragment of 240 roots',
    () =>
      `{ ${times(240, (n) => `a${n}: author { ...F }`)} } fragment F on author { books(where: {title: {_eq: "${'x'.repeat(8000)}"}}) { id } }`,
  ),
  document(
    'a variable of conditions in 100 roots',
    () => `query ($w: author_bool_exp!) { ${times(100, (n) => `a${n}: author(where: $w) { id }`)} }`,
    () => JSON.stringify({ w: { _or: Array.from({ length: 8 }, (_, n) => ({ id: { _eq: n } })) } }),
  ),
  document(
    'a variable of JSON in 200 roots',
    () => `query ($d: jsonb!) { ${times(200, (n) => `a${n}: author(where: {data: {_contains: $d}}) { id }`)} }`,
    () => `{"d":[${fill(40_000, (n) => `"${n}",`)}0]}`,
  ),
];

const aliases: readonly HostileRequest[] = [
  document('aliases of a column', () => `{ author { ${fill(MEGABYTE, (n) => `a${n}: id `)} } }`),
  document('aliases of a root field', () => `{ ${fill(MEGABYTE, (n) => `a${n}: author { id } `)} }`),
  document('aliases of a relationship', () => `{ author { ${fill(MEGABYTE, (n) => `a${n}: books { id } `)} } }`),
  ...[200, 500, 1000, 5000].flatMap((count) => [
    document(`${count} aliases of a column`, () => `{ author { ${times(count, (n) => `a${n}: id `)} } }`),
    document(`${count} aliases of a root field`, () => `{ ${times(count, (n) => `a${n}: author { id } `)} }`),
    document(`${count} aliases of a relationship`, () => `{ author { ${times(count, (n) => `a${n}: books { id } `)} } }`),
    document(
      `${count} aliases of an aggregate`,
      () => `{ ${times(count, (n) => `a${n}: author_aggregate { aggregate { count } nodes { id } } `)} }`,
    ),
    document(`${count} aliases of __typename`, () => `{ ${times(count, (n) => `a${n}: __typename `)} }`),
    document(
      `${count} aliases of a deletion`,
      () => `mutation { ${times(count, (n) => `a${n}: delete_author_by_pk(id: ${n + 10}) { id } `)} }`,
    ),
  ]),
  document(
    'aliases at many levels',
    () =>
      `{ ${times(4, (a) => `a${a}: author { ${times(4, (b) => `b${b}: books { ${times(4, (c) => `c${c}: author { ${times(4, (d) => `d${d}: books { id }`)} }`)} }`)} }`)} }`,
  ),
];

const fragments: readonly HostileRequest[] = [
  document('a bomb of 30 levels', () => bomb(30)),
  document('a bomb of a megabyte', () => bomb(10_000)),
  ...[4, 6, 8, 10, 12].map((levels) => document(`a bomb of ${levels} levels`, () => bomb(levels))),
  document('a cycle', () => `{ author { ...F0 } } ${times(5000, (n) => `fragment F${n} on author { ...F${(n + 1) % 5000} } `)}`),
  document(
    'a chain',
    () => `{ author { ...F0 } } ${times(15_000, (n) => `fragment F${n} on author { ...F${n + 1} } `)} fragment F15000 on author { id }`,
  ),
  document(
    'a star',
    () => `{ author { ${times(10_000, (n) => `...F${n} `)} } } ${times(10_000, (n) => `fragment F${n} on author { id } `)}`,
  ),
  document('unused fragments', () => `{ author { id } } ${fill(MEGABYTE, (n) => `fragment F${n} on author { id } `)}`),
  document('one fragment, spread over and over', () => `{ author { ${fill(MEGABYTE, () => '...F ')} } } fragment F on author { id }`),
  document(
    'a wide fragment, spread often',
    () => `{ ${times(1000, (n) => `a${n}: author { ...F } `)} } fragment F on author { ${times(1000, (n) => `b${n}: id `)} }`,
  ),
  document('one name, defined over and over', () => `{ author { id } } ${fill(MEGABYTE, () => 'fragment F on author { id } ')}`),
  document('conditions that never hold', () => `{ ${fill(MEGABYTE, () => '... on book { id } ')} __typename }`),
  document('operations', () => fill(MEGABYTE, (n) => `query q${n} { author { id } } `)),
];

const directives: readonly HostileRequest[] = [
  document('one directive, over and over', () => `{ author ${fill(MEGABYTE, () => '@include(if: true) ')} { id } }`),
  document('unknown directives', () => `{ author ${fill(MEGABYTE, (n) => `@d${n} `)} { id } }`),
  document('a directive on every field', () => `{ author { ${fill(MEGABYTE, (n) => `a${n}: id @include(if: true) `)} } }`),
  document('directives of the operation', () => `query ${fill(MEGABYTE, () => '@cached ')} { author { id } }`),
  document('arguments of a directive', () => `{ author @include(${fill(MEGABYTE, () => 'if: true ')}) { id } }`),
  document('directives of a variable', () => `query ($a: Int ${fill(MEGABYTE, () => '@x ')}) { author(limit: $a) { id } }`),
  document(
    '1000 conditions on variables',
    () => `query (${times(1000, (n) => `$v${n}: Boolean! `)}) { author { ${times(1000, (n) => `a${n}: id @include(if: $v${n}) `)} } }`,
    () => JSON.stringify(Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`v${n}`, n % 2 === 0]))),
  ),
];

const overlaps: readonly HostileRequest[] = [
  document('a column, over and over', () => `{ author { ${fill(MEGABYTE, () => 'id ')} } }`),
  document('a relationship, over and over', () => `{ author { ${fill(MEGABYTE, () => 'books { id } ')} } }`),
  ...[500, 2000, 5000].flatMap((count) => [
    document(`a relationship, ${count} times`, () => `{ author { ${times(count, (n) => `books { a${n % 100}: id } `)} } }`),
    document(
      `relationships inside each other, ${count} times`,
      () => `{ author { ${times(count / 5, () => 'books { author { books { author { id } } } } ')} } }`,
    ),
    document(
      `arguments to compare, ${count} times`,
      () => `{ ${times(count / 10, () => 'author(where: {id: {_in: [1 2 3 4 5 6]}}) { id } ')} }`,
    ),
  ]),
  document('large arguments to compare', () => `{ ${times(20, () => `author(where: {id: {_in: [${'1 '.repeat(400)}]}}) { id } `)} }`),
  document('a clash at the end', () => `{ author { ${times(5000, () => 'a: id ')} a: name } }`),
  document('nested overlaps', () => `{ author { ${nest(12, 'books { author { id } } books { author { ', 'id', ' } } ')} } }`),
];

const tokens: readonly HostileRequest[] = [
  document('a long name', () => `{ ${'a'.repeat(MEGABYTE)} }`),
  document('a long alias', () => `{ author { ${'a'.repeat(MEGABYTE)}: id } }`),
  document('a long fragment name', () => `{ author { ...${'a'.repeat(MEGABYTE)} } }`),
  document('a long directive', () => `{ author @${'a'.repeat(MEGABYTE)} { id } }`),
  document('a long integer', () => `{ author(limit: ${'1'.repeat(MEGABYTE)}) { id } }`),
  document('a long literal number', () => `{ author(where: {rating: {_eq: ${'1'.repeat(MEGABYTE)}}}) { id } }`),
  document('a long string', () => `{ author(where: {name: {_eq: "${'x'.repeat(MEGABYTE)}"}}) { id } }`),
  document('a string of escapes', () => `{ author(where: {name: {_eq: "${fill(MEGABYTE / 2, () => '\\n')}"}}) { id } }`),
  document('a block string of lines', () => `{ author(where: {name: {_eq: """${'\n'.repeat(MEGABYTE / 2)}"""}}) { id } }`),
  document('a block string of quotes', () => `{ author(where: {name: {_eq: """${fill(MEGABYTE / 2, () => '\\"""')}"""}}) { id } }`),
  document('a block string without end', () => `{ author(where: {name: {_eq: """${'"" '.repeat(MEGABYTE / 6)}`),
  document('commas', () => `{ author ${','.repeat(MEGABYTE)} { id } }`),
  document('spaces', () => `{ author ${' '.repeat(MEGABYTE)} { id } }`),
  document('lines', () => `{ author ${'\n'.repeat(MEGABYTE / 2)} { id } }`),
  document('lines and then a fault', () => `{ author ${'\n'.repeat(MEGABYTE / 2)} { id `),
  document('lines of the other kind and then a fault', () => `{ author ${'\r'.repeat(MEGABYTE / 2)} { id `),
  document('comments', () => `{ author ${fill(MEGABYTE / 2, () => '#\n')} { id } }`),
  document('one comment', () => `{ author { id } } #${'x'.repeat(MEGABYTE)}`),
  document('a fault at the end', () => `{ author { ${times(1000, () => 'id ')} } } ?`),
  document('definitions of types', () => fill(MEGABYTE, (n) => `type t${n} { a: Int } `)),
  document('numbers in a row', () => `{ author(limit: ${fill(MEGABYTE, () => '1 ')}) { id } }`),
];

const TYPE = 'kind name ofType { ';
const introspection: readonly HostileRequest[] = [
  document(
    'introspection: references without end',
    () => `{ __schema { types { fields { type { ${nest(5000, TYPE, 'name', ' }')} } } } } }`,
  ),
  document('introspection: references', () => `{ __schema { types { fields { type { ${nest(80, TYPE, 'name', ' }')} } } } } }`),
  document(
    'introspection: types of fields of types',
    () => `{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }`,
  ),
  document(
    'introspection: lists in lists',
    () => `{ __schema { types { name description fields { name description args { name type { inputFields { name description } } } } } } }`,
  ),
  document('introspection: lists in three lists', () => `{ __schema { types { fields { args { type { inputFields { name } } } } } } }`),
  document(
    'introspection: aliases of the schema',
    () => `{ ${times(500, (n) => `a${n}: __schema { types { name description fields { name type { name } } } } `)} }`,
  ),
  document(
    'introspection: aliases of fields',
    () => `{ __schema { types { ${times(300, (n) => `a${n}: fields { name description args { name description } } `)} } } }`,
  ),
  document(
    'introspection: aliases of a description',
    () => `{ __schema { types { fields { ${times(900, (n) => `a${n}: description `)} } } } }`,
  ),
  document(
    'introspection: many types',
    () => `{ ${times(500, (n) => `a${n}: __type(name: "author_bool_exp") { b${n}: inputFields { name } } `)} }`,
  ),
];

const json: readonly HostileRequest[] = [
  { name: 'JSON: arrays in the request', body: () => '['.repeat(MEGABYTE) },
  { name: 'JSON: a batch without end', body: () => `[${fill(MEGABYTE, () => '{},')}{}]` },
  { name: 'JSON: keys of the request', body: () => `{"query":"{ author { id } }",${fill(MEGABYTE, (n) => `"k${n}":1.5,`)}"z":0}` },
  { name: 'JSON: extensions', body: () => `{"query":"{ author { id } }","extensions":{${fill(MEGABYTE, (n) => `"k${n}":[1.5],`)}"z":0}}` },
  { name: 'JSON: a long operation name', body: () => `{"query":"query q { author { id } }","operationName":"${'q'.repeat(MEGABYTE)}"}` },
  { name: 'JSON: no JSON', body: () => '{"query":"{ author { id } }",'.repeat(MEGABYTE / 28) },
  { name: 'JSON: backslashes', body: () => `{"query":"${'\\\\'.repeat(MEGABYTE / 2)}"}` },
  { name: 'JSON: surrogates', body: () => `{"query":"${'\\ud800'.repeat(MEGABYTE / 6)}"}` },
];

export const hostileRequests: readonly HostileRequest[] = [
  ...nesting,
  ...repeats,
  ...aliases,
  ...fragments,
  ...directives,
  ...lists,
  ...conditions,
  ...writes,
  ...batches,
  ...overlaps,
  ...variables,
  ...tokens,
  ...introspection,
  ...json,
];
