import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { LEGACY, MODERN, type OpenOptions, TestSocket } from '../support/websocket.ts';

let service: TestService;
const sockets: TestSocket[] = [];
const ADMIN = { 'x-svc-admin-secret': 'secret' };

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: 'secret', WEBSOCKET_CONNECTION_INIT_TIMEOUT: '60', WEBSOCKET_OPERATION_LIMIT: '3' });
  await service.sql(
    `create table item (id int primary key, name text);
     insert into item values (1, 'one'), (2, 'two');
     create table log (id serial primary key, what text);
     create view sleeper as select id from item, pg_sleep(30)`,
  );
  for (const table of ['item', 'log', 'sleeper']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_create_select_permission', {
    table: 'item',
    role: 'user',
    permission: { columns: ['id', 'name'], filter: { id: { _eq: 'X-Svc-User-Id' } } },
  });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});
afterAll(() => service.stop());

function connect(options: OpenOptions = {}): TestSocket {
  const socket = new TestSocket(service.url, options);
  sockets.push(socket);
  return socket;
}

const QUERY = '{ item(order_by: {id: asc}) { name } }';
const ITEMS = { data: { item: [{ name: 'one' }, { name: 'two' }] } };

describe('the protocol graphql-transport-ws', () => {
  const open = (headers = ADMIN): Promise<TestSocket> => connect({ protocol: MODERN }).init(headers);

  it('answers queries and mutations', async () => {
    const socket = await open();
    expect(socket.websocket.protocol).toBe(MODERN);
    socket.start('q', QUERY);
    expect(await socket.take(2)).toEqual([
      { type: 'next', id: 'q', payload: ITEMS },
      { type: 'complete', id: 'q' },
    ]);
    socket.start('q', 'mutation ($what: String) { insert_log_one(object: {what: $what}) { what } }', { variables: { what: 'ünïcode 🎈' } });
    expect(await socket.take(2)).toEqual([
      { type: 'next', id: 'q', payload: { data: { insert_log_one: { what: 'ünïcode 🎈' } } } },
      { type: 'complete', id: 'q' },
    ]);
  });

  it('reads the role from the headers of the init message', async () => {
    const socket = await open({ ...ADMIN, 'X-Svc-Role': 'user', 'x-svc-user-id': '2' } as never);
    socket.start('1', QUERY);
    expect(await socket.next()).toEqual({ type: 'next', id: '1', payload: { data: { item: [{ name: 'two' }] } } });
  });

  it('prefers them to the headers of the handshake', async () => {
    const socket = await connect({ protocol: MODERN, headers: { ...ADMIN, 'x-svc-role': 'user', 'x-svc-user-id': '1' } }).init({
      'x-svc-user-id': '2',
    });
    socket.start('1', QUERY);
    expect(await socket.next()).toMatchObject({ payload: { data: { item: [{ name: 'two' }] } } });
  });

  it('ends a failing operation with a single error message', async () => {
    const socket = await open();
    socket.start('1', '{ nothing }');
    expect(await socket.next()).toEqual({
      type: 'error',
      id: '1',
      payload: [
        {
          message: "field 'nothing' not found in type: 'query_root'",
          locations: [{ line: 1, column: 3 }],
          extensions: { path: '$.selectionSet.nothing', code: 'validation-failed' },
        },
      ],
    });
    socket.start('2', 'mutation { insert_item_one(object: {id: 1}) { id } }');
    const failed = await socket.next();
    expect(failed).toMatchObject({ type: 'error', id: '2', payload: [{ extensions: { code: 'constraint-violation' } }] });
    expect(JSON.stringify(failed)).not.toContain('internal');
    socket.start('3', '{ __typename }');
    expect(await socket.next()).toMatchObject({ type: 'next', id: '3' });
  });

  it('answers pings with their payload', async () => {
    const socket = connect({ protocol: MODERN });
    await socket.opened();
    socket.send({ type: 'ping', payload: { of: [1.0, 'x'] } });
    socket.send({ type: 'pong' });
    socket.send({ type: 'ping' });
    expect(await socket.take(2)).toEqual([{ type: 'pong', payload: { of: [1.0, 'x'] } }, { type: 'pong' }]);
  });

  it.each<[string, (socket: TestSocket) => void | Promise<void>, { code: number; reason: string }]>([
    ['an operation comes first', (socket) => socket.start('1', QUERY), { code: 4401, reason: 'Unauthorized' }],
    [
      'credentials are refused',
      (socket) => socket.send({ type: 'connection_init', payload: { headers: { 'x-svc-admin-secret': 'wrong' } } }),
      {
        code: 4403,
        reason: '{"server_error_msg":"4403: Forbidden","suggestions":["Send the admin secret of the service as X-Svc-Admin-Secret."]}',
      },
    ],
    [
      'a message is no JSON',
      (socket) => socket.websocket.send('{'),
      { code: 4400, reason: '{"server_error_msg":"4400: Parsing client message failed: the message is not valid JSON"}' },
    ],
    [
      'a message is unknown',
      (socket) => socket.send({ type: 'start', id: '1', payload: {} }),
      {
        code: 4400,
        reason:
          '{"server_error_msg":"4400: Parsing client message failed: expected \\"type\\" to be one of \\"connection_init\\", \\"pin"}',
      },
    ],
    [
      'a message is binary',
      (socket) => socket.websocket.send(Buffer.from('{"type":"ping"}')),
      { code: 4400, reason: '{"server_error_msg":"4400: Parsing client message failed: expected text, but found binary data"}' },
    ],
    [
      'a client says twice who it is',
      async (socket) => {
        await socket.init(ADMIN);
        socket.send({ type: 'connection_init' });
      },
      { code: 4429, reason: 'Too many initialisation requests' },
    ],
    [
      'an id is in use',
      async (socket) => {
        await socket.init(ADMIN);
        socket.start('ä'.repeat(100), '{ sleeper { id } }');
        socket.start('ä'.repeat(100), QUERY);
      },
      { code: 4409, reason: `Subscriber for ${'ä'.repeat(54)}` },
    ],
  ])('closes when %s', async (_name, act, expected) => {
    const socket = connect({ protocol: MODERN });
    await socket.opened();
    await act(socket);
    expect(await socket.closed).toEqual(expected);
  });
});

it.each(
  sample(
    [
      [MODERN, 4408],
      [LEGACY, 1011],
    ],
    1,
  ),
)('closes a connection of %s that is not initialised in time', async (protocol, code) => {
  // Other sockets need more time: only this service has a short limit.
  const hasty = await startTestService({ WEBSOCKET_CONNECTION_INIT_TIMEOUT: '1' });
  try {
    const socket = new TestSocket(hasty.url, { protocol });
    sockets.push(socket);
    expect(await socket.closed).toEqual({ code, reason: 'Connection initialisation timed out' });
  } finally {
    await hasty.stop();
  }
});

describe('the protocol graphql-ws', () => {
  const open = (headers = ADMIN): Promise<TestSocket> => connect().init(headers);

  it('answers queries', async () => {
    const socket = await connect({ protocol: LEGACY }).init(ADMIN);
    expect(socket.websocket.protocol).toBe(LEGACY);
    socket.start('q', QUERY);
    expect(await socket.take(2)).toEqual([
      { type: 'data', id: 'q', payload: ITEMS },
      { type: 'complete', id: 'q' },
    ]);
  });

  it('sends keep-alives when the socket opens and after the acknowledgement', async () => {
    const socket = await open();
    socket.start('1', '{ __typename }');
    await socket.take(2);
    expect(socket.signs).toEqual([{ type: 'ka' }, { type: 'ka' }]);
  });

  it('distinguishes rejected operations from those that fail while they run', async () => {
    const socket = await open();
    socket.start('1', '{ nothing }');
    expect(await socket.take(2)).toEqual([
      {
        type: 'error',
        id: '1',
        payload: {
          errors: [
            {
              message: "field 'nothing' not found in type: 'query_root'",
              locations: [{ line: 1, column: 3 }],
              extensions: { path: '$.selectionSet.nothing', code: 'validation-failed' },
            },
          ],
        },
      },
      { type: 'complete', id: '1' },
    ]);
    socket.start('2', 'mutation { insert_item_one(object: {id: 1}) { id } }');
    expect(await socket.take(2)).toMatchObject([
      { type: 'data', id: '2', payload: { data: null, errors: [{ extensions: { code: 'constraint-violation' } }] } },
      { type: 'complete', id: '2' },
    ]);
  });

  it('sends bare errors on /v1alpha1/graphql', async () => {
    const socket = await connect({ path: '/v1alpha1/graphql' }).init(ADMIN);
    socket.start('1', '{ nothing }');
    expect(await socket.next()).toEqual({
      type: 'error',
      id: '1',
      payload: { path: '$.selectionSet.nothing', error: "field 'nothing' not found in type: 'query_root'", code: 'validation-failed' },
    });
  });

  it('sends bare errors of execution there, too', async () => {
    const socket = await connect({ path: '/v1alpha1/graphql' }).init(ADMIN);
    socket.start('1', 'mutation { insert_item_one(object: {id: 1}) { id } }');
    expect(await socket.next()).toMatchObject({
      type: 'data',
      payload: { data: null, errors: [{ path: '$.selectionSet.insert_item_one.args.object', code: 'constraint-violation' }] },
    });
  });

  it('stays open after unreadable messages', async () => {
    const socket = await open();
    socket.websocket.send('garbage');
    socket.send({ type: 'subscribe', id: '1', payload: { query: QUERY } });
    socket.send({ type: 'start', payload: { query: QUERY } });
    socket.send(['start']);
    expect((await socket.take(4)).map(({ type, payload }) => [type, payload])).toEqual([
      ['connection_error', 'parsing ClientMessage failed: the message is not valid JSON'],
      [
        'connection_error',
        'parsing ClientMessage failed: expected "type" to be one of "connection_init", "start", "stop", "connection_terminate", but found "subscribe"',
      ],
      ['connection_error', 'parsing ClientMessage failed: the message "start" needs an "id", a string'],
      ['connection_error', 'parsing ClientMessage failed: expected an object'],
    ]);
    socket.start('1', '{ __typename }');
    expect(await socket.next()).toMatchObject({ type: 'data' });
  });

  it('rejects operations before authentication, and continues', async () => {
    const socket = connect();
    await socket.opened();
    socket.start('1', QUERY);
    expect(await socket.take(2)).toEqual([
      {
        type: 'error',
        id: '1',
        payload: {
          errors: [{ message: 'start received before the connection is initialised', extensions: { path: '$', code: 'start-failed' } }],
        },
      },
      { type: 'complete', id: '1' },
    ]);
    await socket.init(ADMIN);
  });

  it('accepts operations directly after the init message', async () => {
    const socket = connect();
    await socket.opened();
    socket.send({ type: 'connection_init', payload: { headers: ADMIN } });
    socket.start('1', QUERY);
    expect((await socket.take(3)).map(({ type }) => type)).toEqual(['connection_ack', 'data', 'complete']);
  });

  it('lets a client authenticate again, without the headers of the handshake', async () => {
    const socket = await connect({ headers: { 'x-svc-user-id': '1' } }).init({ ...ADMIN, 'x-svc-role': 'user' });
    socket.start('1', QUERY);
    expect(await socket.take(2)).toMatchObject([{ payload: { data: { item: [{ name: 'one' }] } } }, {}]);
    await socket.init({ ...ADMIN, 'x-svc-role': 'user', 'x-svc-user-id': '2' });
    socket.start('2', QUERY);
    expect(await socket.take(2)).toMatchObject([{ payload: { data: { item: [{ name: 'two' }] } } }, {}]);
    await socket.init({ ...ADMIN, 'x-svc-role': 'user' });
    socket.start('3', QUERY);
    expect(await socket.next()).toMatchObject({
      type: 'error',
      payload: { errors: [{ message: expect.stringContaining('x-svc-user-id') }] },
    });
  });

  it('closes when the client ends it', async () => {
    const socket = await open();
    socket.send({ type: 'connection_terminate' });
    expect(await socket.closed).toEqual({ code: 1000, reason: '' });
  });

  it('sends the reason for rejected credentials before it closes', async () => {
    const socket = connect();
    await socket.opened();
    socket.send({ type: 'connection_init', payload: { headers: { 'x-svc-admin-secret': 'wrong' } } });
    const message = 'invalid "x-svc-admin-secret"/"x-svc-access-key"';
    expect(await socket.next()).toEqual({
      type: 'connection_error',
      payload: message,
      suggestions: ['Send the admin secret of the service as X-Svc-Admin-Secret.'],
    });
    const { code, reason } = await socket.closed;
    expect([code, JSON.parse(reason)]).toEqual([4400, { server_error_msg: `4400: Connection initialization failed: ${message}` }]);
  });

  it('keeps the operation whose id is used again', async () => {
    const socket = await open();
    socket.start('1', 'query { sleeper { id } }');
    socket.start('1', QUERY);
    expect(await socket.next()).toMatchObject({
      type: 'error',
      payload: { errors: [{ message: 'an operation already exists with this id: 1' }] },
    });
    socket.send({ type: 'stop', id: '1' });
    socket.start('1', QUERY);
    expect(await socket.take(2)).toMatchObject([{ type: 'data', payload: ITEMS }, { type: 'complete' }]);
  });
});

describe('operations on a websocket', () => {
  it('run concurrently, except mutations, which run alone in order', async () => {
    const socket = await connect({ protocol: MODERN }).init(ADMIN);
    socket.start('slow', '{ sleeper { id } }');
    socket.start('fast', QUERY);
    expect((await socket.take(2)).map(({ id }) => id)).toEqual(['fast', 'fast']);
    socket.start('write', 'mutation { insert_log_one(object: {what: "late"}) { id } }');
    socket.start('read', QUERY);
    socket.send({ type: 'complete', id: 'slow' });
    expect((await socket.take(4)).map(({ id, type }) => [id, type])).toEqual([
      ['write', 'next'],
      ['write', 'complete'],
      ['read', 'next'],
      ['read', 'complete'],
    ]);
  });

  it('are checked against the limits of their role after waiting', async () => {
    const permit = (type: string, table: string, permission: object) =>
      service.metadata(`pg_create_${type}_permission`, { table, role: 'user', permission } as never);
    await permit('select', 'sleeper', { columns: ['id'], filter: {} });
    await permit('insert', 'log', { columns: ['what'], check: {} });
    await service.metadata('set_api_limits', { disabled: false, depth_limit: { global: 2, per_role: {} } });
    const socket = await connect({ protocol: MODERN }).init({ ...ADMIN, 'X-Svc-Role': 'user', 'x-svc-user-id': '2' } as never);
    try {
      socket.start('slow', '{ sleeper { id } }');
      socket.start('write', 'mutation { insert_log(objects: [{what: "limited"}]) { affected_rows } }');
      await service.metadata('set_api_limits', { disabled: false, depth_limit: { global: 1, per_role: {} } });
      socket.send({ type: 'complete', id: 'slow' });
      expect(await socket.next()).toMatchObject({
        type: 'error',
        id: 'write',
        payload: [{ message: 'the operation is 2 levels deep, but no more than 1 are allowed' }],
      });
    } finally {
      await service.metadata('remove_api_limits', {});
    }
  });

  it('are limited in number', async () => {
    const socket = await connect({ protocol: MODERN }).init(ADMIN);
    for (const id of ['1', '2', '3']) socket.start(id, '{ sleeper { id } }');
    socket.start('4', QUERY);
    expect(await socket.next()).toMatchObject({
      type: 'error',
      id: '4',
      payload: [{ message: 'the limit of 3 concurrent operations of a socket is reached', extensions: { code: 'busy' } }],
    });
  });

  it('are cancelled in the database when the client disconnects', async () => {
    const running = async (): Promise<string> => {
      const answer = (await service.sql(
        "select count(*) from pg_stat_activity where query like '%sleeper%' and state = 'active' and pid <> pg_backend_pid()",
      )) as {
        result: string[][];
      };
      return answer.result[1]?.[0] ?? '';
    };
    while ((await running()) !== '0') await new Promise((resolve) => setTimeout(resolve, 20));
    const socket = await connect().init(ADMIN);
    socket.start('1', '{ sleeper { id } }');
    while ((await running()) === '0') await new Promise((resolve) => setTimeout(resolve, 20));
    socket.close();
    while ((await running()) !== '0') await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
