/** Rows of MariaDB that are written as seeds and restored identically. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

const TABLE = `create table \`odd \`\`' na\\me\` (
  id bigint unsigned auto_increment primary key, \`select\` varchar(200), latin text character set latin1, kind enum('it''s', 'b'), more set('x', 'y'),
  flag boolean, small tinyint zerofill, exact decimal(40, 10), inexact double, less float, bits bit(64), one bit(1), raw varbinary(20), fixed binary(3),
  blobs longblob, document json, at datetime(6), stamp timestamp(3) null, day date, clock time(2), yr year, mark uuid, addr inet6,
  place geometry, spot point, half int generated always as (flag + 2) stored, twice int as (flag * 2) virtual)`;
const ROWS = `insert into \`odd \`\`' na\\me\` (id, \`select\`, latin, kind, more, flag, small, exact, inexact, less, bits, one, raw, fixed, blobs, document, at, stamp, day, clock, yr, mark, addr, place, spot) values
  (0, 'it''s; commit; \\\\', 'é\\\\''', 'it''s', 'x,y', true, 7, 123456789012345678901234567890.0123456789, 1e308, 0.1, 18446744073709551615, 1, 0x00ff27, 'a', 0x5c27, '{"a": "it''s \\\\\\\\ \\\\n"}', '2020-01-02 03:04:05.123456', '2038-01-01 00:00:00.5', '0000-00-00', '-838:59:59.99', 2155, uuid(), '::1', st_geomfromtext('polygon((0 0,1 0,1 1,0 0))', 4326), point(0.1, -2)),
  (18446744073709551615, '', '', 'b', '', false, 0, -0.5, -1.5e-300, 16777216, 0, 0, '', '', '', 'null', '9999-12-31 23:59:59.999999', '1970-01-01 00:00:01', '9999-12-31', '838:59:59.99', 1901, null, null, null, null),
  (3, 'null', 'NULL', null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
  (4, char(0, 9, 10, 13, 26, 39, 92 using utf8mb4), null, null, null, null, null, null, 0.1, 3.4e38, null, null, null, null, null, '[]', null, null, null, null, null, null, null, null, null),
  (5, '😀 -- /* \\\\''; drop table x', null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null)`;

describe.skipIf(!hasMariadb())('seeds of MariaDB', () => {
  let mariadb: TestMariadb;
  let service: TestService;
  let project: ProjectFolder;
  const zero = "set sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'";
  beforeAll(async () => {
    mariadb = await startMariadb();
    await mariadb.run(
      `set names utf8mb4; set time_zone = '+00:00'; ${zero}; create database shop character set utf8mb4; use shop; ${TABLE}; ${ROWS}; create table pair (a int, b int, primary key (a, b)); insert into pair values (1, 2); create table bare (n int); create database other; create table other.item (id int primary key); insert into other.item values (7)`,
    );
    service = await startTestService({}, { SHOP: mariadb.url('shop') });
    project = projectFolder(service);
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml':
        '- name: shop\n  kind: dbb\n  configuration: {connection_info: {connection_string: {from_env: SHOP}}}\n  tables: []\n',
    });
    expect((await project.svc('deploy', '--json')).json).toMatchObject({ ok: true });
  });
  afterAll(async () => {
    await service?.stop();
    await mariadb?.stop();
    project?.remove();
  });

  const cell = async (sql: string): Promise<Json> => {
    const body = printJson({ type: 'dbb_run_sql', args: { source: 'shop', sql } });
    const answer = await service.send('/v2/query', { method: 'POST', body });
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  };
  const create = async (...tables: readonly string[]): Promise<JsonObject> =>
    (await project.svc('seed', 'create', 'rows', '--database-name', 'shop', '--json', ...tables)).json;

  it('restore the rows that they were created from, whatever their values', async () => {
    const exact = [
      'id',
      'flag',
      'small',
      'exact',
      'inexact',
      'less + 0e0',
      'bits + 0',
      'one + 0',
      'at',
      'stamp',
      'day',
      'clock',
      'yr',
      'half',
      'twice',
    ];
    const byBytes = ['`select`', 'latin', 'kind', 'more', 'raw', 'fixed', 'blobs', 'document', 'mark', 'addr', 'place', 'spot'];
    const columns = [...exact, ...byBytes.map((column) => `hex(${column})`)].join(', ');
    const whole = `select ${columns} from \`odd \`\`' na\\me\` order by id`;
    const before = [await cell(whole), await cell('select * from pair')];
    const made = await create('--from-table', "odd `' na\\me", '--from-table', 'pair', '--from-table', 'other.item', '--upsert');
    expect(made, JSON.stringify(made)).toMatchObject({ ok: true });
    const sql = project.read(String(made['file']));
    expect(sql).toContain('insert into `other`.`item` (`id`) values (7) on duplicate key update `id` = values(`id`);');
    expect(sql).not.toMatch(/`half`|`twice`/);
    const apply = async () => expect((await project.svc('seed', 'apply', '--json')).json).toMatchObject({ ok: true });
    await cell("update `odd ``' na\\me` set `select` = 'other'; delete from pair; delete from other.item");
    await apply();
    expect([await cell(whole), await cell('select * from pair')]).toEqual(before);
    await cell("delete from `odd ``' na\\me`");
    await apply();
    expect([await cell(whole), await cell('select * from pair')]).toEqual(before);
  });

  it('are rejected without such a table, or without a key', async () => {
    expect((await create('--from-table', 'nothing'))['errors']).toMatchObject([{ code: 'not-exists' }]);
    expect((await create('--from-table', 'bare', '--upsert'))['errors']).toMatchObject([{ code: 'seed' }]);
  });
});
