/** Databases that accept connections and stop responding, at once or after a while. */
import { generateKeyPairSync } from 'node:crypto';
import net from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEEP } from '../../test/support/deep.ts';
import { testDatabase, type TestDatabase, runSql } from '../../test/support/postgres.ts';
import { type Relay, relayTo } from '../../test/support/relay.ts';
import type { Backend, Source } from '../backend/backend.ts';
import { backends } from '../databases/index.ts';
import { postgresql } from '../databases/postgresql/index.ts';
import { SvcError } from '../errors/svc-error.ts';
import { nameKey } from '../catalog/catalog.ts';
import type { SourceMetadata } from '../metadata/metadata.ts';
import { newTable } from '../metadata/table.ts';
import { NO_CUSTOMIZATION } from '../metadata/source.ts';
import { createOutboundClient } from '../http-client/client.ts';
import type { Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { type LiveSource, type OpenContext, openSource, refreshSource } from './live-source.ts';
import type { CallOptions } from '../util/deadline.ts';

const http = createOutboundClient();
const color = { schema: 'public', name: 'color' };
let database: TestDatabase;
let relay: Relay;
let silent: net.Server;
let port: number;

beforeAll(async () => {
  database = await testDatabase();
  await runSql(database.url, "create table color (value text primary key); insert into color values ('red')");
  relay = await relayTo(database.url);
  silent = net.createServer((socket) => void socket.on('error', () => undefined));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  ({ port } = silent.address() as net.AddressInfo);
});
afterAll(async () => {
  silent?.close();
  await relay?.stop();
  await database?.drop();
});

function contextOf(kinds: readonly Backend[]): OpenContext {
  return {
    backend: (kind) => kinds.find((each) => each.kind === kind),
    onEvent: () => undefined,
    environment: {},
    usePreparedStatements: true,
    maxConnections: 3,
    http: { send: async (call) => http.send(call) },
  };
}

function sourceOf(backend: Backend, configuration: Json): SourceMetadata {
  const table = { ...newTable(color), isEnum: true };
  return {
    ...{ name: 's', kind: backend.kind, customization: NO_CUSTOMIZATION, functions: new Map() },
    configuration: backend.configuration.decode(configuration, ROOT),
    tables: new Map([[nameKey(color), table]]),
  };
}

function configurationFor(kind: string): Json {
  const at = `127.0.0.1:${port}`;
  if (kind === 'dbb') return { connection_info: { connection_string: `mysql://u:p@${at}/d` } };
  if (kind !== 'dwh') return { connection_info: { database_url: `postgres://u:p@${at}/d?sslmode=disable` } };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const key = {
    ...{ type: 'service_account', project_id: 'p', client_email: 'a@example.com', token_uri: `http://${at}/token` },
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  return { service_account: key, project_id: 'p', datasets: 'd', api_endpoint: `http://${at}` };
}

it.each(backends.map((backend) => [backend.kind, backend] as const))(
  'stops waiting for a silent database of kind %s at the deadline',
  async (kind, backend) => {
    const metadata = sourceOf(backend, configurationFor(kind));
    const context = contextOf([backend]);
    const late = await openSource(metadata, context, undefined, { deadline: Date.now() + 50 });
    expect([late.connection, late.input]).toMatchObject([null, { kind: 'failed', reason: 'the database did not answer in time' }]);
    const left = new AbortController();
    const leaving = openSource(metadata, context, undefined, { signal: left.signal });
    left.abort();
    expect((await leaving).input).toMatchObject({ kind: 'failed', reason: 'the request was cancelled' });
  },
);

/** Calls a function as soon as the catalog was read. */
function after(happens: () => Promise<void> | void): Backend {
  return {
    ...(postgresql as Backend),
    async connect(configuration, context, how) {
      const source = await postgresql.connect(configuration as never, context, how);
      const introspect = source.introspect.bind(source);
      source.introspect = async (...what) => {
        const catalog = await introspect(...what);
        await happens();
        return catalog;
      };
      return source;
    },
  };
}

it.runIf(DEEP)('an enum table whose rows cannot be read in time fails the source, and not the table', async () => {
  const metadata = sourceOf(postgresql as Backend, { connection_info: { database_url: relay.url } });
  const closing: (Source | null)[] = [];
  const opened = async (happens: () => Promise<void> | void, callOptions: CallOptions = {}): Promise<LiveSource> => {
    const live = await openSource(metadata, contextOf([after(happens)]), undefined, callOptions);
    closing.push(live.connection);
    return live;
  };
  const values = ({ input }: LiveSource) => (input.kind === 'open' ? input.enumValues.get(nameKey(color)) : input.kind);
  const live = await opened(() => undefined);
  expect(values(live)).toEqual([{ value: 'red', description: null }]);

  // An existing connection.
  relay.silence();
  const again = { tables: [color], functions: [] };
  const refreshed = refreshSource(metadata, live, again, { deadline: Date.now() + 50 });
  await expect(refreshed).rejects.toMatchObject({ code: 'timeout' });
  relay.speak();

  const left = new AbortController();
  const given = await opened(() => left.abort(), { signal: left.signal });
  expect([values(given), given.input]).toMatchObject(['failed', { reason: 'the request was cancelled' }]);
  const lost = await opened(() => relay.stop());
  expect([values(lost), lost.input]).toMatchObject(['failed', { reason: 'connection error' }]);
  await relay.start();
  await Promise.all(closing.map((connection) => connection?.close()));
});

it('ignores an enum table that cannot be read', async () => {
  const forbidding: Backend = {
    ...(postgresql as Backend),
    async connect(configuration, context, how) {
      const source = await postgresql.connect(configuration as never, context, how);
      source.runJson = () => Promise.reject(new SvcError('unexpected', 'database query error'));
      return source;
    },
  };
  const live = await openSource(
    sourceOf(postgresql as Backend, { connection_info: { database_url: database.url } }),
    contextOf([forbidding]),
  );
  expect(live.input).toMatchObject({ kind: 'open', enumValues: new Map() });
  await live.connection?.close();
});
