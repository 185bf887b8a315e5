/** Queries of writers, their books and notes, which each kind of database answers identically. */
import type { JsonObject } from '../../src/util/json.ts';

/** Root names begin with an underscore here and with the prefix of their source in a request. */
export const READS: readonly string[] = [
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

/** Roles that see a part of the rows. */
export const ROLES: readonly (JsonObject & { readonly role: string })[] = [
  { role: 'user', session: { 'user-id': '1', name: 'B' } },
  { role: 'user', session: { 'user-id': '3', name: 'B' } },
];

/** Queries of the roles. */
export const ROLE_READS: readonly string[] = [
  '{ _book(order_by: {id: asc}) { id title writer { name } } _book_aggregate(order_by: {id: desc}) { aggregate { count } nodes { id } } }',
  '{ _writer(order_by: {id: asc}) { id books(order_by: {title: asc_nulls_first, id: asc}) { id } books_aggregate(limit: 9, order_by: {id: asc}) { aggregate { count } nodes { id } } } }',
  '{ _book(where: {writer: {name: {_neq: "q"}}}, order_by: {writer: {name: desc}, id: asc}) { id } }',
];
