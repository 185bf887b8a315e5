/** Hostile requests with expensive arguments and variables. */
import { MEGABYTE, type HostileRequest, fill, times, list, request, document } from './hostile-request.ts';

const IN = 'query ($ids: [Int!]) { author(where: {id: {_in: $ids}}) { id } }';
export const lists: readonly HostileRequest[] = [
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
  // As many values as the limits permit, and more, of the most expensive kinds.
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

export const conditions: readonly HostileRequest[] = Object.entries(FILTERED).flatMap(([what, query]) =>
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

/** Rows with the same key: at most the first is written, and the cost is in the work before. */
export const writes: readonly HostileRequest[] = [
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
      // The database detects the error at the very end.
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

/** 100 requests in one, each within every limit; the texts of `n` make all of them different. */
function batch(name: string, query: (n: number) => string, values?: (n: number) => string): HostileRequest {
  return { name: `a batch of ${name}`, body: () => list(100, (n) => request(query(n), values?.(n))) };
}

export const batches: readonly HostileRequest[] = [
  batch('aliases of root fields', (n) => `{ ${times(240, (i) => `a${n}_${i}: author { id } `)} }`),
  batch('a few root fields', (n) => `{ ${times(20, (i) => `a${n}_${i}: author { id books { id } } `)} }`),
  batch('columns', (n) => `{ author { ${times(900, () => `id `)} } b${n}: __typename }`),
  batch('literals', (n) => `{ a${n}: author(where: {id: {_in: [${times(2400, (i) => `${i} `)}]}}) { id } }`),
  batch('documents of many tokens', (n) => `{ a${n}: author { id } } ${'{}'.repeat(4900)}`),
  batch('unused fragments', (n) => `{ author { id } } ${times(240, (i) => `fragment F${n}_${i} on author { id } `)}`),
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

export const variables: readonly HostileRequest[] = [
  document('declarations', () => `query (${fill(MEGABYTE, (n) => `$a${n}: Int `)}) { author { id } }`),
  document('the same declaration', () => `query (${fill(MEGABYTE, () => '$a: Int ')}) { author { id } }`),
  document('defaults', () => `query (${fill(MEGABYTE, (n) => `$a${n}: Int = 1 `)}) { author { id } }`),
  document(
    'undeclared values',
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
