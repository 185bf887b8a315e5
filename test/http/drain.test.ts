import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { runHealth } from '../../src/cli/run/health.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const SECRET = 'of-admins';
let service: TestService;
let isStopped = false;

beforeAll(async () => {
  service = await startTestService({
    ADMIN_SECRET: SECRET,
    SHUTDOWN_DELAY: '3',
    TRUSTED_PROXIES: '127.0.0.0/8,::1',
    SLOW_QUERY_LOG: '1',
    UNAUTHORIZED_ROLE: 'anonymous',
  });
  await service.sql('create table note (id int primary key); insert into note values (1)');
  await service.sql(`create function slowly() returns setof note language sql volatile as $$ select n.* from note n, pg_sleep(0.02) $$`);
  await service.metadata('pg_track_table', { table: 'note' });
  await service.metadata('pg_track_function', { function: 'slowly' });
});
afterAll(async () => {
  if (!isStopped) await service.stop();
});

const health = (options: Record<string, string | boolean>) =>
  runHealth({ options: { url: service.url, ...options }, environment: {} } as never);

describe('health probes', () => {
  it.each(['/livez', '/readyz'])('%s returns OK without credentials', async (path) => {
    expect(await service.send(path)).toMatchObject({ status: 200, text: 'OK' });
  });

  it('return details to administrators', async () => {
    const answer = await service.send('/readyz?verbose', { headers: { 'x-svc-admin-secret': SECRET } });
    expect(answer.json).toMatchObject({
      ready: true,
      reason: null,
      inconsistent_objects: 0,
      metadata_database: 'answers',
      sources: { default: 'open' },
    });
    expect((await service.send('/readyz?verbose')).status).toBe(403);
  });

  it('are not logged while they succeed', async () => {
    const before = service.observations.length;
    for (const path of ['/livez', '/readyz', '/healthz']) await service.send(path);
    expect(service.observations.slice(before)).toEqual([]);
    await service.send('/readyz?verbose');
    expect(service.observations.slice(before)).toMatchObject([{ kind: 'http', status: 403 }]);
  });

  it('are used by svc health', async () => {
    expect(await health({})).toMatchObject({ text: 'OK' });
    expect(await health({ ready: true })).toMatchObject({ text: 'OK' });
    expect(await health({ url: 'http://127.0.0.1:9' })).toMatchObject({ exit: 1, problems: [{ code: 'unhealthy' }] });
    expect(await health({ url: 'ftp://nothing' })).toMatchObject({ exit: 2 });
    expect(await health({ timeout: '-1' })).toMatchObject({ exit: 2 });
  });
});

it('end svc health at its timeout if the response arrives in drops', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 });
    const drops = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(drops));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await health({ url, timeout: '0.2' })).toMatchObject({ exit: 1, problems: [{ message: expect.stringContaining('0.2 s') }] });
  server.close();
  server.closeAllConnections();
});

describe('the log', () => {
  it('has the address of the client behind trusted proxies', async () => {
    await service.send('/nowhere', { headers: { 'x-forwarded-for': '1.2.3.4, 203.0.113.9' } });
    expect(service.observations.at(-1)).toMatchObject({ kind: 'http', ip: '203.0.113.9' });
  });

  it('has slow operations with their SQL but not its values', async () => {
    await service.graphql('mutation Slow($id: Int) { slowly(where: {id: {_eq: $id}}) { id } }', { variables: { id: 4711 } });
    const found = service.observations.filter(({ kind }) => kind === 'slow-query');
    expect(found.at(-1)).toMatchObject({ kind: 'slow-query', type: 'mutation', role: 'admin', statements: [{ source: 'default' }] });
    expect(JSON.stringify(found.at(-1))).toContain('slowly');
    expect(JSON.stringify(found.at(-1))).not.toContain('4711');
  });

  it('has a line for each metadata change, without its arguments', async () => {
    const { resourceVersion } = {
      resourceVersion: Number(((await service.metadata('export_metadata', {}, { version: 2 })) as never)['resource_version']),
    };
    const before = service.observations.length;
    await service.send('/v1/metadata', {
      method: 'POST',
      headers: { 'x-svc-admin-secret': SECRET, 'x-svc-role': 'admin', 'x-svc-user-id': '17', 'x-request-id': 'audited' },
      body: JSON.stringify({
        type: 'bulk',
        args: [
          { type: 'pg_untrack_table', args: { table: 'note', cascade: true } },
          { type: 'pg_track_table', args: { table: 'note' } },
        ],
      }),
    });
    const audits = service.observations.slice(before).filter(({ kind }) => kind === 'audit');
    expect(audits).toEqual([
      {
        kind: 'audit',
        requestId: 'audited',
        role: 'admin',
        user: '17',
        ip: expect.any(String),
        types: ['pg_untrack_table', 'pg_track_table'],
        versionBefore: resourceVersion,
        versionAfter: resourceVersion + 1,
        error: null,
      },
    ]);
  });

  it('has rejected changes and run_sql', async () => {
    const before = service.observations.length;
    await expect(service.metadata('pg_track_table', { table: 'missing' })).rejects.toThrow();
    await service.sql(`comment on table note is 'secret'`);
    await service.metadata('plan_changes', { migrations: [{ source: 'default', version: '1', sql: "select 'secret'" }] });
    await service.metadata('plan_changes', {});
    await service.metadata('export_metadata', {});
    const audits = service.observations.slice(before).filter(({ kind }) => kind === 'audit');
    expect(audits).toMatchObject([
      { types: ['pg_track_table'], error: expect.any(String) },
      { types: ['run_sql'], error: null },
      { types: ['plan_changes'], error: null },
    ]);
    expect(JSON.stringify(audits)).not.toContain('secret');
  });
});

it('rejects run_sql if it is disabled, and only that', async () => {
  const other = await startTestService({ DISABLE_RUN_SQL: 'true' });
  try {
    for (const [path, type] of [
      ['/v2/query', 'run_sql'],
      ['/v2/query', 'pg_run_sql'],
      ['/v1/query', 'run_sql'],
    ] as const) {
      const refused = await other.send(path, {
        method: 'POST',
        body: JSON.stringify({ type, args: { sql: 'select 1', read_only: true } }),
      });
      expect(refused).toMatchObject({ status: 403, json: { code: 'access-denied', error: expect.stringContaining('--disable-run-sql') } });
    }
    const nested = { type: 'bulk', args: [{ type: 'run_sql', args: { sql: 'create table made (id int)' } }] };
    expect((await other.send('/v2/query', { method: 'POST', body: JSON.stringify(nested) })).status).toBe(403);
    const tried = { migrations: [{ source: 'default', version: '1', sql: 'create table made (id int); commit' }] };
    for (const args of [tried, { prelude: 'select 1' }]) {
      expect(await other.send('/v1/metadata', { method: 'POST', body: JSON.stringify({ type: 'plan_changes', args }) })).toMatchObject({
        status: 403,
        json: { code: 'access-denied', error: expect.stringContaining('"plan_changes"') },
      });
    }
    expect(await other.metadata('plan_changes', {})).toMatchObject({ migrations: [] });
    expect(await other.metadata('export_metadata', {})).toMatchObject({ version: 3 });
  } finally {
    await other.stop();
  }
});

it.each(['10.0.0.0/33', 'proxy.local', '10.0.0.0/', '1.2.3.4/8/9', '::1/129'])('rejects %s as a trusted proxy', (text) => {
  expect(() => loadConfig({ argv: ['--trusted-proxies', text], environment: {} })).toThrow(/10\.0\.0\.0\/8/);
});

describe('a graceful stop', () => {
  it('keeps serving while load balancers detect it', async () => {
    const stopping = service.stop();
    isStopped = true;
    await vi.waitFor(async () => expect((await service.send('/readyz')).text).toBe('STOPPING'), WAIT);
    expect((await service.send('/readyz')).status).toBe(503);
    expect((await service.send('/livez')).status).toBe(200);
    expect(await health({ ready: true })).toMatchObject({ exit: 1 });
    expect(await service.graphql('{ note { id } }')).toEqual({ data: { note: [{ id: 1 }] } });
    await stopping;
    await expect(service.send('/livez')).rejects.toThrow();
  });
});
