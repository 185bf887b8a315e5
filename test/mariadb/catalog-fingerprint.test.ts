/** Each change to a table changes the catalog fingerprint, which makes `svc dev` read the catalog again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Source } from '../../src/backend/backend.ts';
import { readCatalogFingerprint } from '../../src/databases/mariadb/catalog-fingerprint.ts';
import { configuration } from '../../src/databases/mariadb/configuration.ts';
import { connect } from '../../src/databases/mariadb/connect.ts';
import { ROOT } from '../../src/util/path.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';

const DEFINITIONS = [
  'create table item (id int primary key, label varchar(20), n int, at timestamp null)',
  "alter table item comment 'said'",
  "alter table item modify label varchar(20) comment 'said too'",
  'alter table item modify n bigint',
  'alter table item modify n bigint unsigned',
  'alter table item modify n bigint unsigned not null',
  'alter table item alter n set default 3',
  'alter table item alter n drop default',
  'alter table item modify label varchar(20) collate utf8mb4_bin',
  'alter table item modify label varchar(20) character set latin1',
  'alter table item modify id int auto_increment',
  'alter table item rename column label to title',
  'alter table item add half int generated always as (id / 2) virtual',
  'alter table item drop half',
  'alter table item add document longtext',
  'alter table item modify document json',
  'alter table item add constraint positive check (n > 0)',
  'alter table item drop constraint positive',
  'alter table item add unique by_title (title)',
  'alter table item drop key by_title',
  'alter table item add unique by_title (title, n)',
  'create table part (id int primary key, item_id int)',
  'alter table part add constraint of_item foreign key (item_id) references item (id)',
  'alter table part drop foreign key of_item',
  'alter table part add constraint itself foreign key (item_id) references part (id)',
  'alter table part drop foreign key itself, drop key itself, drop primary key, add primary key (id, item_id)',
  'alter table part engine = aria',
  'alter table part add system versioning',
  'create view seen as select id, title from item',
  'create or replace view seen as select id, title, n from item',
  'rename table part to piece',
  'alter table item modify title varchar(20) after n',
  'drop view seen',
  'create database other; create table other.item (id int)',
  'drop database other',
];

describe.skipIf(!hasMariadb())('catalog fingerprint of MariaDB', () => {
  let server: TestMariadb;
  let source: Source;
  beforeAll(async () => {
    server = await startMariadb();
    await server.run('create database shop');
    source = await connect(configuration.decode({ connection_info: { connection_string: server.url('shop') } }, ROOT), {
      ...{ sourceName: 's', environment: {}, usePreparedStatements: true, maxConnections: 3 },
    });
  });
  afterAll(async () => {
    await source?.close();
    await server?.stop();
  });

  const mark = async (): Promise<string> =>
    (await readCatalogFingerprint((text, values) => source.query(text, values), null, 0)).definitions;
  const catalog = async (): Promise<string> =>
    JSON.stringify(await source.introspect(), (_, value: unknown) => (value instanceof Map ? [...(value as Map<string, object>)] : value));

  it('changes after each DDL statement that affects the catalog', async () => {
    let [known, described] = [await mark(), await catalog()];
    const missed: string[] = [];
    const unseen: string[] = [];
    for (const definition of DEFINITIONS) {
      await source.runSql(definition, {});
      const [next, now] = [await mark(), await catalog()];
      if (next === known && now !== described) missed.push(definition);
      if (now === described) unseen.push(definition);
      [known, described] = [next, now];
    }
    expect(missed).toEqual([]);
    expect(unseen).toEqual([]);
  });
});
