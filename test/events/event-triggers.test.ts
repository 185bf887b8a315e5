/** Events of event triggers, delivered to real receivers: the payload, and the effect of each response. */
import type { IncomingHttpHeaders } from 'node:http';
import { createHmac } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import { DEEP, sample } from '../support/deep.ts';
import { type FakeResponse, type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

/** Responses of the receiver at each attempt, by trigger name. */
const ANSWERS: Readonly<Record<string, (attempt: number) => FakeResponse | null>> = {
  fails: () => ({ status: 500, body: 'no' }),
  once: (attempt) => (attempt === 1 ? { status: 404 } : { status: 204 }),
  later: (attempt) => (attempt === 1 ? { status: 429, headers: { 'Retry-After': '1' } } : {}),
  hangs: () => null,
  elsewhere: () => ({ status: 301, headers: { location: '/ok' } }),
  answers: () => ({ body: { deep: { n: 1 } } }),
};

let service: TestService;
let receiver: FakeServer;
let database: pg.Client;
const attempts = new Map<string, number>();

beforeAll(async () => {
  receiver = await startFakeServer();
  receiver.answer = ({ path }) => {
    const name = path.split(/[/?]/)[1] ?? '';
    const attempt = (attempts.get(name) ?? 0) + 1;
    attempts.set(name, attempt);
    return (ANSWERS[name] ?? (() => ({})))(attempt);
  };
  service = await startTestService(
    {},
    { HOOKS: receiver.url, KEY: 'k3y', SIGNING: 's3cret', WHOLE: `${receiver.url}/whole?token=planted` },
  );
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await service.stop();
  await receiver.close();
});

/** A table and a trigger of the same name. */
async function trigger(name: string, more: JsonObject = {}): Promise<void> {
  await service.sql(`create table ${name} (id int primary key, n numeric, at text)`);
  await service.metadata('pg_track_table', { table: name });
  await service.metadata('pg_create_event_trigger', {
    name,
    table: { schema: 'public', name },
    ...('webhook_from_env' in more ? {} : { webhook: `{{HOOKS}}/${name}` }),
    insert: { columns: '*' },
    update: { columns: ['n'], payload: ['id', 'n'] },
    delete: { columns: '*' },
    ...more,
  });
}
const insert = (name: string, id = 1): Promise<pg.QueryResult> =>
  database.query(`insert into ${name} values (${id}, 12345678901234567890.10, 'x')`);
const requests = (name: string): readonly JsonObject[] =>
  receiver.requests.filter(({ path }) => path.split(/[/?]/)[1] === name).map(({ body }) => parseJson(body) as JsonObject);
const log = async (name: string): Promise<JsonObject> =>
  (
    await database.query(
      `select id, delivered, error, tries, locked, next_retry_at from svc_catalog.event_log where trigger_name = $1 order by created_at`,
      [name],
    )
  ).rows[0] as JsonObject;
const ends = (name: string, end: JsonObject): Promise<void> => vi.waitFor(async () => expect(await log(name)).toMatchObject(end), WAIT);
const invocations = async (name: string): Promise<readonly JsonObject[]> =>
  (await service.metadata('pg_get_event_invocation_logs', { name, source: 'default' })) as readonly JsonObject[];
const retry = (num_retries: number, interval_sec = 0, timeout_sec = 60): JsonObject => ({
  retry_conf: { num_retries, interval_sec, timeout_sec },
});

describe.concurrent('the response to an event', () => {
  it.each(
    sample<[name: string, what: JsonObject, end: JsonObject, statuses: readonly Json[]]>(
      [
        ['ok', {}, { delivered: true, error: false, tries: 1, next_retry_at: null }, [200]],
        ['fails', retry(2), { delivered: false, error: true, tries: 3 }, [500, 500, 500]],
        ['once', retry(3), { delivered: true, error: false, tries: 2 }, [204, 404]],
        ['later', retry(0), { delivered: true, tries: 2 }, [200, 429]],
        ['hangs', retry(0, 0, 1), { error: true, tries: 1 }, [null]],
        ['elsewhere', retry(0), { error: true, tries: 1 }, [301]],
        ['refused', { webhook: 'http://127.0.0.1:1/' }, { error: true, tries: 1 }, [null]],
      ],
      4,
    ),
  )('%s', async (name, what, end, statuses) => {
    await trigger(name, what);
    await insert(name);
    await ends(name, { ...end, locked: null });
    expect((await invocations(name)).map(({ http_status }) => http_status)).toEqual(statuses);
  });

  it.runIf(DEEP)('counts as a failure if a transform cannot read it', async () => {
    await trigger('answers', { response_transform: { version: 2, body: { action: 'transform', template: '{{$body.nothing}}' } } });
    await insert('answers');
    await ends('answers', { error: true, tries: 1 });
    expect(await invocations('answers')).toMatchObject([{ http_status: 500 }]);
  });
});

describe.concurrent('the delivery of an event', () => {
  it('contains the change, the session and the attempts', async () => {
    await trigger('told', {
      ...retry(4),
      headers: [
        { name: 'X-Key', value_from_env: 'KEY' },
        { name: 'User-Agent', value: 'other' },
      ],
    });
    await service.metadata('pg_create_insert_permission', { table: 'told', role: 'user', permission: { check: {}, columns: '*' } });
    await service.graphql('mutation { insert_told(objects: {id: 7, n: 0.5, at: "y"}) { affected_rows } }', {
      role: 'user',
      session: { 'user-id': '5' },
    });
    await vi.waitFor(() => expect(requests('told')).toHaveLength(1), WAIT);
    expect(requests('told')[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/) as string,
      trigger: { name: 'told' },
      table: { schema: 'public', name: 'told' },
      event: {
        op: 'INSERT',
        data: { old: null, new: { id: 7, n: 0.5, at: 'y' } },
        session_variables: { 'x-svc-role': 'user', 'x-svc-user-id': '5' },
        trace_context: null,
      },
      delivery_info: { current_retry: 0, max_retries: 4 },
    });
    const [request] = receiver.requests.filter(({ path }) => path === '/told');
    expect(request).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-key': 'k3y', 'user-agent': expect.stringMatching(/^svc-graphql\//) as string },
    });
    await ends('told', { delivered: true });
    expect(await invocations('told')).toEqual([
      {
        id: expect.any(String) as string,
        trigger_name: 'told',
        event_id: requests('told')[0]?.['id'],
        http_status: 200,
        created_at: expect.any(String) as string,
        request: {
          version: '2',
          headers: [
            { name: 'X-Key', value_from_env: 'KEY' },
            { name: 'Content-Type', value: 'application/json' },
            { name: 'User-Agent', value: request?.headers['user-agent'] },
          ],
          payload: requests('told')[0],
        },
        response: { version: '2', type: 'webhook_response', data: { status: 200, headers: expect.any(Array) as Json[], body: '' } },
      },
    ]);
  });

  it.each(
    sample<[name: string, sent: Record<string, string>, sampled: string]>(
      [
        ['traced', { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }, '1'],
        ['b3', { 'x-b3-traceid': '0AF7651916CD43DD8448EB211C80319C', 'x-b3-spanid': 'b7ad6b7169203331', 'x-b3-sampled': '0' }, '0'],
      ],
      1,
    ),
  )('continues the trace of the request that caused it: %s', async (name, sent, sampled) => {
    await trigger(name);
    const query = `mutation { insert_${name}(objects: {id: 7, n: 1, at: "y"}) { affected_rows } }`;
    await service.send('/v1/graphql', { method: 'POST', headers: sent, body: JSON.stringify({ query }) });
    await vi.waitFor(() => expect(requests(name)).toHaveLength(1), WAIT);
    const headers: IncomingHttpHeaders = receiver.requests.find(({ path }) => path === `/${name}`)?.headers ?? {};
    const span = String(headers['x-b3-spanid']);
    expect(span).toMatch(/^(?!b7ad6b7169203331)[0-9a-f]{16}$/);
    expect(headers).toMatchObject({
      traceparent: `00-0af7651916cd43dd8448eb211c80319c-${span}-0${sampled}`,
      'x-b3-traceid': '0af7651916cd43dd8448eb211c80319c',
      'x-b3-parentspanid': 'b7ad6b7169203331',
      'x-b3-sampled': sampled,
    });
    expect(requests(name)[0]?.['event']).toMatchObject({
      trace_context: { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331', sampling_state: sampled },
    });
  });

  it('preserves the digits of numbers', async () => {
    await trigger('digits');
    await insert('digits');
    await vi.waitFor(() => expect(requests('digits')).toHaveLength(1), WAIT);
    expect(receiver.requests.find(({ path }) => path === '/digits')?.body).toMatch(/"n": ?12345678901234567890\.10/);
  });

  it('counts its attempts', async () => {
    await trigger('once2', { webhook: '{{HOOKS}}/fails/counted', ...retry(1) });
    await insert('once2');
    await ends('once2', { error: true, tries: 2 });
    const counted = receiver.requests
      .filter(({ path }) => path === '/fails/counted')
      .map(({ body }) => (parseJson(body) as JsonObject)['delivery_info']);
    expect(counted).toEqual([
      { current_retry: 0, max_retries: 1 },
      { current_retry: 1, max_retries: 1 },
    ]);
  });

  it('is transformed and signed', async () => {
    await trigger('shaped', {
      request_transform: {
        version: 2,
        method: 'PUT',
        url: '{{$base_url}}/{{$body.event.data.new.id}}',
        body: { action: 'transform', template: '{"s": {{$session_variables}}}' },
      },
      signature: { secret_from_env: 'SIGNING' },
    });
    await insert('shaped');
    await ends('shaped', { delivered: true });
    const request = receiver.requests.find(({ path }) => path === '/shaped/1');
    expect(request).toMatchObject({ method: 'PUT', body: '{"s":null}' });
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(request?.headers['x-svc-signature'])) ?? [];
    expect(signature).toBe(createHmac('sha256', 's3cret').update(`${time}.${request?.body}`).digest('hex'));
  });

  it.runIf(DEEP)('fails without an attempt if its transform fails', async () => {
    await trigger('broken', {
      ...retry(5),
      request_transform: { version: 2, body: { action: 'transform', template: '{{$body.nothing}}' } },
    });
    await insert('broken');
    await ends('broken', { error: true, tries: 0, locked: null });
    expect(await invocations('broken')).toEqual([]);
    expect(requests('broken')).toEqual([]);
  });

  it('to a URL from the environment leaves no secret in logs and records', async () => {
    await trigger('secret', { webhook_from_env: 'WHOLE' });
    await insert('secret');
    await ends('secret', { delivered: true });
    const told = service.observations.filter((o) => o.kind === 'delivery' && o.eventName === 'secret');
    expect(told).toMatchObject([
      { of: 'event-trigger', level: 'info', request: { original_request: { url: 'WHOLE' } }, response: { status: 200 } },
    ]);
    expect(JSON.stringify([told, await invocations('secret')])).not.toContain('planted');
  });
});

it('delivers the events of a key one after another, independently of other keys', async () => {
  const order: number[] = [];
  let failures = 0;
  const answer = receiver.answer;
  receiver.answer = (request) => {
    if (!request.path.startsWith('/ordered')) return answer(request);
    const { id, n } = ((parseJson(request.body) as JsonObject)['event'] as { data: { new: { id: number; n: number } } }).data.new;
    if (id === 1 && n === 1 && failures < 2) {
      failures += 1;
      return { status: 500 };
    }
    if (id === 1) order.push(n);
    return { delay: id === 1 ? 20 : 0 };
  };
  await trigger('ordered', { ordering: 'row', ...retry(5) });
  await database.query('insert into ordered select i, 0 from generate_series(1, 5) i');
  for (let n = 1; n <= 8; n++) await database.query(`update ordered set n = ${n}`);
  await vi.waitFor(async () => {
    const { rows } = await database.query(
      `select count(*)::int as n from svc_catalog.event_log where trigger_name = 'ordered' and delivered`,
    );
    expect(rows).toEqual([{ n: 45 }]);
  }, WAIT);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(failures).toBe(2);
});

it.runIf(DEEP)('continues when a source disappears and returns', async () => {
  await trigger('moving');
  await service.metadata('rename_source', { name: 'default', new_name: 'moved' });
  await insert('moving');
  await ends('moving', { delivered: true });
  await service.metadata('rename_source', { name: 'moved', new_name: 'default' });
});
