import { expect, it } from 'vitest';
import { scanSql } from './scan-sql.ts';

it.each([
  ['plain', 'create table a (id int); commit; drop table a;'],
  ['behind a comment', 'create table a (id int); /* done */ commit; drop table a;'],
  ['behind comments that nest', 'create table a (id int); /* /* done */ */ commit; drop table a;'],
  ['behind a comment that a carriage return ends', 'create table a (id int); -- done\rcommit; drop table a;'],
  ['before a comment', 'create table a (id int); commit/* /* */ */; drop table a;'],
])('finds the end of a transaction: %s', (_, sql) => {
  expect(scanSql(sql).control.map(({ words }) => words)).toEqual([['commit']]);
});
