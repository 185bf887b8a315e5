/** Receivers of events and handlers of actions that respond slowly, without an end, or with the address of another server. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const PIECE = Buffer.alloc(64 * 1024, ' ');
const LARGE = 50_000_000;

interface Hostile {
  readonly url: string;
  /** `POST /path body` */
  readonly requests: string[];
  /** Bytes that the client has read of `/large`. */
  taken: number;
  close(): void;
}

let service: TestService;
let server: Hostile;
let other: Hostile;

function answerSlowly(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const drips = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(drips));
}

function answerAtLength(response: ServerResponse, hostile: Hostile): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  let isClosed = false;
  response.on('close', () => (isClosed = true));
  const more = (): void => {
    while (!isClosed && hostile.taken < LARGE) {
      hostile.taken += PIECE.length;
      if (!response.write(PIECE)) return void response.once('drain', more);
    }
    response.end('5');
  };
  more();
}

/** Redirect targets by path. */
const locations = (): Readonly<Record<string, string>> => ({
  '/kept': '/there',
  '/round': '/round',
  '/elsewhere': `${other.url}/there`,
  '/metadata': 'http://169.254.169.254/latest/meta-data',
});

async function hostileServer(): Promise<Hostile> {
  const listener: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const path = request.url ?? '';
      hostile.requests.push(`${request.method} ${path} ${body}`);
      if (path === '/slow') answerSlowly(response);
      else if (path === '/large') answerAtLength(response, hostile);
      else if (path === '/broken') response.writeHead(200, { 'content-length': 100 }).write('{', () => request.socket.destroy());
      else if (path in locations()) response.writeHead(307, { location: locations()[path] }).end('{}');
      else response.writeHead(200, { 'content-type': 'application/json' }).end('"there"');
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const hostile: Hostile = {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    requests: [],
    taken: 0,
    close() {
      listener.closeAllConnections();
      listener.close();
    },
  };
  return hostile;
}

beforeAll(async () => {
  [server, other] = await Promise.all([hostileServer(), hostileServer()]);
  service = await startTestService({ DEV_MODE: 'true' });
});
afterAll(async () => {
  await service.stop();
  server.close();
  other.close();
});

const FORBIDDEN = ['http://169.254.169.254/', 'http://[::ffff:169.254.169.254]/', 'http://0xA9FEA9FE/'];
const BLOCKED = 'Blocked connection to private IP address';

describe.concurrent('an event delivery', () => {
  /** @returns the event and its only attempt */
  async function sent(webhook: string, timeout = 60): Promise<{ readonly status: Json; readonly attempt: JsonObject }> {
    const now = new Date(Date.now() - 1000).toISOString();
    const made = await service.metadata('create_scheduled_event', { webhook, schedule_at: now, retry_conf: { timeout_seconds: timeout } });
    const { event_id } = made as { event_id: string };
    return vi.waitFor(async () => {
      const { events } = (await service.metadata('get_scheduled_events', { type: 'one_off' })) as { events: readonly JsonObject[] };
      const event = events.find(({ id }) => id === event_id);
      expect(['delivered', 'error']).toContain(event?.['status']);
      const listed = await service.metadata('get_scheduled_event_invocations', { type: 'one_off', event_id });
      const { invocations } = listed as { invocations: readonly JsonObject[] };
      expect(invocations).toHaveLength(1);
      return { status: event?.['status'] as Json, attempt: invocations[0] as JsonObject };
    }, WAIT);
  }
  const reason = ({ response }: JsonObject): Json | undefined => {
    const { data } = response as { data: { message: string } };
    return (parseJson(data.message) as JsonObject)['message'];
  };

  it('has the same timeout if the response arrives in drops', async () => {
    const { status, attempt } = await sent(`${server.url}/slow`, 1);
    expect([status, attempt['status'], reason(attempt)]).toEqual(['error', null, 'Response timeout']);
  });

  it('fails if the response breaks off', async () => {
    const { status, attempt } = await sent(`${server.url}/broken`);
    expect([status, attempt['status'], reason(attempt)]).toEqual(['error', null, expect.stringMatching(/^Connection failure/)]);
  });

  it('succeeds with a response of 50 MB, of which little is read', async () => {
    const { status, attempt } = await sent(`${server.url}/large`);
    expect([status, attempt]).toMatchObject(['delivered', { status: 200, response: { data: { is_cut: true } } }]);
    expect(server.taken).toBeLessThan(LARGE / 2);
  });

  it.each([
    ['follows redirects within the same host unchanged', '/kept', ['delivered', 200]],
    ['stops at redirect loops', '/round', ['error', 307]],
    ['follows no redirect to another host', '/elsewhere', ['error', 307]],
    ['follows no redirect to a forbidden address', '/metadata', ['error', 307]],
  ])('%s', async (_, path, end) => {
    const { status, attempt } = await sent(`${server.url}${path}`);
    expect([status, attempt['status']]).toEqual(end);
    const { id } = (attempt['request'] as { payload: { id: string } }).payload;
    const paths = server.requests.filter((request) => request.includes(id)).map((request) => request.split(' ', 2).join(' '));
    expect(paths).toEqual(path === '/kept' ? ['POST /kept', 'POST /there'] : new Array(path === '/round' ? 6 : 1).fill(`POST ${path}`));
    expect(other.requests.filter((request) => request.includes(id))).toEqual([]);
  });

  it.each(FORBIDDEN)('is not sent to %s', async (webhook) => {
    const { status, attempt } = await sent(webhook);
    expect([status, attempt['status'], reason(attempt)]).toEqual(['error', null, BLOCKED]);
  });
});

describe('an action call', () => {
  async function called(handler: string, timeout = 60): Promise<JsonObject> {
    await service.metadata('create_action', { name: 'act', definition: { handler, type: 'query', output_type: 'String', timeout } });
    const answer = await service.graphql('{ act }');
    await service.metadata('drop_action', { name: 'act' });
    return answer;
  }
  const failed = (error: Json): JsonObject => ({
    errors: [{ message: 'http exception when calling webhook', extensions: { internal: { error } } }],
  });

  it('has the same timeout if the response arrives in drops', async () => {
    expect(await called(`${server.url}/slow`, 1)).toMatchObject(failed({ type: 'http_exception', message: 'Response timeout' }));
  });

  it('fails if the response breaks off', async () => {
    const message = expect.stringMatching(/^Connection failure/) as string;
    expect(await called(`${server.url}/broken`)).toMatchObject(failed({ type: 'http_exception', message }));
  });

  it('fails with a response of 50 MB before all of it has arrived', async () => {
    server.taken = 0;
    expect(await called(`${server.url}/large`)).toMatchObject(failed('the responses of handlers exceed 33554432 bytes'));
    expect(server.taken).toBeLessThan(LARGE);
  });

  it('follows redirects within the same host only', async () => {
    expect(await called(`${server.url}/kept`)).toEqual({ data: { act: 'there' } });
    expect(server.requests.slice(-2).map((request) => request.replace(/"request_query.*/, ''))).toEqual(
      ['/kept', '/there'].map((path) => expect.stringContaining(`POST ${path} {"action":{"name":"act"}`) as string),
    );
    for (const path of ['/round', '/elsewhere', '/metadata'])
      expect(await called(`${server.url}${path}`)).toMatchObject({
        errors: [{ message: 'internal error', extensions: { internal: { error: 'expecting 2xx or 4xx status code, but found 307' } } }],
      });
    expect(other.requests.filter((request) => request.includes('"action"'))).toEqual([]);
  });

  it.each(FORBIDDEN)('is not sent to %s', async (handler) => {
    expect(await called(handler)).toMatchObject(failed({ type: 'http_exception', message: BLOCKED }));
  });
});
