/** Handler calls: their payload, and the handling of responses. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type HandlerServer, startHandlerServer } from '../support/handler-server.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let handler: HandlerServer;

const TYPES: JsonObject = {
  input_objects: [
    {
      name: 'Point',
      fields: [
        { name: 'x', type: 'Int!' },
        { name: 'y', type: 'Float' },
        { name: 'tag', type: 'Color' },
      ],
    },
    { name: 'Line', fields: [{ name: 'points', type: '[Point!]!' }] },
  ],
  objects: [
    {
      name: 'User',
      description: 'Somebody.',
      fields: [
        { name: 'id', type: 'Int!' },
        { name: 'name', type: 'String' },
        { name: 'friend', type: 'User' },
        { name: 'extra', type: 'Anything' },
      ],
    },
    {
      name: 'Other',
      fields: [
        { name: 'users', type: '[User!]!' },
        { name: 'at', type: 'timestamptz' },
      ],
    },
  ],
  scalars: [{ name: 'Anything' }],
  enums: [{ name: 'Color', values: [{ value: 'red' }, { value: 'blue', is_deprecated: true }] }],
};

beforeAll(async () => {
  handler = await startHandlerServer();
  service = await startTestService(
    { DEV_MODE: 'true', ENABLED_LOG_TYPES: 'action-handler-log', ACTION_RESPONSE_LIMIT: '1000000' },
    { HANDLERS: handler.url, KEY: 's3cret' },
  );
  await service.metadata('set_custom_types', TYPES);
  const outputs: readonly (readonly [string, string])[] = [
    ['user', 'User'],
    ['sure', 'User!'],
    ['users', '[User!]'],
    ['grid', '[[User]]'],
    ['text', 'String'],
    ['num', 'Int!'],
    ['flag', 'Boolean'],
    ['any', 'Anything'],
    ['other', 'Other!'],
    ['color', 'Color'],
  ];
  await service.metadata(
    'bulk',
    outputs.map(([name, output_type]) => ({
      type: 'create_action',
      args: { name, definition: { handler: '{{HANDLERS}}/a', type: 'query', output_type } },
    })),
  );
  await service.metadata('create_action', {
    name: 'draw',
    comment: 'Draws.',
    definition: {
      handler: '{{HANDLERS}}/draw?token={{KEY}}',
      arguments: [
        { name: 'line', type: 'Line!' },
        { name: 'color', type: 'Color' },
        { name: 'when', type: 'timestamptz' },
        { name: 'ids', type: '[ID]' },
      ],
      output_type: 'User',
      headers: [
        { name: 'X-Key', value_from_env: 'KEY' },
        { name: 'X-Mixed', value: 'a {{KEY}}' },
        { name: 'User-Agent', value: 'mine' },
      ],
      forward_client_headers: true,
    },
  });
  await service.metadata('create_action', { name: 'second', definition: { handler: '{{HANDLERS}}/second', output_type: 'String' } });
});
afterAll(async () => {
  await service.stop();
  await handler.close();
});
beforeEach(() => {
  handler.requests.length = 0;
  handler.answer = () => ({ body: null });
});

const failure = async (query: string): Promise<JsonObject> =>
  ((await service.graphql(query)) as { errors: JsonObject[] }).errors[0] as JsonObject;

describe('an action call', () => {
  test('contains the action, its input, the session and the query', async () => {
    handler.answer = () => ({ body: { id: 7, name: 'n', more: true } });
    const query =
      'mutation Draw($y: Float, $none: Color, $line: Point) { draw(line: {points: [{x: 1, y: $y, tag: red}, $line]}, color: $none, ids: 5) { n: name id } }';
    const answer = await service.graphql(query.replace(', $line]', ']').replace(', $line: Point', ''), {
      variables: { y: 2.5 },
      role: 'admin',
      session: { 'User-Id': '5' },
    });
    expect(answer).toEqual({ data: { draw: { n: 'n', id: 7 } } });
    expect(handler.requests).toHaveLength(1);
    expect(handler.requests[0]?.json).toEqual({
      action: { name: 'draw' },
      input: { line: { points: [{ x: 1, y: 2.5, tag: 'red' }] }, ids: [5] },
      session_variables: { 'x-svc-role': 'admin', 'x-svc-user-id': '5' },
      request_query: query.replace(', $line]', ']').replace(', $line: Point', ''),
    });
  });

  test('has headers of the service, the configured ones and those of the client', async () => {
    await service.send('/v1/graphql', {
      method: 'POST',
      headers: { 'x-own': 'o', 'x-svc-user-id': '5', cookie: 'c=1', 'x-key': 'client', 'accept-language': 'de', 'user-agent': 'browser' },
      body: JSON.stringify({ query: 'mutation { draw(line: {points: []}) { id } }' }),
    });
    const headers = handler.requests[0]?.headers ?? {};
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^svc-graphql\//),
      'x-own': 'o',
      cookie: 'c=1',
      'x-key': 'client',
      'x-mixed': 'a s3cret',
      'x-forwarded-user-agent': 'browser',
      'x-forwarded-host': new URL(service.url).host,
    });
    expect(headers).not.toHaveProperty('x-svc-user-id');
    expect(headers).not.toHaveProperty('accept-language');
    expect(handler.requests[0]?.path).toBe('/draw?token=s3cret');
  });

  test('is rejected before it is sent for invalid input', async () => {
    for (const [args, message] of [
      ['line: {points: [{}]}', "missing required field 'x'"],
      ['line: {points: [{x: "1"}]}', "expected a 32-bit integer for type 'Int', but found a string"],
      ['line: {points: []}, color: green', "expected one of the values ['blue', 'red'] for type 'Color', but found 'green'"],
      ['line: {points: [], more: 1}', "field 'more' not found in type: 'Line'"],
      ['', "missing required field 'line'"],
    ] as const) {
      const answer = await service.graphql(`mutation { draw${args === '' ? '' : `(${args})`} { id } }`);
      expect(answer).toMatchObject({ errors: [{ message, extensions: { code: 'validation-failed' } }] });
    }
    const { errors } = await service.graphql('mutation ($l: Line!) { draw(line: $l) { id } }', {
      variables: { l: { points: [{ x: 1, tag: 'pink' }] } },
    });
    expect(errors).toMatchObject([
      {
        message: "expected one of the values ['blue', 'red'] for type 'Color', but found 'pink'",
        extensions: { path: '$.selectionSet.draw.args.line.points[0].tag' },
      },
    ]);
    expect(handler.requests).toEqual([]);
  });

  test('forwards cookies to the client of a mutation, but not of a query', async () => {
    handler.answer = () => ({ headers: { 'set-cookie': ['a=1', 'b=2'] }, body: null });
    const ask = (query: string) => service.send('/v1/graphql', { method: 'POST', body: JSON.stringify({ query }) });
    expect((await ask('mutation { second draw(line: {points: []}) { id } }')).headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect((await ask('{ user { id } }')).headers.getSetCookie()).toEqual([]);
  });

  test('runs concurrently in queries, and in order in mutations', async () => {
    // The handler answers only after all calls have arrived.
    let asked = 0;
    let answerAll: () => void = () => undefined;
    const allAsked = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    handler.answer = async () => {
      asked += 1;
      if (asked === 4) answerAll();
      await allAsked;
      return { body: 'null' };
    };
    await service.graphql('{ a: user { id } b: user { id } c: user { id } d: users { id } }');
    expect(asked).toBe(4);
    const order: string[] = [];
    handler.answer = async ({ json }) => {
      order.push(`+${json.action.name}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
      order.push(`-${json.action.name}`);
      return { body: 'null' };
    };
    await service.graphql('mutation { draw(line: {points: []}) { id } second }');
    expect(order).toEqual(['+draw', '-draw', '+second', '-second']);
  });

  test('is logged without secrets', async () => {
    const before = service.observations.length;
    await service.graphql('mutation { draw(line: {points: []}) { id } }');
    const [logged] = service.observations.slice(before).filter(({ kind }) => kind === 'action');
    expect(logged).toMatchObject({
      action: 'draw',
      type: 'mutation-synchronous',
      request: {
        url: '{{HANDLERS}}/draw?***',
        method: 'POST',
        headers: expect.arrayContaining([
          { name: 'x-key', value: '<from_env: KEY>' },
          { name: 'x-mixed', value: 'a {{KEY}}' },
        ]),
      },
      outcome: { status: 200, responseSize: 4 },
    });
    expect(JSON.stringify(logged)).not.toContain('s3cret');
  });
});

describe('the response of a handler', () => {
  test('is selected from in the order of the query, at any depth', async () => {
    handler.answer = () => ({
      body: '{"users":[{"id":1,"extra":{"a":12345678901234567890,"b":1.50},"friend":{"name":"f"}},{"id":2}],"at":"x"}',
    });
    const query = '{ other { at ...F __typename } } fragment F on Other { list: users { friend { name id __typename } extra id } }';
    const answer = await service.send('/v1/graphql', { method: 'POST', body: JSON.stringify({ query }) });
    expect(answer.text).toBe(
      '{"data":{"other":{"at":"x","list":[{"friend":{"name":"f","id":null,"__typename":"User"},"extra":{"a":12345678901234567890,"b":1.50},"id":1},' +
        '{"friend":null,"extra":null,"id":2}],"__typename":"Other"}}}',
    );
  });

  test.each<[string, unknown, unknown]>([
    ['user { id }', null, null],
    ['users { id }', [{ id: 1 }], [{ id: 1 }]],
    ['grid { id }', [[{ id: 1 }, null], null], [[{ id: 1 }, null], null]],
    ['text', '"t"', 't'],
    ['num', 5, 5],
    ['flag', true, true],
    ['any', { a: [1] }, { a: [1] }],
    ['color', '"green"', 'green'],
  ])('%s: %j is valid', async (field, body, data) => {
    handler.answer = () => ({ body });
    expect(await service.graphql(`{ x: ${field} }`)).toEqual({ data: { x: data } });
  });

  test.each<[string, unknown, string]>([
    ['sure { id }', null, 'got null for the action webhook response'],
    ['num', null, 'got null for the action webhook response'],
    ['user { id }', '"t"', 'got scalar String for the action webhook response, expecting User'],
    ['user { id }', 5, 'got scalar String for the action webhook response, expecting User'],
    ['users { id }', 5, 'got scalar String for the action webhook response, expecting [User!]'],
    ['user { id }', true, 'got scalar Boolean for the action webhook response, expecting User'],
    ['sure { id }', [], 'got array for the action webhook response, expecting User'],
    ['users { id }', { id: 1 }, 'got object for the action webhook response, expecting [User!]'],
    ['text', {}, 'got object for the action webhook response, expecting String'],
    ['text', 5, 'got scalar String for the action webhook response, expecting String'],
    ['users { id }', [5], 'expecting array for the action webhook response'],
    ['grid { id }', [{ id: 1 }], 'expecting array for the action webhook response'],
    ['user { name }', {}, 'field "id" expected in webhook response, but not found'],
    ['users { id }', [{ id: null }], 'expecting not null value for field "id"'],
    ['other { users { id } }', { users: 'x' }, 'got scalar String for the field "users", expecting an object'],
  ])('%s: %j is rejected', async (field, body, message) => {
    handler.answer = () => ({ body });
    expect(await failure(`{ ${field} }`)).toMatchObject({
      message,
      extensions: { path: '$', code: 'unexpected', internal: { error: 'unexpected response', response: { status: 200 } } },
    });
  });

  test('is shown to administrators with the request if it is rejected', async () => {
    handler.answer = () => ({ headers: { 'set-cookie': 'secret=1', 'x-more': 'm' }, body: '"t"' });
    const { extensions } = (await failure('mutation { draw(line: {points: []}) { id } }')) as { extensions: JsonObject };
    expect(extensions['internal']).toMatchObject({
      error: 'unexpected response',
      request: {
        url: '{{HANDLERS}}/draw?***',
        headers: expect.arrayContaining([{ name: 'x-key', value: '<from_env: KEY>' }]),
        body: { action: { name: 'draw' }, input: { line: { points: [] } } },
        transformed_request: null,
      },
      response: {
        status: 200,
        body: 't',
        headers: expect.arrayContaining([
          { name: 'x-more', value: 'm' },
          { name: 'set-cookie', value: '<REDACTED>' },
        ]),
      },
    });
    expect(JSON.stringify(extensions)).not.toContain('s3cret');
  });

  test.each<[unknown, unknown]>([
    [
      { message: 'no', code: 'mine' },
      { message: 'no', extensions: { path: '$', code: 'mine' } },
    ],
    [{ message: 'no' }, { message: 'no', extensions: { path: '$', code: 'unexpected' } }],
    [
      { message: 'no', code: 'mine', extensions: { a: [1], code: 'other' } },
      { message: 'no', extensions: { a: [1], code: 'other' } },
    ],
    [
      { message: 'no', extensions: {} },
      { message: 'no', extensions: {} },
    ],
  ])('%j with status 4xx is reported as the error', async (body, error) => {
    handler.answer = () => ({ status: 422, body });
    expect(await service.graphql('{ user { id } }')).toEqual({ errors: [error] });
    const kept = await service.send('/v1alpha1/graphql', { method: 'POST', body: JSON.stringify({ query: '{ user { id } }' }) });
    expect(kept).toMatchObject({ status: 422, json: { errors: [error] } });
  });

  test.each<[string, { status: number; body: unknown }, string, string]>([
    ['no message', { status: 400, body: { code: 'x' } }, 'internal error', 'not a valid response'],
    ['a server error', { status: 500, body: { message: 'm' } }, 'internal error', 'expecting 2xx or 4xx status code, but found 500'],
    ['a redirect', { status: 302, body: {} }, 'internal error', 'expecting 2xx or 4xx status code, but found 302'],
    ['no JSON', { status: 200, body: '<html>' }, 'not a valid json response from webhook', 'invalid JSON: the response is not valid JSON'],
    ['nothing', { status: 200, body: '' }, 'not a valid json response from webhook', 'invalid JSON: the response is not valid JSON'],
    [
      'lists in lists',
      { status: 200, body: '['.repeat(5000) + ']'.repeat(5000) },
      'not a valid json response from webhook',
      'invalid JSON: the response is nested deeper than 512 levels',
    ],
  ])('with %s is an error', async (_what, answer, message, error) => {
    handler.answer = () => answer;
    expect(await failure('{ user { id } }')).toMatchObject({ message, extensions: { path: '$', code: 'unexpected', internal: { error } } });
  });

  test('that is too large is an error', async () => {
    handler.answer = () => ({ body: `"${'x'.repeat(2_000_000)}"` });
    expect(await failure('{ text }')).toMatchObject({
      message: 'http exception when calling webhook',
      extensions: { internal: { error: 'the responses of handlers exceed 1000000 bytes', response: null } },
    });
    handler.answer = () => ({ body: `"${'x'.repeat(600_000)}"` });
    expect(await service.graphql('{ text }')).toHaveProperty('data');
    expect(await failure('{ a: text b: text }')).toMatchObject({ message: 'http exception when calling webhook' });
  });

  test('that never arrives is an error', async () => {
    handler.answer = () => 'hang';
    await service.metadata('create_action', {
      name: 'slow',
      definition: { handler: '{{HANDLERS}}/slow', type: 'query', output_type: 'String', timeout: 1 },
    });
    expect(await failure('{ slow }')).toMatchObject({
      message: 'http exception when calling webhook',
      extensions: { code: 'unexpected', internal: { error: { type: 'http_exception', message: 'Response timeout' } } },
    });
    handler.answer = () => 'reset';
    expect(await failure('{ slow }')).toMatchObject({
      message: 'http exception when calling webhook',
      extensions: { internal: { response: null } },
    });
    await service.metadata('drop_action', { name: 'slow' });
  });

  test('that redirects to a forbidden address is an error', async () => {
    handler.answer = () => ({ status: 307, headers: { location: 'http://169.254.169.254/latest' }, body: {} });
    expect(await failure('{ user { id } }')).toMatchObject({
      message: 'internal error',
      extensions: { internal: { error: 'expecting 2xx or 4xx status code, but found 307' } },
    });
  });
});

test('a signed call proves its origin', async () => {
  const definition = { handler: '{{HANDLERS}}', type: 'query', output_type: 'Int', signature: { secret_from_env: 'KEY' } };
  await service.metadata('create_action', { name: 'signed', definition });
  handler.answer = () => ({ body: 1 });
  expect(await service.graphql('{ signed }')).toEqual({ data: { signed: 1 } });
  const [request] = handler.requests;
  const [, seconds = '', digest = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(request?.headers['x-svc-signature'])) ?? [];
  expect(digest).toBe(createHmac('sha256', 's3cret').update(`${seconds}.${request?.body}`).digest('hex'));
  const missing = { ...definition, signature: { secret_from_env: 'NOT_SET' } };
  await expect(service.metadata('create_action', { name: 'unsigned', definition: missing })).rejects.toThrow(
    "environment variable 'NOT_SET' not set",
  );
});

describe('action transforms', () => {
  const transformed = async (definition: JsonObject): Promise<void> => {
    await service.metadata('create_action', {
      name: 'changed',
      definition: {
        handler: '{{HANDLERS}}/base',
        type: 'query',
        output_type: 'User',
        arguments: [{ name: 'id', type: 'Int' }],
        ...definition,
      },
    });
  };
  const drop = (): Promise<Json> => service.metadata('drop_action', { name: 'changed' });

  test('change requests', async () => {
    await transformed({
      request_transform: {
        version: 2,
        template_engine: 'Kriti',
        method: 'PUT',
        url: '{{$base_url}}/users/{{$body.input.id}}',
        query_params: { role: "{{$session_variables['x-svc-role']}}" },
        request_headers: { add_headers: { 'x-added': '{{$body.action.name}}' }, remove_headers: ['user-agent'] },
        body: { action: 'transform', template: '{"only": {{$body.input.id}}}' },
      },
    });
    handler.answer = () => ({ body: { id: 3 } });
    expect(await service.graphql('{ changed(id: 3) { id } }')).toEqual({ data: { changed: { id: 3 } } });
    expect(handler.requests[0]).toMatchObject({
      method: 'PUT',
      path: '/base/users/3?role=admin',
      body: '{"only":3}',
      headers: { 'x-added': 'changed' },
    });
    handler.answer = () => ({ status: 500, body: null });
    expect(await failure('{ changed(id: 3) { id } }')).toMatchObject({
      extensions: {
        internal: { request: { transformed_request: { url: '{{HANDLERS}}/base/users/3?***', method: 'PUT', body: { only: 3 } } } },
      },
    });
    expect(await failure('{ changed { id } }')).toMatchObject({
      message: 'Request Transformation Failed',
      extensions: { code: 'unexpected', path: '$' },
    });
    await drop();
  });

  test('change responses', async () => {
    await transformed({
      response_transform: {
        version: 2,
        template_engine: 'Kriti',
        body: { action: 'transform', template: '{"id": {{$body.deep.id}}, "name": {{$response.status}} }' },
      },
    });
    handler.answer = () => ({ status: 201, body: { deep: { id: 9 } } });
    expect(await service.graphql('{ changed { id name } }')).toEqual({ data: { changed: { id: 9, name: 201 } } });
    handler.answer = () => ({ body: {} });
    expect(await failure('{ changed { id } }')).toMatchObject({ message: 'Response Transformation Failed' });
    await drop();
  });
});
