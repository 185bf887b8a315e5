import { describe, expect, it } from 'vitest';
import { type Catalog, type CatalogTable, nameKey } from '../../../catalog/catalog.ts';
import { baseType } from '../base-type.ts';
import { catalogAfter, withIdentities } from './dry-run.ts';

let ids = 0;
function table(name: string, columns: readonly string[], more: Partial<CatalogTable> = {}): CatalogTable {
  return {
    id: ++ids,
    name: { schema: '', name },
    kind: 'table',
    comment: null,
    columns: columns.map((column, position) => ({
      name: column,
      type: baseType('int'),
      nullable: true,
      hasDefault: false,
      generated: false,
      identity: false,
      comment: null,
      position,
    })),
    primaryKey: null,
    uniqueConstraints: [],
    otherConstraints: [],
    foreignKeys: [],
    insertable: true,
    updatable: true,
    deletable: true,
    ...more,
  };
}

const catalogOf = (...tables: readonly CatalogTable[]): Catalog => ({
  tables: new Map(tables.map((each) => [nameKey(each.name), each])),
  functions: new Map(),
  version: 101100,
});

const a = table('a', ['id', 'Name', 'b_id'], {
  foreignKeys: [{ name: 'to_b', columns: ['b_id'], target: { schema: '', name: 'b' }, targetColumns: ['id'] }],
});
const b = table('b', ['id', 'x']);
const other = table('c', ['id'], { name: { schema: 'other', name: 'c' } });
const before = catalogOf(a, b, other);

/** Tables with their columns and the targets of their foreign keys. */
const shown = (catalog: Catalog): string =>
  [...catalog.tables.values()]
    .map(({ name, columns, foreignKeys }) => {
      const keys = foreignKeys.map((key) => ` ${key.columns}->${key.target.name}.${key.targetColumns}`).join('');
      const own = columns.map((column) => (column.type.name === 'int' ? column.name : `${column.name}:${column.type.name}`)).join(' ');
      return `${name.schema === '' ? '' : `${name.schema}.`}${name.name}(${own})${keys}`;
    })
    .join(' | ');
const A = 'a(id Name b_id) b_id->b.id';
const B = 'b(id x)';
const C = 'other.c(id)';

describe('dry-run analysis', () => {
  it.each([
    ['drop table a', `${B} | ${C}`],
    ['DROP TABLE IF EXISTS `a`, shop.b CASCADE', C],
    ['drop temporary table a', `${A} | ${B} | ${C}`],
    ['use other; drop table c; drop view shop.b', A],
    ['drop database other', `${A} | ${B}`],
    ['create or replace database other character set utf8mb4', `${A} | ${B}`],
    ['Create Or Replace Schema shop', C],
    ['create database if not exists other; create schema more', `${A} | ${B} | ${C}`],
    ["select 'drop table a'; -- drop table a\n/* drop table a; */ # drop table a", `${A} | ${B} | ${C}`],
    ['/*!40000 drop table a */; /*M!100500 drop table b */', C],
    ["select \"it's; drop table a\", '\\'; drop table a'", `${A} | ${B} | ${C}`],
    ['rename table a to t, b to a, t to b', 'b(id Name b_id) b_id->a.id | a(id x) | other.c(id)'],
    ['rename table a wait 5 to other.a', `other.a(id Name b_id) b_id->b.id | ${B} | ${C}`],
    ['alter table a drop column name, drop b_id', `a(id) | ${B} | ${C}`],
    ['alter online ignore table if exists a nowait drop foreign key to_b', `a(id Name b_id) | ${B} | ${C}`],
    ['alter table a drop primary key, drop index i, drop constraint if exists to_b', `a(id Name b_id) | ${B} | ${C}`],
    [
      'alter table b rename column id to key_, change x `y z` varchar(3) not null',
      `a(id Name b_id) b_id->b.key_ | b(key_ y z:varchar) | ${C}`,
    ],
    [
      'alter table b modify x bigint(20) unsigned default (1, 2), rename to d',
      `a(id Name b_id) b_id->d.id | d(id x:bigint unsigned) | ${C}`,
    ],
    ['alter table b modify x tinyint(1), modify id double precision', `${A} | b(id:double x:boolean) | ${C}`],
    ['alter table b rename index i to j, rename key k to l, rename as e', `a(id Name b_id) b_id->e.id | e(id x) | ${C}`],
    // Recreated in place; the new definition is read after the SQL has run.
    ['drop table b; create table if not exists b (id int)', `${A} | ${C} | ${B}`],
    ['drop table b; create or replace algorithm = merge definer = `r`@`%` view b as select 1', `${A} | ${C} | ${B}`],
    ['alter table b drop x, add column x text', `${A} | b(id x:text) | ${C}`],
    ['alter table a drop foreign key to_b, add constraint n foreign key (b_id) references b (id)', `${A} | ${B} | ${C}`],
    // The body of a routine does not run now.
    ['create or replace definer = current_user procedure p() begin drop table a; end', `${A} | ${B} | ${C}`],
    ['drop table b; create trigger t after insert on a for each row begin delete from b; drop table a; end', `${A} | ${C}`],
    ['begin not atomic drop table a; end', `${A} | ${B} | ${C}`],
    ["execute immediate 'drop table a'", `${A} | ${B} | ${C}`],
    ['drop', `${A} | ${B} | ${C}`],
    ["alter table a '", `${A} | ${B} | ${C}`],
    ['rename table', `${A} | ${B} | ${C}`],
  ])('predicts the catalog after %s', (sql, expected) => {
    expect(shown(catalogAfter(sql, before, 'shop'))).toBe(expected);
  });

  it('returns the same catalog if nothing changes', () => {
    expect(catalogAfter('insert into a values (1); alter table none drop x', before, 'shop')).toBe(before);
  });

  it('recognizes renamed objects, and only these', () => {
    const expected = catalogAfter(
      'rename table a to d; alter table d rename column name to title, add name int; create table a (id int)',
      before,
      'shop',
    );
    const found = withIdentities(catalogOf(table('a', ['id']), table('d', ['id', 'title', 'b_id', 'name'])), expected);
    const d = found.tables.get(nameKey({ schema: '', name: 'd' }));
    expect([d?.id, d?.columns.map(({ position }) => position).slice(0, 3)]).toEqual([a.id, [0, 1, 2]]);
    expect(d?.columns[3]?.position).not.toBe(1);
    expect(found.tables.get(nameKey({ schema: '', name: 'a' }))?.id).not.toBe(a.id);
  });
});
