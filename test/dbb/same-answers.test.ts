/** The same tables and requests on PostgreSQL and MariaDB have the same answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../support/deep.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { startTwins, type Twins } from './twins.ts';

const tables = (text: string): string => `
create table writer (id int primary key, name ${text} not null, age int, boss_id int references writer (id));
create table book (id int primary key, writer_id int references writer (id), title ${text}, price decimal(10,2), sold boolean not null, day date);
create table mark (book_id int references book (id), label ${text}, primary key (book_id, label));
insert into writer values (1, 'a', 50, null), (2, 'B', null, 1), (3, 'c_%', 30, 1), (4, 'ä"\\/', 30, 3), (5, '', 0, 5);
insert into book values (1, 1, 'one', 1.50, true, '2020-01-01'), (2, 1, 'two', 2.25, false, null), (3, 1, null, null, true, '2020-01-02'),
 (4, 2, 'four', 0, false, '1999-12-31'), (5, 3, 'one', 10.00, true, null), (6, null, 'six', 7.10, true, '2020-01-01'), (7, 1, 'seven', 1.50, false, null);
insert into mark values (1, 'x'), (1, 'y'), (2, 'x'), (5, 'z'), (6, 'x');`;

/** Roots begin with an underscore here, and with the prefix of their source in a request. */
const REQUESTS: readonly string[] = [
  '{ _writer(order_by: {id: asc}) { id name age boss { name boss { id } } books(order_by: {id: desc}) { title price sold day } } }',
  '{ _writer(order_by: [{age: asc}, {id: desc}]) { id } a: _writer(order_by: [{age: desc_nulls_last}, {name: asc}]) { id } b: _writer(order_by: [{age: asc_nulls_first}, {id: asc}], limit: 3, offset: 1) { id } }',
  '{ _writer(order_by: {id: asc}) { books(order_by: [{price: desc_nulls_first}, {id: asc}], limit: 2) { id marks(order_by: {label: desc}, limit: 1) { label book { writer { id } } } } } }',
  '{ _writer(order_by: {id: asc}) { books(order_by: {id: asc}, offset: 1) { id } none: books(limit: 0) { id } staff(order_by: {id: asc}) { id staff_aggregate { aggregate { count } } } } }',
  '{ _writer(order_by: [{books_aggregate: {max: {price: desc_nulls_last}}}, {id: asc}]) { id } a: _writer(order_by: [{boss: {boss: {name: asc_nulls_first}}}, {books_aggregate: {count: asc}}, {id: desc}]) { id } }',
  '{ _book(distinct_on: [writer_id], order_by: [{writer_id: asc}, {price: desc_nulls_last}, {id: asc}]) { id } a: _book(distinct_on: [sold, writer_id], order_by: [{sold: desc}, {writer_id: asc_nulls_first}, {id: desc}], limit: 3, offset: 1) { id } }',
  '{ _writer(order_by: {id: asc}) { books(distinct_on: sold, order_by: [{sold: asc}, {price: asc}, {id: asc}], offset: 1, limit: 1) { id } } }',
  '{ _book_aggregate { aggregate { count a: count(columns: title) b: count(columns: title, distinct: true) c: count(columns: [title, sold], distinct: true) sum { price id } max { title price day } min { title id day } } } }',
  '{ _book_aggregate(order_by: {id: asc}, limit: 4, offset: 1, where: {sold: {_eq: true}}) { aggregate { count sum { price } max { id } } nodes { id writer { name } } } }',
  '{ _writer(order_by: {id: asc}) { books_aggregate(distinct_on: sold, order_by: [{sold: asc}, {id: desc}]) { aggregate { count max { id } } nodes { id } __typename } } }',
  '{ _writer_aggregate(where: {id: {_gt: 99}}) { aggregate { count sum { age } avg { age } max { name } stddev { age } } nodes { id } } }',
  '{ _writer(where: {name: {_like: "%\\\\_%"}}) { id } a: _writer(where: {name: {_ilike: "b"}}) { id } b: _writer(where: {name: {_nlike: "%a%"}}, order_by: {id: asc}) { id } c: _writer(where: {name: {_in: ["B", "ä\\"\\\\/", ""]}}, order_by: {id: asc}) { id } }',
  '{ _writer(where: {_or: [{age: {_is_null: true}}, {_not: {age: {_gt: 30}}}]}, order_by: {id: asc}) { id } a: _writer(where: {_not: {boss: {age: {_gt: 40}}}}, order_by: {id: asc}) { id } b: _writer(where: {}, order_by: {id: asc}) { id } c: _writer(where: {_or: []}) { id } }',
  '{ _writer(where: {books: {marks: {label: {_eq: "x"}}, _not: {title: {_eq: "two"}}}}) { id } a: _writer(where: {staff: {staff: {}}}, order_by: {id: asc}) { id } b: _book(where: {writer: {boss_id: {_is_null: true}}, title: {_neq: "two"}}, order_by: {id: asc}) { id } }',
  '{ _writer(where: {books_aggregate: {count: {predicate: {_gte: 1}, filter: {sold: {_eq: false}}}}}, order_by: {id: asc}) { id } a: _writer(where: {books_aggregate: {count: {arguments: [title], distinct: true, predicate: {_eq: 3}}}}) { id } b: _writer(where: {books_aggregate: {bool_or: {arguments: sold, predicate: {_eq: true}}}}, order_by: {id: asc}) { id } }',
  '{ _book(where: {price: {_in: ["1.5", 2.25]}}, order_by: {id: asc}) { id } a: _book(where: {day: {_nin: ["2020-01-01"]}}, order_by: {id: asc}) { id } b: _book(where: {price: {_gte: "7.1"}}, order_by: {id: asc}) { id price } c: _book(where: {title: {_nin: []}}, order_by: {id: asc}) { id } d: _book(where: {id: {_in: []}}) { id } }',
  '{ _writer_by_pk(id: 4) { name } a: _writer_by_pk(id: 77) { name } b: _mark_by_pk(book_id: 1, label: "y") { book { id } } c: __typename }',
];

describe.skipIf(!hasMariadb())('PostgreSQL and MariaDB', () => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins(['writer', 'book', 'mark'], {
      pg: tables('text collate "C"'),
      dbb: tables('varchar(40) collate utf8mb4_bin').replaceAll('\\', '\\\\'),
    });
    await twins.relate('object', 'writer', 'boss', 'boss_id');
    await twins.relate('array', 'writer', 'staff', { table: 'writer', column: 'boss_id' });
    await twins.relate('array', 'writer', 'books', { table: 'book', column: 'writer_id' });
    await twins.relate('object', 'book', 'writer', 'writer_id');
    await twins.relate('array', 'book', 'marks', { table: 'mark', column: 'book_id' });
    await twins.relate('object', 'mark', 'book', 'book_id');
    // Each column compared with another one, and what only some may see.
    await twins.both('create_select_permission', {
      table: 'book',
      role: 'user',
      permission: {
        columns: ['id', 'title'],
        filter: {
          _or: [
            { writer: { books: { id: { _cgt: ['$', 'id'] }, title: { _ceq: ['$', 'title'] } } } },
            { writer_id: { _eq: 'X-Svc-User-Id' } },
          ],
        },
        limit: 3,
        allow_aggregations: true,
      },
    });
    await twins.both('create_select_permission', {
      table: 'writer',
      role: 'user',
      permission: { columns: ['id', 'name'], filter: { _not: { name: { _eq: 'X-Svc-Name' } } } },
    });
  });
  afterAll(() => twins?.stop());

  it.each(sample(REQUESTS, 6))('answer %s', async (request) => {
    const theirs = await twins.answer('pg', request);
    expect(theirs).toContain('"data"');
    expect(await twins.answer('dbb', request)).toBe(theirs);
  });

  it.each(['1', '3'])('let user %s see the same', async (id) => {
    const options = { role: 'user', session: { 'user-id': id, name: 'B' } };
    for (const request of [
      '{ _book(order_by: {id: asc}) { id title writer { name } } _book_aggregate(order_by: {id: desc}) { aggregate { count } nodes { id } } }',
      '{ _writer(order_by: {id: asc}) { id books(order_by: {title: asc_nulls_first, id: asc}) { id } books_aggregate(limit: 9, order_by: {id: asc}) { aggregate { count } nodes { id } } } }',
      '{ _book(where: {writer: {name: {_neq: "q"}}}, order_by: {writer: {name: desc}, id: asc}) { id } }',
    ]) {
      const theirs = await twins.answer('pg', request, options);
      expect(theirs).toContain('"data"');
      expect(await twins.answer('dbb', request, options)).toBe(theirs);
    }
  });
});
