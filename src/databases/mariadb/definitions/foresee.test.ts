import { describe, expect, it } from 'vitest';
import { type Catalog, type CatalogTable, nameKey } from '../../../catalog/catalog.ts';
import { typeOf } from '../type-of.ts';
import { foresee, identified } from './foresee.ts';

let ids = 0;
function table(name: string, columns: readonly string[], more: Partial<CatalogTable> = {}): CatalogTable {
  return {
    id: ++ids,
    name: { schema: '', name },
    kind: 'table',
    comment: null,
    columns: columns.map((column, position) => ({
      name: column,
      type: typeOf('int'),
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

/** Tables with their columns and where their foreign keys lead. */
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

describe('what is foreseen', () => {
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
    // Made again in its place: what it is like is seen afterwards.
    ['drop table b; create table if not exists b (id int)', `${A} | ${C} | ${B}`],
    ['drop table b; create or replace algorithm = merge definer = `r`@`%` view b as select 1', `${A} | ${C} | ${B}`],
    ['alter table b drop x, add column x text', `${A} | b(id x:text) | ${C}`],
    ['alter table a drop foreign key to_b, add constraint n foreign key (b_id) references b (id)', `${A} | ${B} | ${C}`],
    // What the body of a routine says is not done now.
    ['create or replace definer = current_user procedure p() begin drop table a; end', `${A} | ${B} | ${C}`],
    ['drop table b; create trigger t after insert on a for each row begin delete from b; drop table a; end', `${A} | ${C}`],
    ['begin not atomic drop table a; end', `${A} | ${B} | ${C}`],
    ["execute immediate 'drop table a'", `${A} | ${B} | ${C}`],
    ['drop', `${A} | ${B} | ${C}`],
    ["alter table a '", `${A} | ${B} | ${C}`],
    ['rename table', `${A} | ${B} | ${C}`],
  ])('by %s', (sql, expected) => {
    expect(shown(foresee(sql, before, 'shop'))).toBe(expected);
  });

  it('is the same catalog where nothing changes', () => {
    expect(foresee('insert into a values (1); alter table none drop x', before, 'shop')).toBe(before);
  });

  it('knows under new names what was there before, and nothing else', () => {
    const foreseen = foresee(
      'rename table a to d; alter table d rename column name to title, add name int; create table a (id int)',
      before,
      'shop',
    );
    const found = identified(catalogOf(table('a', ['id']), table('d', ['id', 'title', 'b_id', 'name'])), foreseen);
    const d = found.tables.get(nameKey({ schema: '', name: 'd' }));
    expect([d?.id, d?.columns.map(({ position }) => position).slice(0, 3)]).toEqual([a.id, [0, 1, 2]]);
    expect(d?.columns[3]?.position).not.toBe(1);
    expect(found.tables.get(nameKey({ schema: '', name: 'a' }))?.id).not.toBe(a.id);
  });
});
