/** Tables of MariaDB with a column of every family, and a service with the source `shop`. */
import { startTestService, type TestService } from '../support/service.ts';
import { startMariadb, type TestMariadb } from '../support/mariadb.ts';

const TABLES = String.raw`
create database shop; create database other; use shop;
create table author (
  id bigint primary key, name varchar(40) not null, active boolean not null, rating decimal(40,5), born date, seen timestamp(6) null,
  made datetime(3), at_time time(2), facts json, total bigint unsigned, mark bit(5), code int(6) zerofill, score double, small float,
  kind enum('x','y'), photo varbinary(20), tag varchar(20) character set latin1, place point, hidden int invisible default 1,
  twice int generated always as (length(name) * 2)) comment 'who writes';
create table article (id int primary key, author_id bigint, title varchar(60) collate utf8mb4_unicode_ci, likes int, published boolean not null,
  constraint article_author foreign key (author_id) references author (id));
create table tag (article_id int, label varchar(20), primary key (article_id, label), foreign key (article_id) references article (id));
create view famous as select id, name from author where rating > 1;
create table big (id int primary key, body mediumtext);
create table other.note (id int primary key, text varchar(20));
insert into author (id, name, active, rating, born, seen, made, at_time, facts, total, mark, code, score, small, kind, photo, tag, place) values
 (9007199254740993, 'Ann', 1, 12345678901234567890123456789012345.12345, '1980-02-29', '2024-01-02 03:04:05.123456',
  '2024-01-02 03:04:05.123', '13:00:00.25', '{"a": 1.10, "b": [1, {"c": null}]}', 18446744073709551615, b'10101', 42, 0.1, 0.1, 'x',
  x'00ff10', 'café', point(1,2)),
 (2, 'bob', 0, null, null, null, null, null, null, null, null, null, 1e20, null, null, null, null, null),
 (3, 'Cid', 2, 1.5, '2000-01-01', null, null, null, '[1, 2]', 5, null, null, null, null, 'y', null, 'b', null);
insert into article values (1, 9007199254740993, 'one', 10, 1), (2, 9007199254740993, 'Two', 30, 1),
 (3, 9007199254740993, 'three', null, 0), (4, 3, 'four', 5, 1), (5, null, 'a \\ "b" \'c\' \n', 1, 0);
insert into tag values (1, 'a'), (1, 'b'), (2, 'c');
insert into big select seq, repeat('x', 40000) from seq_1_to_40;
insert into other.note values (1, 'elsewhere');
`;

export interface Shop {
  readonly service: TestService;
  readonly database: TestMariadb;
  stop(): Promise<void>;
}

export async function openShop(): Promise<Shop> {
  const database = await startMariadb();
  const service = await startTestService({}, { SHOP: database.url('shop') });
  await database.run(TABLES);
  await service.metadata('dbb_add_source', {
    name: 'shop',
    configuration: {
      connection_info: { connection_string: { from_env: 'SHOP' }, pool_settings: { max_connections: 4, idle_timeout: 30 } },
    },
  });
  for (const table of ['author', 'article', 'tag', 'famous', 'big', { schema: 'other', name: 'note' }]) {
    await service.metadata('dbb_track_table', { source: 'shop', table });
  }
  const relate = (kind: string, table: string, name: string, using: unknown): Promise<unknown> =>
    service.metadata(`dbb_create_${kind}_relationship`, {
      source: 'shop',
      table,
      name,
      using: { foreign_key_constraint_on: using },
    } as never);
  await relate('object', 'article', 'author', 'author_id');
  await relate('array', 'author', 'articles', { table: 'article', column: 'author_id' });
  await relate('array', 'article', 'tags', { table: 'tag', column: 'article_id' });
  return {
    service,
    database,
    async stop() {
      await service.stop();
      await database.stop();
    },
  };
}
