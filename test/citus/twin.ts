/** Tables that are tracked in two sources, and requests for them. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/util/json.ts';
import type { TestService } from '../support/service.ts';
import { problemsIn } from './shape.ts';
import { comparable } from '../support/twins.ts';

const REFERENCES = / references \w+ \(id\)/g;

export const TWIN_TABLES = `
create table writer (id int primary key, name text collate "C" not null, age int, boss_id int references writer (id));
create table book (id int primary key, writer_id int references writer (id), title text collate "C", price decimal(10,2), sold boolean not null, day date, score float8);
create table mark (book_id int references book (id), label text collate "C", primary key (book_id, label));
insert into writer values (1, 'a', 50, null), (2, 'B', null, 1), (3, 'c_%', 30, 1), (4, 'ä"\\\\/', 30, 3), (5, '', 0, 5);
insert into book values (1, 1, 'one', 1.50, true, '2020-01-01', 0.1), (2, 1, 'two', 2.25, false, null, 1e300), (3, 1, null, null, true, '2020-01-02', -1e300),
 (4, 2, 'four', 0, false, '1999-12-31', null), (5, 3, 'one', 10.00, true, null, 0.2), (6, null, 'six', 7.10, true, '2020-01-01', 0.3), (7, 1, 'seven', 1.50, false, null, 0.7);
insert into mark values (1, 'x'), (1, 'y'), (2, 'x'), (5, 'z'), (6, 'x');
create table note (id serial primary key, writer_id int references writer (id), body jsonb not null default '{}', gone int,
  made timestamptz not null default '2020-01-01', tags text[], odd numeric(20,5), "an ""odd"" name" text);
alter table note drop column gone;
create function raise_prices(percent int) returns setof book language plpgsql volatile
  as $$ begin return query update book set price = price * (100 + percent) / 100 returning *; end $$;
create function cheap_books(below int) returns setof book language plpgsql stable
  as $$ begin return query select * from book where price < below; end $$;`;

/** These tables without foreign keys, which different kinds of tables cannot have, and without functions. */
export const LOOSE_TABLES = TWIN_TABLES.slice(0, TWIN_TABLES.indexOf('create function')).replaceAll(REFERENCES, '');

export const TABLES = ['writer', 'book', 'mark', 'note'];

interface Related {
  readonly type: 'object' | 'array';
  readonly table: string;
  readonly name: string;
  readonly target: string;
  readonly local: string;
  readonly remote: string;
}

const RELATED: readonly Related[] = [
  { type: 'object', table: 'writer', name: 'boss', target: 'writer', local: 'boss_id', remote: 'id' },
  { type: 'array', table: 'writer', name: 'staff', target: 'writer', local: 'id', remote: 'boss_id' },
  { type: 'array', table: 'writer', name: 'books', target: 'book', local: 'id', remote: 'writer_id' },
  { type: 'object', table: 'book', name: 'writer', target: 'writer', local: 'writer_id', remote: 'id' },
  { type: 'array', table: 'book', name: 'marks', target: 'mark', local: 'id', remote: 'book_id' },
  { type: 'object', table: 'mark', name: 'book', target: 'book', local: 'book_id', remote: 'id' },
  { type: 'object', table: 'note', name: 'writer', target: 'writer', local: 'writer_id', remote: 'id' },
  { type: 'array', table: 'writer', name: 'notes', target: 'note', local: 'id', remote: 'writer_id' },
];

function usingKey({ type, target, local, remote }: Related): JsonObject {
  return { foreign_key_constraint_on: type === 'object' ? local : { table: target, column: remote } };
}

/** @param loose schema of tables without foreign keys; on Citus, no rows are then compared over relationships */
export async function trackTwin(service: TestService, kind: string, source: string, loose: string | null = null): Promise<void> {
  const run = (name: string, args: JsonObject): Promise<unknown> => service.metadata(`${kind}_${name}`, { source, ...args });
  const named = (name: string): JsonObject => ({ [kind === 'dwh' ? 'dataset' : 'schema']: loose ?? 'public', name });
  for (const table of TABLES) {
    const naming: JsonObject = loose === null ? {} : { configuration: { custom_name: table } };
    await run('track_table', { table: named(table), ...naming });
  }
  if (loose === null) for (const name of ['raise_prices', 'cheap_books']) await run('track_function', { function: name });
  for (const related of RELATED) {
    const { type, table, name, target, local, remote } = related;
    const manual = { manual_configuration: { remote_table: named(target), column_mapping: { [local]: remote } } };
    await run(`create_${type}_relationship`, { table: named(table), name, using: loose === null ? usingKey(related) : manual });
  }
  // Each column compared with another one, and columns that only some may see.
  const compared = { writer: { books: { id: { _cgt: ['$', 'id'] }, title: { _ceq: ['$', 'title'] } } } };
  const others = { writer: { books: { id: { _gt: 4 } } } };
  await run('create_select_permission', {
    table: named('book'),
    role: 'user',
    permission: {
      columns: ['id', 'title'],
      filter: { _or: [loose === null || kind === 'dwh' ? compared : others, { writer_id: { _eq: 'X-Svc-User-Id' } }] },
      limit: 3,
      allow_aggregations: true,
    },
  });
  await run('create_select_permission', {
    table: named('writer'),
    role: 'user',
    permission: { columns: ['id', 'name'], filter: { _not: { name: { _eq: 'X-Svc-Name' } } } },
  });
}

/** Grants writes to a role whose rows depend on other tables, before and after the write. */
export async function allowWrites(service: TestService, kind: string, source: string, schema = 'public'): Promise<void> {
  const run = (name: string, { table, ...args }: JsonObject): Promise<unknown> =>
    service.metadata(`${kind}_${name}`, { source, role: 'user', table: { schema, name: table ?? null }, ...args });
  const own = { writer: { boss_id: { _eq: 'X-Svc-User-Id' } } };
  const few = { writer: { _not: { books: { title: { _eq: 'n1' } } } } };
  await run('create_select_permission', { table: 'note', permission: { columns: '*', filter: {} } });
  await run('create_insert_permission', {
    table: 'note',
    permission: { columns: ['writer_id', 'body', 'odd'], check: own, set: { tags: '{preset}' } },
  });
  await run('create_update_permission', {
    table: 'note',
    permission: { columns: ['body', 'odd'], filter: own, check: { odd: { _lt: 100 } } },
  });
  await run('create_delete_permission', { table: 'note', permission: { filter: { _not: own } } });
  await run('create_insert_permission', { table: 'book', permission: { columns: '*', check: few } });
  await run('create_update_permission', {
    table: 'book',
    permission: { columns: ['title', 'price'], filter: {}, check: { price: { _lt: 1000 } } },
  });
}

const USER: JsonObject = { role: 'user', session: { 'user-id': '1', name: 'B' } };
const asUser = (request: string): JsonObject & { readonly request: string } => ({ ...USER, request });

/** Run in this order, each on the result of the earlier ones. */
export const WRITES: readonly (JsonObject & { readonly request: string })[] = [
  ...[
    'mutation { _insert_writer_one(object: {id: 10, name: "new", boss_id: 1}) { id name boss { id name staff(order_by: {id: asc}) { id } } } }',
    'mutation { _insert_writer(objects: [{id: 11, name: "x"}, {id: 12, name: "y", age: 3, boss_id: 10}]) { affected_rows __typename returning { id age boss { name } books { id } } } }',
    'mutation { _insert_writer(objects: []) { affected_rows returning { id } } }',
    'mutation { _insert_writer_one(object: {id: 10, name: "again"}) { id } }',
    'mutation { _insert_writer_one(object: {id: 13}) { id } }',
    'mutation { _insert_writer(objects: [{id: 10, name: "a2"}, {id: 14, name: "b2", age: 7}], on_conflict: {constraint: writer_pkey, update_columns: [name, age]}) { affected_rows returning { id name age } } }',
    'mutation { _insert_writer(objects: [{id: 10, name: "a3"}, {id: 15, name: "c3"}], on_conflict: {constraint: writer_pkey, update_columns: []}) { affected_rows returning { id } } }',
    'mutation { _insert_writer(objects: [{id: 10, name: "a4"}], on_conflict: {constraint: writer_pkey, update_columns: [name], where: {books: {id: {_gt: 0}}}}) { affected_rows } }',
    'mutation { _insert_writer_one(object: {id: 20, name: "deep", boss: {data: {id: 21, name: "boss of 20", boss: {data: {id: 22, name: "top"}}}}, books: {data: [{id: 200, title: "n1", sold: true, marks: {data: [{label: "p"}, {label: "q"}]}}, {id: 201, sold: false, price: "3.5"}, {id: 202, sold: false, price: "4.5"}]}}) { id boss { id boss { id staff { id } } } books(order_by: {id: asc}) { id title marks(order_by: {label: asc}) { label } } books_aggregate { aggregate { count } } } }',
    'mutation { _insert_book(objects: [{id: 300, sold: true, writer: {data: {id: 30, name: "w30"}}}, {id: 301, sold: true, writer: {data: {id: 31, name: "w31"}, on_conflict: {constraint: writer_pkey, update_columns: [name]}}}, {id: 302, sold: false}]) { affected_rows returning { id writer { name books { id } } } } }',
    'mutation { _insert_writer(objects: [{id: 40, name: "m", notes: {data: [{body: {a: [1, {b: null}]}, odd: "1.50", tags: ["x", "y,\\"z"]}, {made: "2021-02-03T04:05:06Z"}]}}, {id: 41, name: "n", notes: {data: []}}, {id: 42, name: "o", notes: {data: [{odd: 3}]}}]) { affected_rows returning { id notes(order_by: {odd: asc}) { writer_id body made tags odd } } } }',
    'mutation { _insert_writer(objects: [{id: 50, name: "bad", books: {data: [{id: 1, sold: true}]}}]) { affected_rows } }',
    'mutation { _update_writer(where: {books: {sold: {_eq: false}}, boss: {id: {_gt: 0}}}, _set: {age: 99}) { affected_rows returning { id age } } }',
    'mutation { _update_writer(where: {_not: {books: {}}, id: {_lt: 20}}, _inc: {age: 1}) { affected_rows } }',
    'mutation { _update_writer_by_pk(pk_columns: {id: 20}, _set: {boss_id: 1}) { id boss { id staff(order_by: {id: asc}) { id boss_id } } } a: _update_writer_by_pk(pk_columns: {id: 999}, _set: {age: 1}) { id } }',
    'mutation { _update_note(where: {body: {_has_key: "a"}}, _append: {body: {c: 1}}, _set: {odd: "7.25"}) { affected_rows returning { body odd writer { notes_aggregate { aggregate { count sum { odd } } } } } } a: _update_note(where: {}, _delete_key: {body: "c"}) { affected_rows } }',
    'mutation { _update_book_many(updates: [{where: {id: {_eq: 200}}, _set: {price: 5}}, {where: {price: {_eq: 5}}, _mul: {price: 2}}, {where: {id: {_eq: -1}}, _set: {price: 0}}]) { affected_rows returning { id price } } }',
    'mutation { _delete_mark(where: {book: {writer: {id: {_eq: 20}}}, label: {_eq: "q"}}) { affected_rows returning { label book { id marks { label } } } } }',
    'mutation { _delete_mark_by_pk(book_id: 6, label: "x") { book { id marks_aggregate { aggregate { count } } } } a: _delete_mark_by_pk(book_id: 6, label: "x") { label } }',
    'mutation { a: _insert_mark_one(object: {book_id: 6, label: "1"}) { label } b: _update_mark(where: {label: {_eq: "1"}}, _set: {label: "2"}) { returning { label } } c: _delete_mark(where: {label: {_eq: "2"}}) { affected_rows } }',
    'mutation { _raise_prices(args: {percent: 10}, where: {sold: {_eq: true}, price: {_gt: 1}}, order_by: {id: asc}) { id price writer { name } marks(order_by: {label: asc}) { label } } }',
    '{ _cheap_books(args: {below: 5}, order_by: [{writer: {name: asc}}, {id: asc}], limit: 4) { id writer { name books_aggregate { aggregate { count } } } } _cheap_books_aggregate(args: {below: 5}) { aggregate { count max { price } } } }',
  ].map((request) => ({ request })),
  ...[
    'mutation { _insert_note_one(object: {writer_id: 10, odd: 5}) { tags writer { id } } }',
    'mutation { _insert_note(objects: [{writer_id: 10, odd: 6}, {writer_id: 11, odd: 7}]) { affected_rows } }',
    'mutation { _update_note(where: {}, _set: {odd: 8}) { affected_rows returning { odd } } }',
    'mutation { _update_note(where: {}, _set: {odd: 800}) { affected_rows } }',
    'mutation { _insert_book(objects: [{id: 400, sold: true, writer_id: 10, price: 2000}, {id: 1, sold: true, title: "renamed"}], on_conflict: {constraint: book_pkey, update_columns: [title]}) { affected_rows } }',
    'mutation { _insert_book(objects: [{id: 402, sold: true, writer_id: 10, price: 2000}], on_conflict: {constraint: book_pkey, update_columns: [price]}) { affected_rows } }',
    'mutation { _insert_book(objects: [{id: 402, sold: true, writer_id: 10, price: 3000}], on_conflict: {constraint: book_pkey, update_columns: [price]}) { affected_rows } }',
    'mutation { _delete_note(where: {odd: {_eq: 3}}) { affected_rows returning { odd } } }',
    'mutation { _delete_note(where: {}) { affected_rows } }',
  ].map(asUser),
];

export type TwinKind = 'pg' | 'dbc' | 'dwh';

/** Returns the answer without the prefixes of sources: roots start with an underscore in the request. */
export async function twinAnswer(service: TestService, kind: TwinKind, request: string, options: JsonObject = {}): Promise<string> {
  const prefixed = request.replaceAll(/(?<!\w)_(?=writer|book|mark|note|raise|cheap|insert|update|delete)/g, `${kind}_`);
  return comparable(JSON.stringify(await service.graphql(prefixed, options)));
}

/** Sorts the lists of an answer: rows without an order arrive in that of the servers. */
export function sortedLists(answer: string): string {
  const sorted = (json: Json): Json => {
    if (isJsonArray(json)) return json.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    if (!isJsonObject(json)) return json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, sorted(value ?? null)]));
  };
  return JSON.stringify(sorted(JSON.parse(answer) as Json));
}

/** If a worker refuses one of several rows, the error names the list instead of the row (`docs/citus.md`): gives `ours` the path of `theirs`. */
export function placedAlike(ours: string, theirs: string): string {
  const [path, longer] = [ours, theirs].map((answer) => /"path":"([^"]*)"/.exec(answer)?.[1] ?? '');
  if (path === undefined || longer === undefined || !/\.objects$/.test(path) || !longer.startsWith(`${path}[`)) return ours;
  return ours.replace(`"path":"${path}"`, `"path":"${longer}"`);
}

/** Returns what Citus would refuse in the logged statements of the last request. */
export function lastProblems(service: TestService): readonly string[] {
  const last = service.observations.findLast((each) => each.kind === 'query');
  return [...(last?.statements?.values() ?? [])].flatMap(({ text }) => problemsIn(text));
}

/** Returns all rows of a source. */
export async function twinRows(service: TestService, kind: TwinKind, source: string, schema = 'public'): Promise<string> {
  const sql = `select ${TABLES.map((table) => `(select json_agg(t order by t::text) from ${schema}.${table} t)`).join(', ')}`;
  const answer = await service.send('/v2/query', {
    method: 'POST',
    body: JSON.stringify({ type: `${kind}_run_sql`, args: { source, sql } }),
  });
  return JSON.stringify((answer.json as JsonObject)['result'] ?? null);
}

/** Adds sources with prefixes for roots and types. @param url of the Citus source */
export async function addTwin(service: TestService, url: JsonObject | string): Promise<void> {
  const customization = (prefix: string): JsonObject => ({ root_fields: { prefix }, type_names: { prefix } });
  await service.metadata('pg_update_source', { name: 'default', customization: customization('pg_') });
  await service.metadata('dbc_add_source', {
    name: 'twin',
    configuration: { connection_info: { database_url: url } },
    customization: customization('dbc_'),
  });
}
