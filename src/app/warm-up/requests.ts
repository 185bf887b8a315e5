/** Request bodies of the warm-up; together they cover the code in which large requests spend their time. */

const times = (count: number, text: (n: number) => string): string => Array.from({ length: count }, (_, n) => text(n)).join('');
const body = (query: string, variables = '{}'): string => `{"query":${JSON.stringify(query)},"variables":${variables}}`;
/** JSON text of a list of `count` items. */
const list = (count: number, item: (n: number) => string): string => `[${times(count, (n) => (n === 0 ? item(n) : `,${item(n)}`))}]`;

/** Query with an `_in` condition on a column, with the list as a variable. */
const inList = (column: string, type: string, items: string): string =>
  body(`query ($of: [${type}!]) { author(where: {${column}: {_in: $of}}) { id } }`, `{"of":${items}}`);
const asJson = (json: string): string =>
  body('query ($data: jsonb) { author(where: {data: {_contains: $data}}) { id name data } }', `{"data":${json}}`);

export const warmUpRequests: readonly string[] = [
  body(`{ author(limit: 10, order_by: {name: asc}) { id name books(where: {sold: {_eq: true}}) { id title author { name } } } }`),
  body(`{ author_aggregate { aggregate { count avg { score } max { born } } nodes { id } } author_by_pk(id: 1) { id code } }`),
  asJson(list(500, (n) => `{"a":["\\n",null,true,1.50,"\u2603 ${n}"],"b${n % 7}":false}`)),
  asJson(list(1000, (n) => `{"k${n % 50}":${n}.5,"k${n % 31}":[${n},-1e3]}`)),
  asJson(list(1000, (n) => `[${n},1.250,{},[],"text ${n}"]`)),
  inList('id', 'Int', list(3000, String)),
  inList(
    'rating',
    'numeric',
    list(2000, (n) => `${n}.50`),
  ),
  inList(
    'score',
    'float8',
    list(2000, (n) => `${n}.5`),
  ),
  inList(
    'name',
    'String',
    list(2000, (n) => `"a \\"text\\" ${n}"`),
  ),
  inList(
    'code',
    'bpchar',
    list(2000, () => '"\u2603"'),
  ),
  body(
    'query ($where: author_bool_exp!, $order: [author_order_by!]) { author(where: $where, order_by: $order) { id } }',
    `{"where":{"_or":${list(100, (n) => `{"id":{"_eq":${n}},"books":{"title":{"_like":"${n}%"}}}`)}},"order":${list(50, () => '{"id":"asc"}')}}`,
  ),
  body(`{ author(where: {id: {_in: [${times(2000, (n) => `${n} `)}]}}) { id } }`),
  body(`{ author(where: {_or: [${times(150, (n) => `{id: {_eq: ${n}}} `)}]}) { id } }`),
  body(`{ ${times(100, (n) => `a${n}: author(limit: ${n}) { id ...F books { id } } `)} } fragment F on author { name code }`),
  body(`{ author { ${times(200, (n) => `a${n}: name `)} } }`),
  body(`mutation { ${times(100, (n) => `a${n}: delete_author_by_pk(id: ${n}) { id } `)} }`),
  body(
    'mutation ($rows: [author_insert_input!]!) { insert_author(objects: $rows, on_conflict: {constraint: author_pkey, update_columns: [name]}) { affected_rows returning { id } } }',
    `{"rows":${list(300, (n) => `{"id":${n},"name":"name ${n}","rating":1.5,"data":{"a":[${n}]}}`)}}`,
  ),
  body(
    'mutation ($rows: [author_insert_input!]!, $books: [book_insert_input!]!) { insert_author(objects: $rows) { affected_rows } insert_book(objects: $books) { returning { id } } }',
    `{"rows":${list(50, (n) => `{"id":${n},"books":{"data":[{"id":${n},"title":"title"}]}}`)},"books":${list(50, (n) => `{"id":${n},"author":{"data":{"id":${n},"name":"name"}}}`)}}`,
  ),
  body('mutation { update_author(where: {id: {_gt: 3}}, _set: {name: "x"}, _inc: {rating: 1.5}) { affected_rows } }'),
  body(`{ author(where: {name: {_eq: "${'a long text '.repeat(1000)}"}, rating: {_lt: 1.${'5'.repeat(8000)}}}) { id } }`),
  body(`{ author(where: {name: {_eq: """${'a "quoted" text '.repeat(800)}"""}}) { id # ${'a remark '.repeat(500)}\n } }`),
];
