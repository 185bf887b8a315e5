/**
 * Requests that are made to keep a server busy: each is as large as it may be (a megabyte), or as
 * costly as the limits let it be. The tables are those of `hostileSchema`.
 */

/** Two tables that refer to each other, so that selections and filters nest without end. */
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

const MEGABYTE = 1_000_000;

export interface HostileRequest {
  readonly name: string;
  /** The body of the request. */
  body(): string;
}

/**
 * ms of CPU that a request may take. What is refused or asks for little takes 50. Nested rows are let in by the thousands, and
 * writing them is work that was asked for. A batch is a hundred requests one after another, with others let in between.
 */
export function budgetOf({ name }: HostileRequest): number {
  if (/rows? below|row above/.test(name)) return 300;
  return name.startsWith('a batch of') || name === '250 insertions' ? 150 : 50;
}

/** `text` over and over, numbered, up to a length. */
function fill(length: number, text: (n: number) => string): string {
  const parts: string[] = [];
  for (let n = 0, total = 0; total < length; n++) {
    const part = text(n);
    parts.push(part);
    total += Buffer.byteLength(part);
  }
  return parts.join('');
}

const times = (count: number, text: (n: number) => string): string => Array.from({ length: count }, (_, n) => text(n)).join('');
/** A list of JSON. */
const list = (count: number, item: (n: number) => string): string => `[${Array.from({ length: count }, (_, n) => item(n)).join()}]`;
const nest = (levels: number, open: string, inner: string, close: string): string => open.repeat(levels) + inner + close.repeat(levels);
const request = (query: string, variables?: string): string =>
  `{"query":${JSON.stringify(query)}${variables === undefined ? '' : `,"variables":${variables}`}}`;

function document(name: string, query: () => string, variables?: () => string): HostileRequest {
  return { name, body: () => request(query(), variables?.()) };
}

const LEVEL = 'books { author { ';
/** Fragments that each spread the next one twice. */
const bomb = (levels: number): string =>
  `{ author { ...F0 } } ${times(levels, (n) => `fragment F${n} on author { a: books { author { ...F${n + 1} } } b: books { author { ...F${n + 1} } } } `)}fragment F${levels} on author { id }`;

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
  document('fragments that nobody spreads', () => `{ author { id } } ${fill(MEGABYTE, (n) => `fragment F${n} on author { id } `)}`),
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

const IN = 'query ($ids: [Int!]) { author(where: {id: {_in: $ids}}) { id } }';
const lists: readonly HostileRequest[] = [
  document('a list of numbers', () => `{ author(where: {id: {_in: [${fill(MEGABYTE, () => '1 ')}]}}) { id } }`),
  ...[1000, 5000, 10_000, 20_000].flatMap((count) => [
    document(`a list of ${count} numbers`, () => `{ author(where: {id: {_in: [${times(count, (n) => `${n} `)}]}}) { id } }`),
    document(`${count} conditions`, () => `{ author(where: {_or: [${times(Math.floor(count / 3), (n) => `{id:{_eq:${n}}} `)}]}) { id } }`),
    document(`${count} orders`, () => `{ author(order_by: [${times(count / 2, () => '{id: asc} ')}]) { id } }`),
  ]),
  document('a list of lists', () => `{ author(where: {data: {_eq: [${fill(MEGABYTE, () => '[] ')}]}}) { id } }`),
  document(
    'a variable of many numbers',
    () => IN,
    () => `{"ids":[${fill(MEGABYTE, () => '1,')}1]}`,
  ),
  document(
    'a variable of many fractions',
    () => 'query ($r: [numeric!]) { author(where: {rating: {_in: $r}}) { id } }',
    () => `{"r":[${fill(MEGABYTE, () => '1.5,')}1.5]}`,
  ),
  document(
    'a variable of many texts',
    () => 'query ($n: [String!]) { author(where: {name: {_in: $n}}) { id } }',
    () => `{"n":[${fill(MEGABYTE, () => '"a",')}"a"]}`,
  ),
  document(
    'a variable of many wrong values',
    () => IN,
    () => `{"ids":[${fill(MEGABYTE, () => '[],')}1]}`,
  ),
  document(
    'a variable of many objects',
    () => 'query ($d: jsonb) { author(where: {data: {_eq: $d}}) { id } }',
    () => `{"d":[${fill(MEGABYTE, () => '{"a":1.5},')}1]}`,
  ),
  // As many values as the limits let through, and more, of the kinds that cost most.
  ...Object.entries({
    'objects of a fraction': (n: number) => `{"a":${n % 90}.5},`,
    'objects of an exact fraction': (n: number) => `{"a":${n % 90}.50},`,
    'objects of different keys': (n: number) => `{"k${n}":1},`,
    'objects of different keys and exact fractions': (n: number) => `{"k${n}":1.50},`,
    'objects of two keys': (n: number) => `{"x":${n},"y":1},`,
    'objects of few different keys': (n: number) => `{"k${n % 9999}":1},`,
    'objects of many shapes': (n: number) => `{"k${n % 230}":1,"k${Math.floor(n / 230)}":1},`,
    'empty objects': () => '{},',
    'empty lists': () => '[],',
    pairs: (n: number) => `[${n},1.25],`,
    'exact pairs': (n: number) => `[${n},1.250],`,
    'exact fractions': () => '1.50,',
    'escaped texts': () => '"\\n",',
    'texts beyond the Latin alphabet': () => '"\u2603",',
    mixtures: (n: number) => `{"a":["\\n",null,true,1.50,"\u2603 ${n}"]},`,
  }).flatMap(([name, item]) =>
    [100_000, 250_000, 500_000, 950_000].map((length) =>
      document(
        `${length} bytes of ${name} as jsonb`,
        () => 'query ($d: jsonb) { author(where: {data: {_eq: $d}}) { id } }',
        () => `{"d":[${fill(length, item)}1]}`,
      ),
    ),
  ),
  ...Object.entries({
    'Int: id': (n: number) => `${n},`,
    'numeric: rating': () => '1.50,',
    'float8: score': () => '1.5,',
    'String: name': () => '"\\n",',
    'bpchar: code': () => '"\u2603",',
  }).flatMap(([place, item]) =>
    [250_000, 500_000, 950_000].map((length) => {
      const [type, column] = place.split(': ');
      return document(
        `${length} bytes of items for ${place}`,
        () => `query ($d: [${type}!]) { author(where: {${column}: {_in: $d}}) { id } }`,
        () => `{"d":[${fill(length, item)}${item(1).slice(0, -1)}]}`,
      );
    }),
  ),
  document(
    'a filter of many conditions in a variable',
    () => 'query ($w: author_bool_exp!) { author(where: $w) { id } }',
    () => `{"w":{"_or":${list(80_000, (n) => `{"id":{"_eq":${n}}}`)}}}`,
  ),
  document(
    'orders in a variable',
    () => 'query ($o: [author_order_by!]) { author(order_by: $o) { id } }',
    () => `{"o":[${fill(MEGABYTE, () => '{"id":"asc"},')}{}]}`,
  ),
  document('arguments', () => `{ author(${fill(MEGABYTE, (n) => `a${n}: 1 `)}) { id } }`),
  document('the same argument', () => `{ author(${fill(MEGABYTE, () => 'limit: 1 ')}) { id } }`),
  document('keys', () => `{ author(where: {${fill(MEGABYTE, (n) => `a${n}: 1 `)}}) { id } }`),
];

const FILTERED = {
  'a query': 'query ($w: author_bool_exp!) { author(where: $w) { id } }',
  'an update': 'mutation ($w: author_bool_exp!) { update_author(where: $w, _set: {name: "x"}) { affected_rows } }',
  'a deletion': 'mutation ($w: author_bool_exp!) { delete_author(where: $w) { affected_rows } }',
};
const CONDITIONS: Readonly<Record<string, (n: number) => string>> = {
  comparisons: (n) => `{"id":{"_eq":${n}}}`,
  'comparisons of a column': (n) => `{"id":{"_eq":${n},"_gt":1,"_lt":3,"_gte":4,"_lte":5,"_neq":7}}`,
  'related rows': (n) => `{"books":{"id":{"_eq":${n}}}}`,
  'rows related to related rows': (n) => `{"books":{"author":{"books":{"id":{"_gt":${n}}}}}}`,
  patterns: (n) => `{"name":{"_similar":"${n}%","_regex":"^${n}"}}`,
  'casts of jsonb': (n) => `{"data":{"_cast":{"String":{"_like":"${n}"}}}}`,
  'lists of numbers': (n) => `{"id":{"_in":[${'1,'.repeat(20)}${n}]}}`,
  aggregates: (n) => `{"books_aggregate":{"count":{"predicate":{"_gt":${n}}}}}`,
};

const conditions: readonly HostileRequest[] = Object.entries(FILTERED).flatMap(([what, query]) =>
  Object.entries(CONDITIONS).flatMap(([kind, condition]) =>
    [300, 600, 1000, 1666, 5000, 20_000].map((count) =>
      document(
        `${what} by ${count} ${kind} in a variable`,
        () => query,
        () => `{"w":{"_or":${list(count, condition)}}}`,
      ),
    ),
  ),
);

const INSERTED = 'mutation ($rows: [author_insert_input!]!) { insert_author(objects: $rows) { affected_rows } }';
const UPSERTED =
  'mutation ($rows: [author_insert_input!]!) { insert_author(objects: $rows, on_conflict: {constraint: author_pkey, update_columns: [name]}) { returning { id } } }';
const COLUMNS = ['"id":1', '"name":"a"', '"rating":1', '"score":2.5', '"code":"a"', '"data":{}'];
const MAY_BE_THERE = '"on_conflict":{"constraint":"author_pkey","update_columns":["name"]}';
const BOOKS = 'mutation ($rows: [book_insert_input!]!) { insert_book(objects: $rows) { affected_rows } }';

/** Rows that are all the same key: the first is written, or none, and the work before is what counts. */
const writes: readonly HostileRequest[] = [
  ...[400, 1000, 5000, 22_000].flatMap((count) => [
    document(
      `${count} rows of a number`,
      () => INSERTED,
      () => `{"rows":${list(count, () => '{"id":1}')}}`,
    ),
    document(
      `${count} rows of different columns`,
      () => INSERTED,
      () => `{"rows":${list(count, (n) => `{${COLUMNS.filter((_, i) => i === 0 || (n >> i) & 1).join()}}`)}}`,
    ),
    document(
      `${count} rows, some without a key`,
      () => INSERTED,
      () => `{"rows":${list(count, (n) => `{${COLUMNS.filter((_, i) => (n >> i) & 1).join()}}`)}}`,
    ),
    document(
      `${count} rows with a row below`,
      () => INSERTED,
      () => `{"rows":${list(count, () => '{"id":1,"books":{"data":[{"id":1,"title":"t"}]}}')}}`,
    ),
    document(
      `${count} rows with a row above`,
      () => BOOKS,
      () => `{"rows":${list(count, () => '{"id":1,"author":{"data":{"id":1}}}')}}`,
    ),
    document(
      `a row with ${count} rows below`,
      () => INSERTED,
      () => `{"rows":[{"id":1,"books":{"data":${list(count, () => '{"id":1}')}}}]}`,
    ),
    document(
      `${count} updates`,
      () => 'mutation ($updates: [author_updates!]!) { update_author_many(updates: $updates) { affected_rows } }',
      () => `{"updates":${list(count, (n) => `{"where":{"id":{"_eq":${n}}},"_set":{"name":"a${n}"}}`)}}`,
    ),
  ]),
  ...[1900, 5000, 10_000].flatMap((count) => [
    document(
      `${count} rows with a row above that may be there`,
      () => BOOKS,
      () => `{"rows":${list(count, (n) => `{"id":1,"author":{"data":{"id":${n}},${MAY_BE_THERE}}}`)}}`,
    ),
    document(
      `${count} rows with the same row above, changed each time`,
      () => BOOKS,
      () => `{"rows":${list(count, (n) => `{"id":1,"author":{"data":{"id":1,"name":"${n}"},${MAY_BE_THERE}}}`)}}`,
    ),
  ]),
  ...[3000, 6000, 12_000].map((count) =>
    document(
      `${count} rows of all columns that may be there`,
      () => INSERTED,
      () => `{"rows":${list(count, (n) => `{"id":1,"name":"a${n}","rating":1.50,"score":2.5,"code":"\\u2603","data":{"a":[${n}]}}`)}}`,
    ),
  ),
  ...[3000, 12_000].map((count) =>
    document(
      `${count} rows that may be there`,
      () => UPSERTED,
      // Found wrong by the database, at the end of everything.
      () => `{"rows":${list(count, (n) => `{"id":${n},"name":"a${n}","rating":"x"}`)}}`,
    ),
  ),
  ...[100, 250, 499].flatMap((count) => [
    document(
      `${count} insertions`,
      () => `mutation { ${times(count, (n) => `a${n}: insert_author_one(object: {id: 1, books: {data: [{id: ${n}}]}}) { id } `)} }`,
    ),
    document(
      `${count} updates of a row`,
      () => `mutation { ${times(count, (n) => `a${n}: update_author_by_pk(pk_columns: {id: ${n}}, _set: {name: "x"}) { id name } `)} }`,
    ),
  ]),
  ...[600, 1200, 2400].flatMap((count) => [
    document(
      `orders by ${count} related columns`,
      () => 'query ($o: [book_order_by!]) { book(order_by: $o) { id } }',
      () => `{"o":${list(count, () => '{"author":{"id":"asc"}}')}}`,
    ),
    document(
      `orders by ${count} aggregates`,
      () => 'query ($o: [author_order_by!]) { author(order_by: $o) { id } }',
      () => `{"o":${list(count, () => '{"books_aggregate":{"avg":{"id":"asc"}}}')}}`,
    ),
  ]),
  document(
    'distinct columns',
    () => 'query ($c: [author_select_column!]) { author(distinct_on: $c) { id } }',
    () => `{"c":${list(4900, () => '"id"')}}`,
  ),
];

/** 100 requests in one, each within every limit; with the texts of `n` no two are the same. */
function batch(name: string, query: (n: number) => string, values?: (n: number) => string): HostileRequest {
  return { name: `a batch of ${name}`, body: () => list(100, (n) => request(query(n), values?.(n))) };
}

const batches: readonly HostileRequest[] = [
  batch('aliases of root fields', (n) => `{ ${times(240, (i) => `a${n}_${i}: author { id } `)} }`),
  batch('a few root fields', (n) => `{ ${times(20, (i) => `a${n}_${i}: author { id books { id } } `)} }`),
  batch('columns', (n) => `{ author { ${times(900, () => `id `)} } b${n}: __typename }`),
  batch('literals', (n) => `{ a${n}: author(where: {id: {_in: [${times(2400, (i) => `${i} `)}]}}) { id } }`),
  batch('documents of many tokens', (n) => `{ a${n}: author { id } } ${'{}'.repeat(4900)}`),
  batch('fragments that nobody spreads', (n) => `{ author { id } } ${times(240, (i) => `fragment F${n}_${i} on author { id } `)}`),
  batch('deletions', (n) => `mutation { ${times(100, (i) => `a${n}_${i}: delete_author_by_pk(id: ${i + 10}) { id } `)} }`),
  batch(
    'filters in variables',
    () => FILTERED['a query'],
    (n) => `{"w":{"_or":${list(300, (i) => `{"id":{"_eq":${n * i}}}`)}}}`,
  ),
  batch(
    'rows',
    () => INSERTED,
    (n) => `{"rows":${list(40, (i) => `{"id":${i % 3},"name":"${n}"}`)}}`,
  ),
  batch(
    'rows with rows below',
    () => INSERTED,
    (n) => `{"rows":${list(20, (i) => `{"id":${i % 3},"name":"${n}","books":{"data":[{"id":1}]}}`)}}`,
  ),
  batch(
    'many rows',
    () => INSERTED,
    (n) => `{"rows":${list(600, (i) => `{"id":${i % 3},"name":"${n}"}`)}}`,
  ),
  batch('one query', () => '{ author { id name books { id title author { id } } } }'),
  batch('introspection', (n) => `{ a${n}: __schema { types { name fields { name type { name } } } } }`),
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

const variables: readonly HostileRequest[] = [
  document('declarations', () => `query (${fill(MEGABYTE, (n) => `$a${n}: Int `)}) { author { id } }`),
  document('the same declaration', () => `query (${fill(MEGABYTE, () => '$a: Int ')}) { author { id } }`),
  document('defaults', () => `query (${fill(MEGABYTE, (n) => `$a${n}: Int = 1 `)}) { author { id } }`),
  document(
    'values that nobody declared',
    () => '{ author { id } }',
    () => `{${fill(MEGABYTE, (n) => `"a${n}":1,`)}"z":1}`,
  ),
  document(
    'keys that are the same',
    () => '{ author { id } }',
    () => `{${fill(MEGABYTE, () => '"a":1,')}"a":1}`,
  ),
  document(
    'uses of one variable',
    () => `query ($a: Int) { author { ${fill(MEGABYTE, (n) => `a${n}: books(limit: $a) { id } `)} } }`,
    () => '{"a":1}',
  ),
  document(
    'a long number',
    () => 'query ($r: numeric) { author(where: {rating: {_eq: $r}}) { id } }',
    () => `{"r":${'1'.repeat(MEGABYTE)}}`,
  ),
  document(
    'a long fraction',
    () => 'query ($r: Int) { author(where: {id: {_eq: $r}}) { id } }',
    () => `{"r":0.${'1'.repeat(MEGABYTE)}}`,
  ),
  document(
    'zeros inside a number',
    () => 'query ($r: Int) { author(where: {id: {_eq: $r}}) { id } }',
    () => `{"r":1${'0'.repeat(MEGABYTE)}1}`,
  ),
  document(
    'zeros inside a fraction',
    () => 'query ($r: float8) { author(where: {score: {_eq: $r}}) { id } }',
    () => `{"r":0.${'0'.repeat(MEGABYTE)}1e-400}`,
  ),
  document(
    'backslashes in a pattern',
    () => 'query ($n: String) { author(where: {name: {_like: $n}}) { id } }',
    () => `{"n":"${'\\\\'.repeat(MEGABYTE / 4)}a"}`,
  ),
  document(
    'blanks in a pattern',
    () => 'query ($c: bpchar) { author(where: {code: {_like: $c}}) { id } }',
    () => `{"c":"${' '.repeat(MEGABYTE)}a"}`,
  ),
  document(
    'steps of a JSON path',
    () => 'query ($p: String) { author { data(path: $p) } }',
    () => `{"p":"$${'.a'.repeat(MEGABYTE / 2)}"}`,
  ),
  document(
    'a large exponent',
    () => 'query ($r: numeric) { author(where: {rating: {_eq: $r}}) { id } }',
    () => '{"r":1e999999999}',
  ),
  document(
    'a long text',
    () => 'query ($n: String) { author(where: {name: {_eq: $n}}) { id } }',
    () => `{"n":"${'x'.repeat(MEGABYTE)}"}`,
  ),
  document(
    'escapes',
    () => 'query ($n: String) { author(where: {name: {_eq: $n}}) { id } }',
    () => `{"n":"${fill(MEGABYTE, () => '\\u0041')}"}`,
  ),
  document(
    'a long text with a fraction',
    () => 'query ($n: String) { author(where: {name: {_eq: $n}}) { id } }',
    () => `{"n":"${'x1.5'.repeat(MEGABYTE / 4)}"}`,
  ),
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
