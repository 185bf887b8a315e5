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
    expect(answer).toMatchObject({ status: 200 });
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

  it('has no statement that would repeat a column without all of its definition', () => {
    for (const kind of ['set-type', 'set-required', 'drop-required', 'comment-column', 'create-enum'] as const)
      expect(canDefine(form, kind)).toBe(false);
  });
});
