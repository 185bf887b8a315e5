/** A real Citus cluster, whose coordinator is `SVC_TEST_DBC_URL` (`scripts/test-citus.mjs`). */
import pg from 'pg';
import { describe } from 'vitest';
import type { TestService } from '../support/service.ts';

/** URL of the coordinator's database; empty if there is none. */
export const CITUS_URL = process.env['SVC_TEST_DBC_URL'] ?? '';
if (CITUS_URL === '') process.stderr.write('SVC_TEST_DBC_URL is not set: the tests on a real Citus are skipped\n');

export const describeCitus = describe.skipIf(CITUS_URL === '');

/** Runs `use` with a client of the coordinator. */
export async function withCoordinator<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: CITUS_URL });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Runs SQL on the coordinator, statement by statement: Citus refuses several DDL statements on distributed tables in one text. */
export async function onCoordinator(...statements: readonly string[]): Promise<void> {
  await withCoordinator(async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

/** Adds the cluster to a service that was started with `citusEnvironment`. */
export async function addCitus(service: TestService, name: string): Promise<void> {
  await service.metadata('dbc_add_source', { name, configuration: { connection_info: { database_url: { from_env: 'CITUS' } } } });
}

export const citusEnvironment = { CITUS: CITUS_URL };
