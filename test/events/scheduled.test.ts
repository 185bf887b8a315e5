/** Cron triggers and one-off events, delivered to real receivers. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import { DEEP, sample } from '../support/deep.ts';
import { type FakeResponse, type FakeServerRequest, type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const SECRET = 's3cret';

/** Responses of the receiver by path. */
const ANSWERS: Readonly<Record<string, (attempt: number) => FakeResponse | null>> = {
  '/fails': () => ({ status: 500, body: 'no' }),
  '/later': (attempt) => (attempt === 1 ? { status: 503, headers: { 'Retry-After': '1' } } : {}),
  '/late-once': (attempt) => (attempt === 1 ? { status: 500 } : { status: 201 }),
  '/elsewhere': () => ({ status: 302, headers: { location: '/ok' } }),
  '/hangs': () => null,
  '/large': () => ({ body: 'x'.repeat(300_000) }),
  '/ok': () => ({ headers: { 'X-Answer': 'a' }, body: { done: true } }),
};

let service: TestService;
let receiver: FakeServer;
const attempts = new Map<string, number>();

beforeAll(async () => {
  receiver = await startFakeServer();
  receiver.answer = ({ path: address }: FakeServerRequest) => {
    const path = address.replace(/\?.*/, '');
    const attempt = (attempts.get(path) ?? 0) + 1;
    attempts.set(path, attempt);
    return (ANSWERS[path] ?? (() => ({})))(attempt);
  };
  service = await startTestService({}, { HOOKS: receiver.url, KEY: 'k3y', SIGNING: SECRET, NO_URL: 'nothing' });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

const requests = (path: string): readonly FakeServerRequest[] => receiver.requests.filter((request) => request.path === path);
const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();
const ask = async (type: string, args: JsonObject): Promise<JsonObject> => (await service.metadata(type, args)) as JsonObject;
const list = async (type: string, args: JsonObject, key: string): Promise<readonly JsonObject[]> =>
  (await ask(type, args))[key] as readonly JsonObject[];

const schedule = async (args: JsonObject): Promise<string> =>
  String((await ask('create_scheduled_event', { schedule_at: ago(1), ...args }))['event_id']);
const oneOff = async (id: string): Promise<JsonObject> =>
  (await list('get_scheduled_events', { type: 'one_off' }, 'events')).find((event) => event['id'] === id) ?? {};
const attemptsOf = (id: string, trigger?: string): Promise<readonly JsonObject[]> => {
  const of: JsonObject = trigger === undefined ? { type: 'one_off' } : { type: 'cron', trigger_name: trigger };
  return list('get_scheduled_event_invocations', { ...of, event_id: id }, 'invocations');
};
const failure = async (type: string, args: JsonObject): Promise<Json> => {
  const answer = await service.send('/v1/metadata', { method: 'POST', body: JSON.stringify({ type, args }) });
  expect(answer.status, answer.text).toBe(400);
  return answer.json;
};

const NO_PAUSE = { retry_interval_seconds: 0 };

describe('one-off events', () => {
  it.concurrent.each(
    sample<[what: string, path: string, args: JsonObject, end: JsonObject, statuses: readonly Json[]]>(
      [
        ['are delivered at once', '/ok', {}, { status: 'delivered', tries: 1 }, [200]],
        ['fail without retries', '/fails', {}, { status: 'error', tries: 1 }, [500]],
        ['are retried', '/late-once', { retry_conf: { num_retries: 2, ...NO_PAUSE } }, { status: 'delivered', tries: 2 }, [201, 500]],
        [
          'fail after their retries',
          '/fails',
          { retry_conf: { num_retries: 2, ...NO_PAUSE } },
          { status: 'error', tries: 3 },
          [500, 500, 500],
        ],
        ['are retried after retry-after, even without retries left', '/later', {}, { status: 'delivered', tries: 2 }, [200, 503]],
        ['fail after a redirect', '/elsewhere', {}, { status: 'error', tries: 1 }, [302]],
        ['fail after a timeout', '/hangs', { retry_conf: { timeout_seconds: 1 } }, { status: 'error', tries: 1 }, [null]],
        [
          'fail after their tolerance',
          '/ok',
          { schedule_at: ago(100), retry_conf: { tolerance_seconds: 50 } },
          { status: 'dead', tries: 0 },
          [],
        ],
        [
          'are delivered within their tolerance',
          '/ok',
          { schedule_at: ago(100), retry_conf: { tolerance_seconds: 200 } },
          { status: 'delivered', tries: 1 },
          [200],
        ],
        ['fail if the connection is refused', '', { webhook: 'http://127.0.0.1:1/x' }, { status: 'error', tries: 1 }, [null]],
        ['fail with an invalid URL', '', { webhook: '{{NO_URL}}' }, { status: 'error', tries: 1 }, [null]],
        ['fail with an unset variable', '', { webhook: '{{NOT_SET}}/x' }, { status: 'error', tries: 1 }, [null]],
      ],
      5,
    ),
  )('%s', async (_, path, args, end, statuses) => {
    const id = await schedule({ webhook: `{{HOOKS}}${path}`, ...args });
    await vi.waitFor(async () => expect(await oneOff(id)).toMatchObject(end), WAIT);
    expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(statuses);
  });

  it('have their data in the body, and the attempt in their record', async () => {
    const id = await schedule({
      webhook: '{{HOOKS}}/told',
      schedule_at: '2024-05-01T12:00:00+02:00',
      payload: { big: 1, list: [null] },
      headers: [
        { name: 'X-Key', value_from_env: 'KEY' },
        { name: 'X-Plain', value: 'p' },
        { name: 'content-type', value: 'text/plain' },
      ],
      retry_conf: { tolerance_seconds: 366 * 24 * 3600 },
      comment: 'c',
    });
    await vi.waitFor(async () => expect(['dead', 'delivered']).toContain((await oneOff(id))['status']), WAIT);
    const late = await schedule({
      webhook: '{{HOOKS}}/told',
      payload: { big: 1, list: [null] },
      comment: 'c',
      headers: [{ name: 'X-Key', value_from_env: 'KEY' }],
    });
    await vi.waitFor(async () => expect(await oneOff(late)).toMatchObject({ status: 'delivered' }), WAIT);
    const sent = requests('/told').find(({ body }) => body.includes(late));
    const body = parseJson(sent?.body ?? '') as JsonObject;
    const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d*[1-9])?Z$/) as string;
    expect(body).toEqual({ id: late, scheduled_time: stamp, created_at: stamp, payload: { big: 1, list: [null] }, comment: 'c' });
    expect(sent).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-key': 'k3y', 'user-agent': expect.stringMatching(/^svc-graphql\//) as string },
    });
    const [invocation] = await attemptsOf(late);
    expect(invocation).toEqual({
      id: expect.any(String) as string,
      event_id: late,
      status: 200,
      created_at: stamp,
      request: {
        version: '1',
        headers: [
          { name: 'X-Key', value_from_env: 'KEY' },
          { name: 'Content-Type', value: 'application/json' },
          { name: 'User-Agent', value: sent?.headers['user-agent'] },
        ],
        payload: body,
      },
      response: { version: '1', type: 'webhook_response', data: { status: 200, headers: expect.any(Array) as Json[], body: '' } },
    });
    expect(JSON.stringify(service.observations.filter(({ kind }) => kind === 'delivery'))).not.toContain('k3y');
  });

  it('have neither payload nor comment by default', async () => {
    const id = await schedule({ webhook: '{{HOOKS}}/bare' });
    await vi.waitFor(() => expect(requests('/bare')).toHaveLength(1), WAIT);
    const body = parseJson(requests('/bare')[0]?.body ?? '') as JsonObject;
    expect(Object.keys(body)).toEqual(['id', 'scheduled_time', 'created_at', 'payload']);
    expect(body).toMatchObject({ id, payload: null });
    expect(await oneOff(id)).toMatchObject({
      webhook_conf: '{{HOOKS}}/bare',
      header_conf: [],
      comment: null,
      retry_conf: { num_retries: 0 },
    });
  });

  it.runIf(DEEP)('are rejected with a reason', async () => {
    const message = async (args: JsonObject): Promise<JsonObject> => {
      const id = await schedule(args);
      await vi.waitFor(async () => expect(await oneOff(id)).toMatchObject({ status: 'error' }), WAIT);
      const response = (await attemptsOf(id))[0]?.['response'];
      const data = isJsonObject(response ?? null) ? ((response as JsonObject)['data'] as JsonObject) : {};
      return parseJson(String(data['message'])) as JsonObject;
    };
    expect(await message({ webhook: '{{HOOKS}}/hangs?key=planted', retry_conf: { timeout_seconds: 1 } })).toEqual({
      type: 'http_exception',
      message: 'Response timeout',
      request: {
        host: '127.0.0.1',
        port: expect.any(Number) as number,
        secure: false,
        path: '/hangs',
        queryString: '?***',
        method: 'POST',
        responseTimeout: 1000,
      },
    });
    expect(await message({ webhook: 'http://127.0.0.1:1/x' })).toMatchObject({
      message: expect.stringMatching(/^Connection failure/) as string,
    });
    expect(await message({ webhook: '{{NO_URL}}' })).toMatchObject({ type: 'invalid_url' });
    expect(await message({ webhook: '{{NOT_SET}}' })).toEqual({
      type: 'http_exception',
      message: 'Error creating the request. The value for environment variables not found: NOT_SET',
    });
    expect(await message({ webhook: 'http://169.254.169.254/' })).toMatchObject({ message: 'Blocked connection to private IP address' });
  });

  it.runIf(DEEP)('are delivered despite a long response, whose record is truncated', async () => {
    const id = await schedule({ webhook: '{{HOOKS}}/large' });
    await vi.waitFor(async () => expect(await oneOff(id)).toMatchObject({ status: 'delivered' }), WAIT);
    const [invocation] = await attemptsOf(id);
    expect(invocation).toMatchObject({ response: { data: { status: 200, is_cut: true, body: 'x'.repeat(256 * 1024) } } });
  });

  it('can be signed', async () => {
    await schedule({ webhook: '{{HOOKS}}/signed', signature: { secret_from_env: 'SIGNING' } });
    await vi.waitFor(() => expect(requests('/signed')).toHaveLength(1), WAIT);
    const [request] = requests('/signed');
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(request?.headers['x-svc-signature'])) ?? [];
    expect(signature).toBe(createHmac('sha256', SECRET).update(`${time}.${request?.body}`).digest('hex'));
  });

  it('are listed in the order of their times, and counted', async () => {
    const later = await schedule({ webhook: 'http://x', schedule_at: '2100-01-02T00:00:00Z' });
    const sooner = await schedule({ webhook: 'http://x', schedule_at: '2100-01-01T00:00:00Z' });
    const args = { type: 'one_off', status: ['scheduled'], get_rows_count: true };
    const all = await ask('get_scheduled_events', args);
    expect((all['events'] as JsonObject[]).map(({ id }) => id)).toEqual([sooner, later]);
    expect(all['count']).toBe(2);
    expect(await ask('get_scheduled_events', { ...args, limit: 1, offset: 1 })).toMatchObject({ events: [{ id: later }], count: 2 });
    expect(await ask('delete_scheduled_event', { type: 'one_off', event_id: later })).toEqual({ message: 'success' });
    expect(await ask('delete_scheduled_event', { type: 'one_off', event_id: later })).toEqual({ message: 'success' });
    expect(await ask('get_scheduled_events', { type: 'one_off', status: ['scheduled'] })).toEqual({
      events: [expect.objectContaining({ id: sooner })],
    });
  });

  it.runIf(DEEP)('are listed up to a row limit, which is reported', async () => {
    await service.sql(
      `insert into svc_catalog.svc_cron_events (id, trigger_name, scheduled_time, status)
         select 'many' || i, 'many', now() + i * interval '1 s', 'dead' from generate_series(1, 10001) i`,
    );
    await ask('create_cron_trigger', { name: 'many', webhook: 'http://x', schedule: '0 0 1 1 *', include_in_metadata: false });
    const many = { type: 'cron', trigger_name: 'many', status: ['dead'] };
    const shown = async (args: JsonObject): Promise<unknown> => {
      const { events, ...rest } = await ask('get_scheduled_events', { ...many, ...args });
      return { ...rest, events: (events as JsonObject[]).length };
    };
    expect(await shown({ get_rows_count: true })).toEqual({ events: 10_000, count: 10_001, is_cut: true });
    expect(await shown({ limit: 1e9, offset: 1 })).toEqual({ events: 10_000 });
    expect(await shown({ limit: 5 })).toEqual({ events: 5 });
    await ask('delete_cron_trigger', { name: 'many' });
  });

  it.each(
    sample<[JsonObject, string, string]>(
      [
        [{ webhook: '{{HOOKS}}/x', schedule_at: '2024-13-01T00:00:00Z' }, '$.args.schedule_at', 'expecting a time as in ISO 8601'],
        [
          { webhook: '{{HOOKS}}/x', schedule_at: ago(1), retry_conf: { num_retries: -1 } },
          '$.args.retry_conf.num_retries',
          'num_retries cannot be a negative value',
        ],
        [{ webhook: '{{HOOKS}}/x', schedule_at: ago(1), retries: 1 }, '$.args.retries', 'retries'],
        [
          { webhook: '{{HOOKS}}/x', schedule_at: ago(1), headers: [{ name: 'a b', value: '' }] },
          '$.args.headers[0]',
          'cannot be the name of a header',
        ],
        [
          { webhook: '{{HOOKS}}/x', schedule_at: ago(1), signature: { secret_from_env: 'SVC_GRAPHQL_ADMIN_SECRET' } },
          '$.args.signature.secret_from_env',
          'not allowed',
        ],
        ...['nothing', '', 'gopher://a.b/{{KEY}}', 'file:///etc/passwd', 'ftp://{{HOOKS}}', ' http://a.b/'].map(
          (webhook): [JsonObject, string, string] => [
            { webhook, schedule_at: ago(1) },
            '$.args.webhook',
            webhook === '' ? 'empty' : 'is no http or https URL',
          ],
        ),
        [{ schedule_at: ago(1) }, '$.args', "'webhook' was not present"],
      ],
      3,
    ),
  )('are not created from %j', async (args, path, message) => {
    expect(await failure('create_scheduled_event', args)).toMatchObject({
      code: 'parse-failed',
      path,
      error: expect.stringContaining(message) as string,
    });
  });
});

describe('cron triggers', () => {
  const DAILY = { webhook: '{{HOOKS}}/cron', schedule: '0 3 * * *', include_in_metadata: true };
  const eventsOf = (name: string, more: JsonObject = {}): Promise<readonly JsonObject[]> =>
    list('get_scheduled_events', { type: 'cron', trigger_name: name, ...more }, 'events');
  /** A due event. */
  const due = async (name: string, id: string, columns = '', values = ''): Promise<void> => {
    await service.sql(
      `insert into svc_catalog.svc_cron_events (id, trigger_name, scheduled_time${columns}) values ('${id}', '${name}', now() - interval '1 s'${values})`,
    );
    // The service polls at once, not only after a second.
    await schedule({ webhook: 'http://x', schedule_at: '2100-01-01T00:00:00Z' });
  };
  const settled = (name: string, id: string, end: JsonObject): Promise<void> =>
    vi.waitFor(async () => expect((await eventsOf(name)).find((event) => event['id'] === id)).toMatchObject(end), WAIT);

  it('have a hundred future events in UTC, from their creation', async () => {
    await service.metadata('create_cron_trigger', { name: 'daily', ...DAILY });
    const events = await eventsOf('daily');
    expect(events).toHaveLength(100);
    expect(events[0]).toEqual({
      id: expect.any(String) as string,
      trigger_name: 'daily',
      scheduled_time: expect.stringMatching(/T03:00:00Z$/) as string,
      status: 'scheduled',
      tries: 0,
      created_at: expect.any(String) as string,
      next_retry_at: null,
    });
    expect(Date.parse(String(events[0]?.['scheduled_time'])) - Date.now()).toBeLessThan(24 * 3600 * 1000);
    expect(new Set(events.map((event) => event['scheduled_time'])).size).toBe(100);
  });

  it('are replaced with their events, and only if requested', async () => {
    expect(await failure('create_cron_trigger', { name: 'daily', ...DAILY })).toMatchObject({
      code: 'already-exists',
      error: 'cron trigger with name: daily already exists',
      path: '$.args',
    });
    await service.metadata('create_cron_trigger', { name: 'daily', ...DAILY, schedule: '30 4 1 * 1', replace: true });
    const events = await eventsOf('daily');
    expect(events).toHaveLength(100);
    for (const event of events) {
      const time = new Date(String(event['scheduled_time']));
      // Either of the two days is enough.
      expect([time.getUTCHours(), time.getUTCMinutes(), time.getUTCDate() === 1 || time.getUTCDay() === 1]).toEqual([4, 30, true]);
    }
    await service.metadata('create_cron_trigger', { name: 'new', ...DAILY, replace: true });
    expect(await eventsOf('new')).toHaveLength(100);
  });

  it.each(sample(['ftp://a.b/c', '{{NO_URL}}/c', 'http:a'], 1))('are rejected with the webhook %j', async (webhook) => {
    expect(await failure('create_cron_trigger', { name: 'elsewhere', ...DAILY, webhook })).toMatchObject({
      code: 'invalid-configuration',
      error: `Inconsistent object: the webhook ${JSON.stringify(webhook)} is no http or https URL`,
    });
  });

  it('have their data in the body', async () => {
    await service.metadata('create_cron_trigger', { name: 'told', ...DAILY, webhook: '{{HOOKS}}/cron-told', payload: [1], comment: 'c' });
    await due('told', 'told-1');
    await settled('told', 'told-1', { status: 'delivered', tries: 1 });
    expect(parseJson(requests('/cron-told')[0]?.body ?? '')).toEqual({
      id: 'told-1',
      name: 'told',
      scheduled_time: expect.any(String) as string,
      payload: [1],
      comment: 'c',
    });
    expect(await attemptsOf('told-1', 'told')).toMatchObject([{ status: 200, request: { version: '1' } }]);
    expect(await list('get_scheduled_event_invocations', { type: 'cron', trigger_name: 'told' }, 'invocations')).toHaveLength(1);
    expect(await ask('get_scheduled_event_invocations', { type: 'cron', trigger_name: 'new', get_rows_count: true })).toEqual({
      invocations: [],
      count: 0,
    });
  });

  it('transform their requests, without retries if a transform fails', async () => {
    const transform = (template: string): JsonObject => ({
      version: 2,
      method: 'PUT',
      url: '{{$base_url}}/{{$body.payload.a}}',
      body: { action: 'transform', template },
    });
    await service.metadata('create_cron_trigger', {
      name: 'shaped',
      ...DAILY,
      webhook: '{{HOOKS}}/shaped',
      payload: { a: 5 },
      request_transform: transform('{"n": {{$body.name}}}'),
      response_transform: { version: 2, body: { action: 'transform', template: '{{$body.done}}' } },
    });
    await due('shaped', 'shaped-1');
    await settled('shaped', 'shaped-1', { status: 'error', tries: 1 });
    expect(requests('/shaped/5')).toMatchObject([{ method: 'PUT', body: '{"n":"shaped"}' }]);
    // The response has no such key.
    expect(await attemptsOf('shaped-1', 'shaped')).toMatchObject([{ status: 500, request: { payload: { n: 'shaped' } } }]);
    await service.metadata('create_cron_trigger', {
      name: 'broken',
      ...DAILY,
      retry_conf: { num_retries: 3, ...NO_PAUSE },
      request_transform: transform('{{$body.nothing}}'),
    });
    await due('broken', 'broken-1');
    await settled('broken', 'broken-1', { status: 'error', tries: 0 });
    expect(await attemptsOf('broken-1', 'broken')).toEqual([]);
  });

  it('are retried as configured', async () => {
    await service.metadata('create_cron_trigger', {
      name: 'tried',
      ...DAILY,
      webhook: '{{HOOKS}}/fails',
      retry_conf: { num_retries: 1, ...NO_PAUSE },
    });
    await due('tried', 'tried-1');
    await settled('tried', 'tried-1', { status: 'error', tries: 2 });
    await service.metadata('create_cron_trigger', { name: 'late', ...DAILY, retry_conf: { tolerance_seconds: 0 } });
    await due('late', 'late-1');
    await settled('late', 'late-1', { status: 'dead', tries: 0 });
  });

  it.runIf(DEEP)('take over events of a dead instance, and leave those of others alone', async () => {
    await service.metadata('create_cron_trigger', { name: 'shared', ...DAILY });
    const columns = ', status, lease_holder, lease_until';
    await due('shared', 'shared-alive', columns, `, 'locked', 'other', now() + interval '1 hour'`);
    await service.sql(
      `update svc_catalog.svc_cron_events set scheduled_time = scheduled_time - interval '1 min' where id = 'shared-alive'`,
    );
    await due('shared', 'shared-gone', columns, `, 'locked', 'other', now() - interval '1 second'`);
    await settled('shared', 'shared-gone', { status: 'delivered', tries: 1 });
    expect((await eventsOf('shared', { status: ['locked'] })).map(({ id }) => id)).toEqual(['shared-alive']);
  });

  it('are listed in full and exported in short form, unless they are excluded from documents', async () => {
    await service.metadata('create_cron_trigger', { name: 'hidden', ...DAILY, include_in_metadata: false });
    const triggers = await list('get_cron_triggers', {}, 'cron_triggers');
    expect(triggers.find(({ name }) => name === 'hidden')).toEqual({
      name: 'hidden',
      webhook: '{{HOOKS}}/cron',
      schedule: '0 3 * * *',
      payload: null,
      retry_conf: { num_retries: 0, retry_interval_seconds: 10, timeout_seconds: 60, tolerance_seconds: 21600 },
      headers: [],
      include_in_metadata: false,
    });
    const exported = await ask('export_metadata', {});
    const names = (exported['cron_triggers'] as JsonObject[]).map(({ name }) => name);
    expect(names).toContain('daily');
    expect(names).not.toContain('hidden');
    expect((exported['cron_triggers'] as JsonObject[]).find(({ name }) => name === 'new')).toEqual({ name: 'new', ...DAILY });
    // A document without a trigger removes it with its events, and keeps hidden triggers.
    const cron_triggers = (exported['cron_triggers'] as JsonObject[]).filter(({ name }) => name !== 'daily');
    const document = {
      ...exported,
      cron_triggers: cron_triggers.map((each) => (each['name'] === 'new' ? { ...each, schedule: '5 5 * * *' } : each)),
    };
    await service.metadata('replace_metadata', document);
    expect(await failure('get_scheduled_events', { type: 'cron', trigger_name: 'daily' })).toMatchObject({ code: 'not-exists' });
    expect(await service.sql(`select count(*)::int from svc_catalog.svc_cron_events where trigger_name = 'daily'`)).toMatchObject({
      result: [['count'], ['0']],
    });
    expect(await eventsOf('hidden')).toHaveLength(100);
    expect((await eventsOf('new'))[0]).toMatchObject({ scheduled_time: expect.stringMatching(/T05:05:00Z$/) as string });
    expect(await failure('replace_metadata', { ...document, cron_triggers: [{ name: 'hidden', ...DAILY }] })).toMatchObject({
      code: 'already-exists',
      error: 'cron trigger with name "hidden" already exists as a cron trigger with "included_in_metadata" as false',
    });
  });

  it.runIf(DEEP)('that cannot be called keep their events until they can be', async () => {
    const exported = await ask('export_metadata', {});
    const waiting = (webhook: string): JsonObject => ({
      ...exported,
      cron_triggers: [...(exported['cron_triggers'] as JsonObject[]), { name: 'waiting', ...DAILY, webhook }],
    });
    await service.metadata('replace_metadata', { metadata: waiting('{{NOT_SET}}'), allow_inconsistent_metadata: true });
    await due('waiting', 'waiting-1');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await eventsOf('waiting')).find(({ id }) => id === 'waiting-1')).toMatchObject({ status: 'scheduled', tries: 0 });
    await service.metadata('replace_metadata', { metadata: waiting('{{HOOKS}}/waiting') });
    await settled('waiting', 'waiting-1', { status: 'delivered', tries: 1 });
  });

  it('are deleted with all of their events', async () => {
    await service.metadata('delete_cron_trigger', { name: 'told' });
    const left = await service.sql("select count(*) from svc_catalog.svc_cron_events where trigger_name = 'told'");
    expect(left).toMatchObject({ result: [['count'], ['0']] });
    expect(await failure('delete_cron_trigger', { name: 'told' })).toMatchObject({
      code: 'not-exists',
      error: 'cron trigger with name: told does not exist',
    });
  });

  it('with unset variables are inconsistent', async () => {
    expect(await failure('create_cron_trigger', { name: 'unset', ...DAILY, webhook: '{{NOT_SET}}' })).toMatchObject({
      code: 'invalid-configuration',
    });
    expect(await failure('create_cron_trigger', { name: 'x', ...DAILY, schedule: '* * * *' })).toMatchObject({ path: '$.args.schedule' });
    expect(await failure('get_scheduled_events', { type: 'cron' })).toMatchObject({ code: 'parse-failed' });
    expect(await failure('get_scheduled_events', { type: 'one_off', status: ['x'] })).toMatchObject({ error: 'unexpected status: x' });
  });
});
