/** The console's SQL for the structure of tables, on a MariaDB server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canDefine, type Definition, readOf, sqlOf } from '../../console/src/model/definitions.ts';
import { STRUCTURES } from '../../console/src/model/structures.generated.ts';
import type { Json } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService, type TestService } from '../support/service.ts';

const HOSTILE = `we\`ird'; $1 {table} [x] -- ünï \\`;

describe.skipIf(!hasMariadb())('structure of tables in MariaDB', () => {
  const form = STRUCTURES['dbb'];
  let server: TestMariadb;
  let service: TestService;
  beforeAll(async () => {
    server = await startMariadb();
    await server.run('create database shape');
    service = await startTestService({}, { SHAPE: server.url('shape') });
    const connection_info = { connection_string: { from_env: 'SHAPE' } };
    await service.metadata('dbb_add_source', { name: 'shape', configuration: { connection_info } });
  });
  afterAll(async () => {
    await service?.stop();
    await server?.stop();
  });

  const runSql = async (sql: string, args: object = {}): Promise<readonly Json[]> => {
    const answer = await service.send('/v2/query', {
      method: 'POST',
      body: JSON.stringify({ type: 'dbb_run_sql', args: { source: 'shape', sql, ...args } }),
    });
    expect(answer, `${sql}: ${answer.text}`).toMatchObject({ status: 200 });
    return ((answer.json as { result: Json[] | null }).result ?? []).slice(1);
  };

  it('changes and reads tables with hostile names', async () => {
    if (form === undefined) throw new Error('the form is missing');
    const column = { type: 'int', isRequired: true, isGenerated: false, default: '', comment: '' };
    const [author, book] = ['author', HOSTILE].map((name) => ({ schema: '', name }));
    if (author === undefined || book === undefined) throw new Error('a table is missing');
    const id = { ...column, name: 'id', isGenerated: true };
    const changes: readonly Definition[] = [
      { kind: 'create-table', table: author, columns: [id], primaryKey: ['id'], comment: HOSTILE },
      {
        kind: 'create-table',
        table: book,
        columns: [
          id,
          { ...column, name: 'author_id', comment: HOSTILE },
          { ...column, name: HOSTILE, type: 'varchar(20)', default: "'it''s'" },
        ],
        primaryKey: ['id'],
        comment: '',
      },
      { kind: 'add-column', table: book, column: { ...column, name: 'price' } },
      { kind: 'rename-column', table: book, column: 'price', to: 'cents' },
      { kind: 'set-default', table: book, column: 'cents', default: '3' },
      { kind: 'drop-default', table: book, column: 'cents' },
      {
        ...{ kind: 'add-foreign-key', table: book, constraint: 'to_author', columns: ['author_id'], target: author },
        ...{ targetColumns: ['id'], onDelete: 'cascade', onUpdate: '' },
      },
      { kind: 'add-check', table: book, constraint: 'positive', check: 'cents > 0' },
      { kind: 'add-unique', table: book, constraint: 'one', columns: [HOSTILE, 'cents'] },
      { kind: 'create-index', table: book, index: HOSTILE, columns: ['cents'], isUnique: false, method: '', where: '' },
    ];
    for (const change of changes) await runSql(sqlOf([change], form), { check_metadata_consistency: true });
    const read = (sql: string): Promise<readonly Json[]> => runSql(readOf(sql, book, form), { read_only: true });
    expect(await read(form.reads.size)).toEqual([[expect.stringMatching(/^\d+$/), ...Array(3).fill(expect.stringMatching(/^\d+$/))]]);
    expect(await read(form.reads.constraints)).toEqual([
      ['PRIMARY', 'primary-key', 'primary key (id)'],
      ['one', 'unique', `unique (${HOSTILE}, cents)`],
      ['to_author', 'foreign-key', 'foreign key (author_id) references author on delete cascade on update restrict'],
      ['positive', 'check', 'check (`cents` > 0)'],
    ]);
    expect((await read(form.reads.indexes)).map((row) => (row as string[])[0]).sort()).toEqual(
      ['PRIMARY', 'one', 'to_author', HOSTILE].sort(),
    );
    expect(await read(form.reads.triggers)).toEqual([]);

    const drops: readonly Definition[] = [
      { kind: 'drop-index', table: book, index: HOSTILE },
      { kind: 'drop-unique', table: book, constraint: 'one' },
      { kind: 'drop-check', table: book, constraint: 'positive' },
      { kind: 'drop-foreign-key', table: book, constraint: 'to_author' },
      { kind: 'drop-column', table: book, column: HOSTILE },
      { kind: 'comment-table', table: book, comment: HOSTILE },
      { kind: 'rename-table', table: book, to: 'novel' },
      { kind: 'drop-table', table: { schema: '', name: 'novel' } },
    ];
    for (const change of drops) await runSql(sqlOf([change], form), { check_metadata_consistency: true });
    expect(await runSql('show tables', { read_only: true })).toEqual([['author']]);
  });

  it('changes the type of a column, and keeps the rest of its definition', async () => {
    if (form === undefined) throw new Error('the form is missing');
    const name = `odd's \\`;
    const columns = [
      `id int not null auto_increment`,
      "title varchar(20) character set latin1 collate latin1_bin not null default 'it''s' comment 'A ''title'' \\\\ 5'",
      'at timestamp(3) null default current_timestamp(3) on update current_timestamp(3)',
      'price int invisible default (1 + 2) check (price > 0)',
      'doc json',
      'double_price int generated always as (price * 2) stored',
    ];
    const table = { schema: '', name };
    await runSql(`create table \`odd's \\\` (${columns.join(', ')}, primary key (id))`, { check_metadata_consistency: true });
    const definition = async (column: string): Promise<string> => {
      const [row] = await runSql(`show create table \`odd's \\\``, { read_only: true });
      return String((row as Json[])[1])
        .split('\n')
        .find((line) => line.includes(`  \`${column}\``)) as string;
    };
    const stays = async (column: string): Promise<{ readonly default: string; readonly comment: string }> => {
      const [row] = await runSql(
        `select coalesce(column_default, ''), column_comment from information_schema.columns where table_name like 'odd%' and column_name = '${column}'`,
        { read_only: true },
      );
      const [value = '', comment = ''] = (row as string[]) ?? [];
      return { default: value === 'NULL' ? '' : value, comment };
    };
    const attributes = async (column: string, type: string): Promise<readonly Json[]> => {
      const [row] = await runSql(readOf(form.reads.columnAttributes ?? '', table, form, { column, type }), { read_only: true });
      return row as Json[];
    };
    for (const [column, type, was, is] of [
      ['id', 'bigint', 'int(11)', 'bigint(20)'],
      ['title', 'varchar(300)', 'varchar(20)', 'varchar(300)'],
      ['at', 'datetime(3)', 'timestamp(3) NULL', 'datetime(3)'],
      ['price', 'bigint', 'int(11)', 'bigint(20)'],
    ] as const) {
      const before = await definition(column);
      const [found, check, problem] = await attributes(column, type);
      expect(problem).toBe('');
      const rest = { attributes: String(found), check: String(check), ...(await stays(column)) };
      await runSql(sqlOf([{ kind: 'set-type', table, column, type, using: '', rest }], form), { check_metadata_consistency: true });
      expect(await definition(column)).toBe(before.replace(was, is));
    }
    expect(await attributes('at', 'timestamp(6)')).toEqual(['null on update current_timestamp(6)', '', '']);
    expect(await attributes('at', 'date')).toEqual(['null', '', '']);
    const latin = 'character set latin1 collate latin1_bin not null';
    for (const type of ["enum('binary', 'text')", "set('it''s ascii', \"a collate\")", 'long varchar', 'LONG', 'text'])
      expect(await attributes('title', type), type).toEqual([latin, '', '']);
    for (const type of ['varbinary(9)', 'long varbinary', "enum('a') character  set utf8mb4", 'char(5) ascii', 'text collate utf8mb4_bin'])
      expect(await attributes('title', type), type).toEqual(['not null', '', '']);
    const asText = String((await attributes('title', 'varchar(9) character set utf8mb4'))[0]);
    expect(asText).toBe('not null');
    const rest = { attributes: String((await attributes('title', 'int'))[0]), check: '', default: '', comment: '' };
    await runSql(sqlOf([{ kind: 'set-type', table, column: 'title', type: 'int', using: '', rest }], form));
    expect(await definition('title')).toBe('  `title` int(11) NOT NULL,');
    const [ofText, noCheck] = await attributes('doc', 'longtext');
    const json = { attributes: String(ofText), check: String(noCheck), default: '', comment: '' };
    await runSql(sqlOf([{ kind: 'set-type', table, column: 'doc', type: 'longtext', using: '', rest: json }], form));
    expect(await definition('doc')).not.toContain('json_valid');
    expect((await attributes('double_price', 'bigint'))[2]).toContain('generated');
  });

  it('has no statement that would repeat a column without all of its definition', () => {
    for (const kind of ['set-required', 'drop-required', 'comment-column', 'create-enum'] as const)
      expect(canDefine(form, kind)).toBe(false);
  });
});
