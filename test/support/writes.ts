/** Mutations for all kinds, in order: each runs on the rows that the previous ones left. */
import type { JsonObject } from '../../src/util/json.ts';

export interface WriteCase {
  readonly title: string;
  readonly request: string;
  readonly role?: string;
  readonly session?: Readonly<Record<string, string>>;
  readonly variables?: JsonObject;
  readonly admin?: boolean;
}

const admin = (title: string, request: string, variables?: JsonObject): WriteCase => ({
  title,
  request,
  ...(variables === undefined ? {} : { variables }),
});
const boss = (title: string, request: string, name: string): WriteCase => ({ title, request, role: 'boss', session: { name } });
const user = (title: string, request: string, id = 'u1'): WriteCase => ({ title, request, role: 'user', session: { 'user-id': id } });

export const WRITES: readonly WriteCase[] = [
  // inserts
  admin(
    'insert: rows with defaults',
    'mutation { _insert_writer(objects: [{name: "e"}, {name: "f", age: 3, balance: "1.25", born: "2000-02-29", active: false}]) { affected_rows returning { id name age owner balance active born __typename } __typename } }',
  ),
  admin(
    'insert: nested with counted keys',
    'mutation { _insert_writer(objects: [{name: "k1", books: {data: [{title: "kb1"}, {title: "kb2"}]}}, {name: "k2", books: {data: [{title: "kb3"}]}}]) { affected_rows returning { name books(order_by: {title: asc}) { title } } } }',
  ),
  admin(
    'insert: one',
    'mutation { _insert_writer_one(object: {id: 10, name: "g", facts: {a: [1, {b: null}]}, boss_id: 1}) { id facts boss { name } staff { id } } }',
  ),
  admin('insert: nothing', 'mutation { _insert_writer(objects: []) { affected_rows returning { id } } }'),
  admin(
    'insert: null and default in one statement',
    'mutation { _insert_writer(objects: [{id: 11, name: "h", owner: null}, {id: 12, name: "i"}]) { returning { id owner } } }',
  ),
  admin('insert: a row of defaults', 'mutation { _insert_log(objects: [{}]) { affected_rows returning { line n } } }'),
  admin(
    'insert: without a key',
    'mutation { _insert_log(objects: [{line: "l3", n: 30}, {line: "l4"}]) { affected_rows returning { n line } } }',
  ),
  admin(
    'insert: rows of a variable',
    'mutation($rows: [_book_insert_input!]!) { _insert_book(objects: $rows) { affected_rows returning { title writer_id price sold } } }',
    {
      rows: Array.from({ length: 90 }, (_, i) => ({
        id: 1000 + i,
        title: `t${i}`,
        writer_id: (i % 3) + 1,
        price: i / 4,
        sold: i % 2 === 0,
      })),
    },
  ),
  admin(
    'insert: rows of a variable with relations',
    'mutation($rows: [_mark_insert_input!]!) { _insert_mark(objects: $rows) { affected_rows returning { label book { title writer { name } } } } }',
    {
      rows: Array.from({ length: 7 }, (_, i) => ({ book_id: 1000 + i, label: `l"${i}`, weight: null })),
    },
  ),
  admin(
    'insert: nested',
    `mutation { _insert_writer_one(object: {id: 20, name: "n1", books: {data: [{id: 200, title: "nb1", marks: {data: [{label: "x"}, {label: "y", weight: 5}]}}, {id: 201, title: "nb2"}]}, profile: {data: {bio: "p"}}, boss: {data: {id: 21, name: "n2"}}}) {
    id boss_id boss { name } books(order_by: {id: asc}) { id marks(order_by: {label: asc}) { label weight } } profile { bio } } }`,
  ),
  admin(
    'insert: nested upwards',
    'mutation { _insert_mark(objects: [{label: "up", book: {data: {id: 210, title: "ub", writer: {data: {id: 22, name: "n3"}}}}}, {label: "up2", book_id: 1}]) { affected_rows returning { book_id label book { title writer { name } } } } }',
  ),
  admin('insert: duplicate', 'mutation { _insert_writer(objects: [{id: 30, name: "z1"}, {id: 31, name: "a"}]) { affected_rows } }'),
  admin(
    'insert: duplicate below',
    'mutation { _insert_writer(objects: [{id: 30, name: "z1", books: {data: [{title: "s"}, {title: "s"}]}}]) { affected_rows } }',
  ),
  admin('insert: without a value', 'mutation { _insert_writer(objects: [{id: 30}]) { affected_rows } }'),
  admin('insert: unknown reference', 'mutation { _insert_book(objects: [{title: "q", writer_id: 999}]) { affected_rows } }'),
  admin('insert: check of the table', 'mutation { _insert_writer(objects: [{id: 30, name: "neg", age: -1}]) { affected_rows } }'),
  admin('insert: text too long', `mutation { _insert_writer(objects: [{id: 30, name: "${'x'.repeat(41)}"}]) { affected_rows } }`),
  admin(
    'insert: number too large',
    'mutation { _insert_writer(objects: [{id: 30, name: "big", balance: "123456789.00"}]) { affected_rows } }',
  ),
  admin('insert: no date', 'mutation { _insert_writer(objects: [{id: 30, name: "date", born: "2001-02-29"}]) { affected_rows } }'),
  // upserts
  admin(
    'upsert: ignore',
    'mutation { _insert_writer(objects: [{id: 40, name: "a", age: 1}, {id: 41, name: "new"}], on_conflict: {constraint: writer_name, update_columns: []}) { affected_rows returning { id name age } } }',
  ),
  admin(
    'upsert: ignore the only one',
    'mutation { _insert_writer_one(object: {id: 40, name: "a"}, on_conflict: {constraint: writer_name}) { id } }',
  ),
  admin(
    'upsert: update',
    'mutation { _insert_writer(objects: [{id: 42, name: "a", age: 51}, {id: 43, name: "new2", age: 7}], on_conflict: {constraint: writer_name, update_columns: [age]}) { affected_rows returning { id name age boss_id books_aggregate { aggregate { count } } } } }',
  ),
  admin(
    'upsert: update some',
    'mutation { _insert_writer(objects: [{name: "a", age: 52}, {name: "c", age: 53}], on_conflict: {constraint: writer_name, update_columns: [age], where: {balance: {_gt: "50"}}}) { affected_rows returning { name age } } }',
  ),
  admin(
    'upsert: columns without values',
    'mutation { _insert_writer(objects: [{name: "c", owner: null}, {name: "B"}], on_conflict: {constraint: writer_name, update_columns: [owner]}) { affected_rows returning { name owner } } }',
  ),
  admin(
    'upsert: another constraint',
    'mutation { _insert_writer(objects: [{id: 1, name: "other"}], on_conflict: {constraint: writer_name, update_columns: [age]}) { affected_rows } }',
  ),
  admin(
    'upsert: a key of two',
    'mutation($rows: [_mark_insert_input!]!) { _insert_mark(objects: $rows, on_conflict: {constraint: PRIMARY, update_columns: [weight]}) { affected_rows returning { book_id label weight } } }',
    {
      rows: [
        { book_id: 1, label: 'p', weight: 100 },
        { book_id: 1, label: 'new', weight: 3 },
        { book_id: 3, label: 'p', weight: null },
      ],
    },
  ),
  admin(
    'upsert: a null in the key',
    'mutation { _insert_book(objects: [{id: 220, title: "x", price: 5}], on_conflict: {constraint: book_title, update_columns: [price]}) { affected_rows returning { id } } }',
  ),
  admin(
    'upsert: nested',
    `mutation { _insert_book(objects: [{id: 230, title: "v1", writer: {data: {name: "a", age: 54}, on_conflict: {constraint: writer_name, update_columns: [age]}}, marks: {data: [{label: "m"}]}}, {id: 231, title: "v2", writer: {data: {id: 44, name: "fresh"}, on_conflict: {constraint: writer_name, update_columns: [age]}}}]) {
    affected_rows returning { id writer_id writer { name age } marks { label } } } }`,
  ),
  admin(
    'upsert: nested and ignored',
    'mutation { _insert_book(objects: [{id: 232, title: "v3", writer: {data: {name: "a"}, on_conflict: {constraint: writer_name}}}]) { affected_rows } }',
  ),
  admin(
    'upsert: below an ignored row',
    'mutation { _insert_writer(objects: [{name: "a", books: {data: [{title: "never"}]}}], on_conflict: {constraint: writer_name}) { affected_rows } }',
  ),
  admin(
    'upsert: changes its own key',
    'mutation { _insert_writer(objects: [{id: 45, name: "fresh", age: 8}], on_conflict: {constraint: writer_name, update_columns: [id, age]}) { affected_rows } }',
  ),
  admin(
    'upsert: changes another key',
    'mutation { _insert_writer(objects: [{id: 46, name: "new2", age: 9}], on_conflict: {constraint: writer_name, update_columns: [id, age]}) { affected_rows returning { id age } } }',
  ),
  // updates
  admin(
    'update: some',
    'mutation { _update_writer(where: {age: {_gt: 29}}, _set: {owner: "u9", born: null}) { affected_rows returning { id name owner boss { name } } } }',
  ),
  admin('update: none', 'mutation { _update_writer(where: {id: {_eq: 77777}}, _set: {owner: "u9"}) { affected_rows returning { id } } }'),
  admin('update: nothing', 'mutation { _update_writer(where: {id: {_eq: 1}}) { affected_rows returning { id } } }'),
  admin('update: the same values count', 'mutation { _update_writer(where: {id: {_eq: 1}}, _set: {owner: "u9"}) { affected_rows } }'),
  admin(
    'update: by key',
    'mutation { _update_writer_by_pk(pk_columns: {id: 1}, _set: {owner: "u1"}, _inc: {age: 2, balance: "0.75"}) { id owner age balance books_aggregate { aggregate { count } } } a: _update_writer_by_pk(pk_columns: {id: 9999}, _inc: {age: 1}) { id } }',
  ),
  admin(
    'update: by a key of two',
    'mutation { _update_mark_by_pk(pk_columns: {book_id: 1, label: "p"}, _set: {weight: 9}) { book_id label weight book { title } } }',
  ),
  admin(
    'update: old values on the right',
    'mutation { _update_book(where: {id: {_eq: 2}}, _set: {price: 2}, _inc: {id: 5000}) { affected_rows returning { id price } } }',
  ),
  admin(
    'update: keys move',
    'mutation { _update_mark(where: {book_id: {_eq: 1}}, _set: {label: "moved", book_id: 230}) { affected_rows } a: _update_mark(where: {book_id: {_eq: 1}, label: {_eq: "q"}}, _set: {label: "r"}) { affected_rows returning { label weight book { id } } } }',
  ),
  admin(
    'update: a key by key',
    'mutation { _update_mark_by_pk(pk_columns: {book_id: 1, label: "q"}, _set: {label: "s"}) { label book_id } }',
  ),
  admin('update: without a key', 'mutation { _update_log(where: {n: {_lt: 3}}, _inc: {n: 10}) { affected_rows } }'),
  admin(
    'update: append to an object',
    'mutation { _update_writer(where: {id: {_eq: 1}}, _append: {facts: {x: {z: 2}, new: null}}) { returning { facts } } }',
  ),
  admin(
    'update: append to an array',
    'mutation { _update_writer(where: {id: {_eq: 2}}, _append: {facts: [3, {four: 4}]}) { returning { facts } } }',
  ),
  admin('update: append a scalar', 'mutation { _update_writer(where: {id: {_eq: 4}}, _append: {facts: 5}) { returning { facts } } }'),
  admin('update: append to null', 'mutation { _update_writer(where: {id: {_eq: 3}}, _append: {facts: {a: 1}}) { returning { facts } } }'),
  admin(
    'update: append an object to an array',
    'mutation { _update_writer(where: {id: {_eq: 2}}, _append: {facts: {five: 5}}) { returning { facts } } }',
  ),
  admin(
    'update: prepend an object',
    'mutation { _update_writer(where: {id: {_eq: 1}}, _prepend: {facts: {x: 1, first: {a: null}, _k: [1]}}) { returning { facts } } }',
  ),
  admin(
    'update: prepend to an array',
    'mutation { _update_writer(where: {id: {_eq: 2}}, _prepend: {facts: ["zero"]}) { returning { facts } } }',
  ),
  admin('update: delete a key', 'mutation { _update_writer(where: {id: {_eq: 1}}, _delete_key: {facts: "new"}) { returning { facts } } }'),
  admin(
    'update: delete an item',
    'mutation { _update_writer(where: {id: {_eq: 2}}, _delete_elem: {facts: 1}) { returning { facts } } a: _update_writer(where: {id: {_eq: 2}}, _delete_elem: {facts: -1}) { returning { facts } } }',
  ),
  admin(
    'update: delete at a path',
    'mutation { _update_writer(where: {id: {_eq: 1}}, _delete_at_path: {facts: ["x", "z"]}) { returning { facts } } a: _update_writer(where: {id: {_eq: 1}}, _delete_at_path: {facts: ["list", "1"]}) { returning { facts } } }',
  ),
  admin(
    'update: many',
    'mutation { _update_writer_many(updates: [{where: {id: {_eq: 1}}, _set: {age: 60}}, {where: {age: {_eq: 60}}, _inc: {age: 1}}, {where: {id: {_eq: 12345}}, _set: {age: 1}}]) { affected_rows returning { id age } } }',
  ),
  admin('update: number too large', 'mutation { _update_writer(where: {id: {_eq: 1}}, _inc: {age: 2147483647}) { affected_rows } }'),
  admin('update: check of the table', 'mutation { _update_writer(where: {id: {_eq: 1}}, _set: {age: -1}) { affected_rows } }'),
  admin(
    'update: null where none is taken',
    'mutation($name: String) { _update_writer(where: {id: {_eq: 1}}, _set: {name: $name}) { affected_rows } }',
    { name: null },
  ),
  admin('update: duplicate', 'mutation { _update_writer(where: {id: {_eq: 1}}, _set: {name: "B"}) { affected_rows } }'),
  admin('update: a variable key', 'mutation($id: Int!) { _update_writer_by_pk(pk_columns: {id: $id}, _set: {name: "c2"}) { id name } }', {
    id: 3,
  }),
  // several roots
  admin(
    'roots: rolled back together',
    'mutation { _insert_log(objects: [{line: "lost", n: 5}]) { affected_rows } a: _update_writer(where: {id: {_eq: 2}}, _set: {age: 5}) { affected_rows } b: _insert_writer(objects: [{name: "a"}]) { affected_rows } }',
  ),
  admin(
    'roots: see each other',
    'mutation { _insert_log(objects: [{line: "kept", n: 5}]) { affected_rows } a: _update_log(where: {line: {_eq: "kept"}}, _inc: {n: 1}) { affected_rows } b: _delete_log(where: {n: {_eq: 6}}) { affected_rows returning { line n } } __typename }',
  ),
  // permissions
  user(
    'user: insert with a preset',
    'mutation { _insert_writer(objects: [{id: 50, name: "u50", age: 1}]) { affected_rows returning { id name owner } } }',
  ),
  user(
    'user: insert against the check',
    'mutation { _insert_writer(objects: [{id: 51, name: "u51", age: 1}, {id: 52, name: "u52", age: 61}]) { affected_rows returning { id } } }',
  ),
  user('user: a check that is null', 'mutation { _insert_writer(objects: [{id: 51, name: "u51"}]) { affected_rows } }'),
  user('user: insert below a foreign row', 'mutation { _insert_book(objects: [{id: 300, title: "ub", writer_id: 2}]) { affected_rows } }'),
  user(
    'user: insert below an own row',
    'mutation { _insert_book(objects: [{id: 301, title: "ub", writer_id: 1}]) { affected_rows returning { id title } } }',
  ),
  user(
    'user: nested insert',
    'mutation { _insert_writer_one(object: {id: 53, name: "u53", age: 2, books: {data: [{id: 302, title: "ub2", marks: {data: [{label: "um"}]}}]}}) { id books { id title } } }',
  ),
  user(
    'user: nested insert against a check',
    'mutation { _insert_book(objects: [{id: 303, title: "no", writer: {data: {id: 54, name: "u54", age: 99}}}]) { affected_rows } }',
  ),
  user('user: a column that is not allowed', 'mutation { _insert_writer(objects: [{id: 55, name: "x", balance: 5}]) { affected_rows } }'),
  user('user: update of all', 'mutation { _update_writer(where: {}, _set: {age: 33}) { affected_rows returning { id age owner } } }'),
  user('user: update of a foreign row', 'mutation { _update_writer_by_pk(pk_columns: {id: 2}, _set: {age: 1}) { id } }'),
  user('user: gives a row away', 'mutation { _update_writer(where: {id: {_eq: 50}}, _set: {owner: "u2"}) { affected_rows } }'),
  user('user: gives a row away by key', 'mutation { _update_writer_by_pk(pk_columns: {id: 50}, _set: {owner: "u2"}) { id } }'),
  user(
    'user: moves a key and gives the row away',
    'mutation { _update_writer_by_pk(pk_columns: {id: 50}, _set: {id: 59, owner: "u2"}) { id } }',
  ),
  user('user: moves a key', 'mutation { _update_writer_by_pk(pk_columns: {id: 50}, _set: {id: 59}) { id name } }'),
  user(
    'user: update of books',
    'mutation { _update_book(where: {title: {_like: "%"}}, _set: {price: 1}) { affected_rows returning { id title } } }',
  ),
  user(
    'user: update of books against the check',
    'mutation { _update_book(where: {id: {_eq: 301}}, _set: {title: "bad"}) { affected_rows } }',
  ),
  user(
    'user: upsert of an own row',
    'mutation { _insert_writer(objects: [{name: "u50", age: 44}], on_conflict: {constraint: writer_name, update_columns: [age]}) { affected_rows returning { id name age } } }',
  ),
  user(
    'user: upsert of a foreign row',
    'mutation { _insert_writer(objects: [{name: "B", age: 44}], on_conflict: {constraint: writer_name, update_columns: [age]}) { affected_rows returning { id name age } } }',
  ),
  user(
    'user: upsert against the check of updates',
    'mutation { _insert_writer(objects: [{name: "u50", age: 70}], on_conflict: {constraint: writer_name, update_columns: [age]}) { affected_rows returning { age } } a: _insert_writer(objects: [{name: "u57", age: 70}], on_conflict: {constraint: writer_name, update_columns: [age]}) { affected_rows } }',
  ),
  user('user: delete of all', 'mutation { _delete_writer(where: {}) { affected_rows returning { id name } } }'),
  user('user: delete of a foreign row', 'mutation { _delete_book(where: {id: {_eq: 3}}) { affected_rows returning { id } } }'),
  user(
    'user: without a key',
    'mutation { _insert_log(objects: [{line: "ul", n: 50}, {line: "ul0", n: 0}]) { affected_rows returning { line n } } _delete_log(where: {n: {_gt: 45}}) { affected_rows returning { n line } } }',
  ),
  user(
    'user: without a key, against the check',
    'mutation { _insert_log(objects: [{line: "ul", n: 50}, {line: "ul0", n: 100}]) { affected_rows } }',
  ),
  boss(
    'boss: a check of the table itself',
    'mutation { _insert_writer(objects: [{id: 60, name: "b60", boss_id: 1}]) { affected_rows returning { id name } } }',
    'a',
  ),
  boss(
    'boss: against it',
    'mutation { _insert_writer(objects: [{id: 61, name: "b61", boss_id: 1}, {id: 62, name: "b62", boss_id: 2}]) { affected_rows } }',
    'a',
  ),
  boss(
    'boss: a new row does not speak for itself',
    'mutation { _insert_writer(objects: [{id: 70, name: "self", boss_id: 70}]) { affected_rows } }',
    'self',
  ),
  boss(
    'boss: new rows do not speak for each other',
    'mutation { _insert_writer(objects: [{id: 70, name: "self", boss_id: 1}, {id: 71, name: "s2", boss_id: 70}]) { affected_rows } }',
    'self',
  ),
  boss(
    'boss: a row does not speak for itself by what it becomes',
    'mutation { _update_writer(where: {id: {_eq: 60}}, _set: {boss_id: 60, name: "self"}) { affected_rows } }',
    'self',
  ),
  boss('boss: nor by key', 'mutation { _update_writer_by_pk(pk_columns: {id: 60}, _set: {boss_id: 60, name: "self"}) { id } }', 'self'),
  boss(
    'boss: nor in an upsert',
    'mutation { _insert_writer(objects: [{id: 60, name: "self", boss_id: 60}], on_conflict: {constraint: writer_id, update_columns: [name, boss_id]}) { affected_rows } }',
    'self',
  ),
  boss(
    'boss: an upsert that holds',
    'mutation { _insert_writer(objects: [{id: 60, name: "b60x", boss_id: 1}], on_conflict: {constraint: writer_id, update_columns: [name, boss_id]}) { affected_rows returning { id name } } }',
    'a',
  ),
  boss(
    'boss: an update that holds',
    'mutation { _update_writer(where: {id: {_eq: 60}}, _set: {boss_id: 1, name: "b60"}) { affected_rows returning { id name } } }',
    'a',
  ),
  boss(
    'boss: a row that holds for itself before and after',
    'mutation { _update_writer(where: {id: {_eq: 60}}, _set: {boss_id: 60}) { affected_rows } a: _update_writer(where: {id: {_eq: 60}}, _set: {boss_id: 60}) { affected_rows } }',
    'b60',
  ),
  {
    title: 'backend: not from a client',
    request: 'mutation { _insert_writer(objects: [{id: 63, name: "b63"}]) { affected_rows } }',
    role: 'backend',
    admin: false,
  },
  {
    title: 'backend: from a backend',
    request: 'mutation { _insert_writer(objects: [{id: 63, name: "b63"}]) { affected_rows returning { id } } }',
    role: 'backend',
    session: { 'use-backend-only-permissions': 'true' },
  },
  {
    title: 'heir: what one may',
    request: 'mutation { _insert_book(objects: [{id: 310, title: "hb", writer_id: 1}]) { affected_rows returning { id } } }',
    role: 'heir',
    session: { 'user-id': 'u1' },
  },
  {
    title: 'heir: what both may',
    request: 'mutation { _insert_writer(objects: [{id: 64, name: "h64", age: 1}]) { affected_rows } }',
    role: 'heir',
    session: { 'user-id': 'u1', name: 'a' },
  },
  // deletes
  admin('delete: some', 'mutation { _delete_mark(where: {label: {_like: "l%"}}) { affected_rows returning { label book_id } } }'),
  admin(
    'delete: with relations',
    'mutation { _delete_mark(where: {book_id: {_eq: 200}}) { affected_rows returning { label book { title writer { name } } } } }',
  ),
  admin(
    'delete: by key',
    'mutation { _delete_mark_by_pk(book_id: 210, label: "up") { label weight } a: _delete_mark_by_pk(book_id: 210, label: "up") { label } }',
  ),
  admin('delete: by key with relations', 'mutation { _delete_mark_by_pk(book_id: 1, label: "up2") { label book { id writer { name } } } }'),
  admin('delete: none', 'mutation { _delete_mark(where: {book_id: {_eq: 0}}) { affected_rows returning { label book { id } } } }'),
  admin('delete: what is referred to', 'mutation { _delete_writer(where: {id: {_eq: 1}}) { affected_rows } }'),
  admin('delete: what goes along', 'mutation { _delete_book(where: {id: {_eq: 230}}) { affected_rows returning { id title } } }'),
  admin(
    'delete: asks the table itself',
    'mutation { _delete_book(where: {writer: {books: {title: {_eq: "t0"}}}, title: {_like: "t%"}}) { affected_rows } }',
  ),
  admin(
    'delete: with rows that go along',
    'mutation { _insert_mark(objects: [{book_id: 3, label: "z"}]) { affected_rows } _delete_book(where: {id: {_eq: 3}}) { returning { id marks(order_by: {label: asc}) { label } } } }',
  ),
  admin(
    'update: delete a string of an array',
    'mutation { _update_writer(where: {id: {_eq: 2}}, _delete_key: {facts: "zero"}) { returning { facts } } a: _update_writer(where: {id: {_eq: 2}}, _set: {facts: 1}) { affected_rows } }',
  ),
  admin(
    'update: delete an item of an object',
    'mutation { _update_writer(where: {id: {_eq: 1}}, _delete_elem: {facts: 0}) { affected_rows } }',
  ),
  admin('delete: all without a key', 'mutation { _delete_log(where: {}) { affected_rows } }'),
];
