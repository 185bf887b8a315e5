import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SourceHealthObservation } from '../../src/observability/observation.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

const started: TestService[] = [];
afterEach(async () => {
  for (const service of started.splice(0)) await service.stop();
});

async function service(options: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const made = await startTestService(options);
  started.push(made);
  return made;
}

const health = async (of: TestService): Promise<JsonObject> => (await of.send('/healthz/sources')).json as JsonObject;
const logged = (of: TestService): readonly SourceHealthObservation[] =>
  of.observations.filter((o): o is SourceHealthObservation => o.kind === 'source-health');
const add = (of: TestService, name: string, url: Json, check: Json): Promise<Json> =>
  of.metadata('pg_add_source', { name, configuration: { connection_info: { database_url: url } }, health_check: check });

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1500; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it does not happen');
}

describe('source health', () => {
  let shared: TestService;
  beforeAll(async () => {
    shared = await startTestService();
  });
  afterAll(() => shared.stop());

  it('has an entry for each source with a check immediately', async () => {
    expect(await health(shared)).toEqual({});
    const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d+Z$/);
    await add(shared, 'good', shared.databaseUrl, { interval: 60 });
    await add(shared, 'slow', shared.databaseUrl, { interval: 60, retries: 0, timeout: 1, test: { sql: 'select pg_sleep(20)' } });
    await add(shared, 'bad', shared.databaseUrl, { interval: 60, retries: 0, test: { sql: 'select nonsense' } });
    await shared.metadata('pg_add_source', { name: 'unchecked', configuration: { connection_info: { database_url: shared.databaseUrl } } });
    expect(await health(shared)).toEqual({
      good: { status: 'OK', error: null, timestamp },
      slow: { status: 'TIMEOUT', error: null, timestamp },
      bad: { status: 'ERROR', error: { message: 'column "nonsense" does not exist', extra: null }, timestamp },
    });
    expect(logged(shared).map(({ source, status, check }) => ({ source, status, check }))).toEqual(
      expect.arrayContaining([
        { source: 'slow', status: 'TIMEOUT', check: { interval: 60, retries: 0, attempt: 0, timeout: 1 } },
        { source: 'bad', status: 'ERROR', check: { interval: 60, retries: 0, attempt: 0, timeout: 10 } },
      ]),
    );
    await shared.metadata('pg_drop_source', { name: 'bad' });
    expect(Object.keys(await health(shared))).toEqual(['good', 'slow']);
  });

  it('writes nothing, whatever its SQL contains', async () => {
    await shared.sql('create table checked (n int)');
    const refused = { status: 'ERROR', error: { message: expect.stringContaining('in a read-only transaction') } };
    await add(shared, 'writing', shared.databaseUrl, { interval: 60, retries: 0, test: { sql: 'insert into checked values (1)' } });
    await add(shared, 'ending', shared.databaseUrl, { interval: 60, retries: 0, test: { sql: 'commit; insert into checked values (1)' } });
    expect(await health(shared)).toMatchObject({ writing: refused, ending: { status: 'ERROR' } });
    expect(await shared.sql('select count(*) from checked')).toMatchObject({ result: [['count'], ['0']] });
  });

  it.runIf(DEEP)('repeats the check: soon after a failure, later after a success', async () => {
    const of = await service();
    await of.sql('create table gate (n int)');
    await of.sql('create function pass() returns int language sql as $$ select 1 / count(*)::int from gate $$');
    await add(of, 'gated', of.databaseUrl, { interval: 1, retries: 1000, retry_interval: 0, test: { sql: 'select pass()' } });
    await until(async () => logged(of).length >= 3);
    expect(await health(of)).toMatchObject({ gated: { status: 'ERROR', error: { message: 'division by zero' } } });
    const attempts = logged(of).map(({ check }) => check.attempt);
    expect(attempts.slice(0, 3)).toEqual([0, 1, 2]);
    await of.sql('insert into gate values (1)');
    await until(async () => ((await health(of))['gated'] as JsonObject)['status'] === 'OK');
    const { length } = logged(of);
    expect(logged(of).at(-1)).toMatchObject({ status: 'OK', error: null });
    const first = ((await health(of))['gated'] as JsonObject)['timestamp'];
    await until(async () => ((await health(of))['gated'] as JsonObject)['timestamp'] !== first);
    // Repeated successful checks are not logged.
    expect(logged(of)).toHaveLength(length);
    await of.sql('delete from gate');
    await until(async () => ((await health(of))['gated'] as JsonObject)['status'] === 'ERROR');
  });

  it('distinguishes an unreachable database from an invalid configuration', async () => {
    const gone = await testDatabase();
    await gone.drop();
    const { metadata } = (await shared.metadata('export_metadata', {}, { version: 2 })) as { metadata: JsonObject };
    const source = (name: string, url: Json): Json => ({
      name,
      kind: 'pg',
      tables: [],
      configuration: { connection_info: { database_url: url } },
      health_check: { interval: 60, retries: 0 },
    });
    const sources = [source('away', gone.url), source('unset', { from_env: 'NO_SUCH_VARIABLE' })];
    await shared.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata: { ...metadata, sources } }, { version: 2 });
    expect(await health(shared)).toMatchObject({
      away: { status: 'ERROR', error: { message: expect.stringContaining('connection error') } },
      unset: { status: 'FAILED', error: expect.stringContaining("'NO_SUCH_VARIABLE' not set") },
    });
  });

  it('is restricted to administrators, and cannot be disabled', async () => {
    const of = await service({ ADMIN_SECRET: 'secret', ENABLED_APIS: 'metrics' });
    const ask = (headers: Record<string, string>) => of.send('/healthz/sources', { headers });
    expect(await ask({})).toMatchObject({ status: 401, json: { code: 'access-denied' } });
    expect(await ask({ 'x-svc-admin-secret': 'secret', 'x-svc-role': 'user' })).toMatchObject({
      status: 400,
      json: { path: '$', error: 'You have to be an admin to access this endpoint', code: 'access-denied' },
    });
    expect(await ask({ 'x-svc-admin-secret': 'secret' })).toMatchObject({ status: 200, json: {} });
  });
});
