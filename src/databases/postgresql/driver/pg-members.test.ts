/** Undocumented members of `pg` that the take-over of connections depends on: docs/adr/0001-postgresql-driver.md. */
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServerUrl } from '../../../../test/support/postgres.ts';

const CHANGED = 'pg has changed: adapt src/databases/postgresql/driver/open-session.ts before you update it';

interface Members {
  readonly connection?: { readonly stream?: unknown };
  readonly processID?: unknown;
  readonly secretKey?: unknown;
}

const stream = new Socket();
const client = new pg.Client({ connectionString: testServerUrl(), ssl: false, stream: () => stream });
const members = client as unknown as Members;

beforeAll(() => client.connect());
afterAll(() => client.end());

it('pins pg to the installed version', () => {
  const version = (path: URL | string): unknown => JSON.parse(readFileSync(path, 'utf8'));
  const { dependencies } = version(new URL('../../../../package.json', import.meta.url)) as { dependencies: Record<string, string> };
  const installed = version(new URL('../../../../node_modules/pg/package.json', import.meta.url)) as { version: string };
  expect(dependencies['pg'], 'an undeclared member may change in any version of pg: no range').toBe(installed.version);
});

it('finds the socket to the server in connection.stream', () => {
  expect(members.connection?.stream, `connection.stream: ${CHANGED}`).toBe(stream);
  expect(stream.listenerCount('data'), `data of connection.stream: ${CHANGED}`).toBeGreaterThan(0);
});

it('finds the values of a cancel request in processID and secretKey', async () => {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  expect(members.processID, `processID: ${CHANGED}`).toBe(rows[0]?.pid);
  expect(Number.isInteger(members.secretKey), `secretKey: ${CHANGED}`).toBe(true);
});
