/** PostgreSQL and MariaDB give the same answers to the same requests. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../support/deep.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { READS, ROLE_READS, ROLES } from '../support/twin-reads.ts';
import { startTwins, type Twins } from '../support/twins.ts';

const tables = (text: string, double: string): string => `
create table writer (id int primary key, name ${text} not null, age int, boss_id int references writer (id));
create table book (id int primary key, writer_id int references writer (id), title ${text}, price decimal(10,2), sold boolean not null, day date);
create table mark (book_id int references book (id), label ${text}, primary key (book_id, label));
create table score (id int primary key, writer_id int references writer (id), points ${double});
insert into writer values (1, 'a', 50, null), (2, 'B', null, 1), (3, 'c_%', 30, 1), (4, 'ä"\\/', 30, 3), (5, '', 0, 5);
insert into book values (1, 1, 'one', 1.50, true, '2020-01-01'), (2, 1, 'two', 2.25, false, null), (3, 1, null, null, true, '2020-01-02'),
 (4, 2, 'four', 0, false, '1999-12-31'), (5, 3, 'one', 10.00, true, null), (6, null, 'six', 7.10, true, '2020-01-01'), (7, 1, 'seven', 1.50, false, null);
insert into mark values (1, 'x'), (1, 'y'), (2, 'x'), (5, 'z'), (6, 'x');
insert into score values (1, 1, 2), (2, 1, 2), (3, 1, -2), (4, 1, -2), (5, 2, 3), (6, 2, 3), (7, 3, null), (8, 4, 1), (9, 4, 4), (10, 4, 4);`;

describe.skipIf(!hasMariadb())('PostgreSQL and MariaDB', () => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins(['writer', 'book', 'mark', 'score'], {
      pg: tables('text collate "C"', 'float8'),
      dbb: tables('varchar(40) collate utf8mb4_bin', 'double').replaceAll('\\', '\\\\'),
    });
    await twins.relate('object', 'writer', 'boss', 'boss_id');
    await twins.relate('array', 'writer', 'staff', { table: 'writer', column: 'boss_id' });
    await twins.relate('array', 'writer', 'books', { table: 'book', column: 'writer_id' });
    await twins.relate('object', 'book', 'writer', 'writer_id');
    await twins.relate('array', 'book', 'marks', { table: 'mark', column: 'book_id' });
    await twins.relate('object', 'mark', 'book', 'book_id');
    await twins.relate('array', 'writer', 'scores', { table: 'score', column: 'writer_id' });
    // Each column compared with another one, and columns that only some may see.
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

  it.each(sample(READS, 6))('answer %s alike', async (request) => {
    const theirs = await twins.answer('pg', request);
    expect(theirs).toContain('"data"');
    expect(await twins.answer('dbb', request)).toBe(theirs);
  });

  it.each([
    ['sum', '_eq: 3'],
    ['sum', '_eq: 0'],
    ['avg', '_eq: 2.5'],
    ['avg', '_eq: 0'],
    ['max', '_gte: 3'],
    ['stddev_samp', '_gt: -1'],
    ['stddev_samp', '_lt: 2.5'],
    ['var_samp', '_eq: 8'],
    ['var_samp', '_lte: 4.5'],
  ])('find rows whose related rows have a %s of distinct values with %s', async (name, comparison) => {
    const condition = `{scores_aggregate: {${name}: {arguments: points, distinct: true, predicate: {${comparison}}}}}`;
    const request = `{ _writer(where: ${condition}, order_by: {id: asc}) { id } }`;
    const theirs = await twins.answer('pg', request);
    expect(theirs).toContain('"id"');
    expect(await twins.answer('dbb', request)).toBe(theirs);
  });

  it.each(ROLES)('show $role with $session the same rows', async (options) => {
    for (const request of ROLE_READS) {
      const theirs = await twins.answer('pg', request, options);
      expect(theirs).toContain('"data"');
      expect(await twins.answer('dbb', request, options)).toBe(theirs);
    }
  });
});
