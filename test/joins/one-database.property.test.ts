/**
 * A tree of tables has the same answers in one database and spread over two and a GraphQL server; sometimes one of the two is a MariaDB,
 * if it is installed.
 */
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cases, DEEP } from '../support/deep.ts';
import { hasMariadb, startMariadb } from '../support/mariadb.ts';
import { compareScattered, type Other, startScattered, stopScattered, TABLES } from './scattered.ts';

const MARIADB_DDL = TABLES.map(
  (name) =>
    `create table ${name} (id int primary key, code varchar(20) unique, n int, m bigint, s varchar(20), c varchar(3), v int, key (n), key (s))
     default character set utf8mb4 collate utf8mb4_nopad_bin;`,
).join('\n');

let mariadb: (Other & { stop(): Promise<void> }) | null = null;

async function otherOnMariadb(): Promise<NonNullable<typeof mariadb>> {
  const server = await startMariadb();
  await server.run(`create database right_side; use right_side; ${MARIADB_DDL}`);
  const connection = await createConnection({ uri: server.url('right_side'), multipleStatements: true });
  return {
    kind: 'dbb',
    configuration: { connection_info: { connection_string: server.url('right_side'), pool_settings: { max_connections: 3 } } },
    named: (table) => table,
    naming: () => ({}),
    async fill(tables) {
      await connection.query(TABLES.map((name) => `truncate ${name}`).join(';'));
      for (const { name, rows } of tables) {
        for (const { id, code, n, m, s, c, v } of rows)
          await connection.query(`insert into ${name} values (?)`, [[id, code, n, m, s, c, v]]);
      }
    },
    async stop() {
      await connection.end();
      await server.stop();
    },
  };
}

beforeAll(async () => {
  await startScattered();
  // A short run has too few worlds for a third kind, unless it tests that kind.
  const isWanted = DEEP || process.env['SVC_TEST_REQUIRE_MARIADB'] === '1';
  if (isWanted && hasMariadb()) mariadb = await otherOnMariadb();
});
afterAll(async () => {
  await stopScattered();
  await mariadb?.stop();
});

test(
  'returns the same bytes from one database and from three locations',
  async () => {
    const { crossed, mixed } = await compareScattered({ worlds: cases(40, 2), queries: cases(40, 10) }, mariadb);
    expect(crossed).toBeGreaterThan(0);
    if (DEEP && mariadb !== null) expect(mixed).toBeGreaterThan(0);
  },
  DEEP ? 1_200_000 : 180_000,
);
