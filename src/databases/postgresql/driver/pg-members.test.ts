/** What the take-over of connections uses of `pg` without being promised it: docs/adr/0001-postgresql-driver.md. */
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServerUrl } from '../../../../test/support/postgres.ts';

const CHANGED = 'pg has changed: src/databases/postgresql/driver/open-session.ts has to follow before it may be updated';

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

it('pg is pinned to one version, the one that is installed', () => {
  const version = (path: URL | string): unknown => JSON.parse(readFileSync(path, 'utf8'));
  const { dependencies } = version(new URL('../../../../package.json', import.meta.url)) as { dependencies: Record<string, string> };
  const installed = version(new URL('../../../../node_modules/pg/package.json', import.meta.url)) as { version: string };
  expect(dependencies['pg'], 'an undeclared member may change in any version of pg: no range').toBe(installed.version);
});

it('connection.stream is the socket that speaks to the server', () => {
  expect(members.connection?.stream, `connection.stream: ${CHANGED}`).toBe(stream);
  expect(stream.listenerCount('data'), `data of connection.stream: ${CHANGED}`).toBeGreaterThan(0);
});

it('processID and secretKey are what a cancel request needs', async () => {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  expect(members.processID, `processID: ${CHANGED}`).toBe(rows[0]?.pid);
  expect(Number.isInteger(members.secretKey), `secretKey: ${CHANGED}`).toBe(true);
});
