import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../errors/svc-error.ts';
import type { OutboundClient } from '../http-client/client.ts';
import { OutboundError } from '../http-client/outbound-error.ts';
import type { MissingVariables } from '../metadata/environment-template.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { ResponseFault, responseJson, responseJsonCooperatively } from './response-json.ts';
import { callWebhook } from './call-webhook.ts';
import { httpException } from './http-exception.ts';
import { loggedHeaders, loggedTransformedUrl, loggedUrl } from './logged-call.ts';
import { retryAfter } from './retry-after.ts';
import { signatureOf } from './signature.ts';
import { openWebhook, type WebhookCall, type WebhookDefinition } from './webhook.ts';
import type { OutboundRequest } from '../http-client/request.ts';

describe('a call', () => {
  const request = { url: 'http://u:p@host/hook?key=1', method: 'POST', timeout: 100_000, maxResponseSize: 10 } as const;

  function recorder(): { readonly sent: OutboundRequest[]; readonly outbound: OutboundClient } {
    const sent: OutboundRequest[] = [];
    const send = (call: OutboundRequest) => {
      sent.push(call);
      return Promise.resolve({ status: 200, headers: {}, body: Buffer.from('') });
    };
    return { sent, outbound: { send, close: () => Promise.resolve() } };
  }

  it("ends at its timeout or at the caller's deadline", async () => {
    const { sent, outbound } = recorder();
    await callWebhook(outbound, request, {});
    await callWebhook(outbound, request, { deadline: Date.now() + 90_000 });
    await callWebhook(outbound, { ...request, timeout: Number.MAX_SAFE_INTEGER }, {});
    expect(sent.map(({ timeout }) => timeout)).toEqual([100_000, expect.toSatisfy((ms: number) => ms > 0 && ms <= 90_000), 2 ** 31 - 1]);
  });

  it('is not sent after the deadline or a cancellation', async () => {
    const { sent, outbound } = recorder();
    const cancelled = new CancellationSource();
    cancelled.cancel();
    const late = callWebhook(outbound, request, { deadline: Date.now() - 1 });
    await expect(late).rejects.toMatchObject({ failure: 'timeout', message: 'no answer from http://host/hook?*** in time' });
    await expect(callWebhook(outbound, request, { signal: cancelled })).rejects.toMatchObject({ failure: 'cancelled' });
    await expect(callWebhook(outbound, request, { signal: AbortSignal.abort() })).rejects.toMatchObject({ failure: 'cancelled' });
    expect(sent).toEqual([]);
  });

  it('ends when the caller cancels', async () => {
    const { sent, outbound } = recorder();
    const source = new CancellationSource();
    await callWebhook(outbound, request, { signal: source });
    expect(sent[0]?.signal?.aborted).toBe(false);
    source.cancel();
    expect(sent[0]?.signal?.aborted).toBe(true);
  });

  it('reports a failure without secrets of its URL', () => {
    const call = { url: request.url, template: request.url, method: 'POST', timeout: 1000 };
    expect(httpException(call, new OutboundError('timeout', 'no answer'))).toEqual({
      type: 'http_exception',
      message: 'Response timeout',
      request: { host: 'host', port: 80, secure: false, path: '/hook', queryString: '?***', method: 'POST', responseTimeout: 1000 },
    });
    expect(httpException(call, new OutboundError('connection', 'refused'))['message']).toBe('Connection failure: refused');
    expect(httpException(call, new OutboundError('refused-address', 'Blocked'))['message']).toBe('Blocked');
    expect(httpException(call, new Error('secret'))['message']).toBe('Connection failure: the call failed');
    expect(httpException({ ...call, url: 'x' }, new OutboundError('invalid-url', 'not a URL'))).toEqual({
      type: 'invalid_url',
      message: 'not a URL',
    });
  });
});

it.each([
  ['http://host/hook', '{{HOOK}}', '/***'],
  ['http://host/', '{{HOST}}', '/'],
  ['http://host/hook', '{{HOST}}/hook', '/hook'],
  ['http://host/secret/hook', '{{HOST}}/hook?a={b}', '/***/hook'],
  ['http://host/secret', '{{HOST}}/hook', '/***'],
  ['http://host/secret', 'http://host/{{PATH}}', '/***'],
  ['http://host/a/secret/hook', 'http://host/a/{{PATH}}/hook', '/***/hook'],
  ['http://host/hook', 'http://host/hook', '/hook'],
])('reports a failed call of %s, written as %s, with the path %s', (url, template, path) => {
  const error = new OutboundError('connection', `${url} cannot be called: ECONNREFUSED`);
  expect(httpException({ url, template, method: 'POST', timeout: 1 }, error)).toMatchObject({
    message: `Connection failure: http://host${path} cannot be called: ECONNREFUSED`,
    request: { path },
  });
});

const NOW = Date.parse('2026-01-01T00:00:00Z');
const YEAR = 366 * 24 * 60 * 60;

it.each<[string | string[] | undefined, number | null]>([
  [undefined, null],
  ['7', 7],
  [' 7 ', 7],
  [['1', '2'], 2],
  ['0', null],
  ['-1', null],
  ['1.5', null],
  ['soon', null],
  ['9'.repeat(400), YEAR],
  ['Thu, 01 Jan 2026 00:01:00 GMT', 60],
  ['Wed, 31 Dec 2025 23:59:00 GMT', null],
  ['Thu, 41 Jan 2026 00:01:00 GMT', null],
  ['Fri, 01 Jan 2100 00:00:00 GMT', YEAR],
])('reads Retry-After %j', (value, seconds) => {
  expect(retryAfter({ headers: { 'retry-after': value } }, NOW)).toBe(seconds);
});

describe('a response', () => {
  it('may have many values for its length if it is short', () => {
    expect(responseJson(Buffer.from(JSON.stringify(Array(20_000).fill({}))))).toHaveLength(20_000);
  });

  it('may not have more values than the limit if it is long', () => {
    expect(() => responseJson(Buffer.from(`[${'{},'.repeat(2_000_000)}{}]`))).toThrow('has too many values');
    expect(responseJson(Buffer.from(`"${'x'.repeat(6_000_000)}"`))).toHaveLength(6_000_000);
  });

  it('parses long responses to equal values and rejects the same ones', async () => {
    const rows = Array.from({ length: 30_000 }, (_, id) => ({ id, name: 'ü' }));
    expect(await responseJsonCooperatively(Buffer.from(JSON.stringify({ data: { rows } })))).toEqual({ data: { rows } });
    expect(await responseJsonCooperatively(Buffer.from('{"a":1}'))).toEqual({ a: 1 });
    const failing = (text: string): Promise<unknown> => responseJsonCooperatively(Buffer.from(text)).catch((error: unknown) => error);
    const html = `<html>${'<p>text, and more</p>'.repeat(30_000)}`;
    for (const text of [
      html,
      `[${'{},'.repeat(2_000_000)}{}]`,
      `[${'['.repeat(600)}${'1,'.repeat(200_000)}`,
      `[${'1,'.repeat(200_000)}]`,
    ]) {
      const refused = await failing(text);
      expect(refused).toBeInstanceOf(ResponseFault);
      expect(() => responseJson(Buffer.from(text))).toThrow((refused as Error).message);
    }
  });
});

describe('logs', () => {
  it('show headers without values from the environment and without credentials', () => {
    const configured = [
      { name: 'X-Key', valueFromEnv: 'KEY' },
      { name: 'x-mixed', value: 'v1 {{TOKEN}}' },
      { name: 'x-plain', value: 'v1' },
      { name: 'Authorization', value: 'Bearer {{TOKEN}}' },
      { name: 'Access-Token', valueFromEnv: 'ACCESS' },
    ];
    const sent = {
      'x-key': 's1',
      'x-mixed': 'v1 s2',
      'x-plain': 'v1',
      authorization: 'Bearer s2',
      'access-token': 's3',
      cookie: 's4',
      'set-cookie': ['s5', 's6'],
      'x-two': ['a', 'b'],
      'x-none': undefined,
    };
    expect(loggedHeaders(sent, configured)).toEqual([
      { name: 'x-key', value: '<from_env: KEY>' },
      { name: 'x-mixed', value: 'v1 {{TOKEN}}' },
      { name: 'x-plain', value: 'v1' },
      { name: 'authorization', value: '<REDACTED>' },
      { name: 'access-token', value: '<from_env: ACCESS>' },
      { name: 'cookie', value: '<REDACTED>' },
      { name: 'set-cookie', value: '<REDACTED>' },
      { name: 'x-two', value: 'a, b' },
    ]);
  });

  it.each([
    [{ kind: 'environment', name: 'HOOK' }, 'HOOK'],
    [{ kind: 'template', text: '{{HOOKS}}/user' }, '{{HOOKS}}/user'],
    [{ kind: 'template', text: 'https://u:p@host/a?key=1#f' }, 'https://***@host/a?***'],
    [{ kind: 'template', text: 'https://host/a#f' }, 'https://host/a'],
  ] as const)('tell the URL %j', (written, shown) => {
    expect(loggedUrl(written)).toBe(shown);
  });

  it.each([
    [
      'https://hooks.test/s3cret/user/7?x=1',
      { kind: 'template', text: '{{HOOKS}}/user' },
      'https://hooks.test/s3cret/user',
      '{{HOOKS}}/user/7?***',
    ],
    ['https://hooks.test/s3cret?x=1', { kind: 'environment', name: 'HOOK' }, 'https://hooks.test/s3cret', 'HOOK?***'],
    ['https://hooks.test/s3cretlonger', { kind: 'environment', name: 'HOOK' }, 'https://hooks.test/s3cret', '<REDACTED>'],
    ['https://other.test/s3cret', { kind: 'environment', name: 'HOOK' }, 'https://hooks.test/s3cret', '<REDACTED>'],
    ['https://other.test/a?b=1', { kind: 'template', text: 'https://hooks.test' }, 'https://hooks.test', 'https://other.test/a?***'],
    ['https://hooks.test/', { kind: 'template', text: '{{H}}' }, 'https://hooks.test', '{{H}}'],
  ] as const)('tell the URL %s that a transform made', (sent, written, filled, shown) => {
    expect(loggedTransformedUrl(sent, written, filled)).toBe(shown);
  });
});

it('signs time and body with the secret', () => {
  const header = signatureOf('s3cret', '{"a":1}', 1_700_000_000);
  const expected = createHmac('sha256', 's3cret').update('1700000000.{"a":1}').digest('hex');
  expect(header).toBe(`t=1700000000,v1=${expected}`);
});

describe('a configured webhook', () => {
  const missing: MissingVariables = (variables) => new SvcError('unexpected', variables.map(({ name }) => name).join());
  const environment = { HOST: 'http://h.test', KEY: 'k', SECRET: 's' };
  const definition: WebhookDefinition = {
    url: { kind: 'template', text: '{{HOST}}/a' },
    headers: [
      { name: 'X-Key', valueFromEnv: 'KEY' },
      { name: 'Content-Type', value: 'text/plain' },
    ],
  };
  const prepare = (more: Partial<WebhookDefinition>): WebhookCall =>
    openWebhook({ ...definition, ...more }, environment, missing).prepare(
      '{"id":7}',
      { 'content-type': 'application/json' },
      new Map([['x-svc-role', 'user']]),
    );

  it("is filled from the environment, and the service's headers take precedence", () => {
    expect(prepare({})).toEqual({
      url: 'http://h.test/a',
      method: 'POST',
      headers: { 'x-key': 'k', 'content-type': 'application/json' },
      body: '{"id":7}',
      isForm: false,
      context: null,
    });
  });

  it('distinguishes a form from JSON', () => {
    const form = { action: 'x_www_form_urlencoded', formTemplate: new Map([['id', '{{$body.id}}']]) } as const;
    expect(prepare({ requestTransform: { version: 2, body: form } })).toMatchObject({ body: 'id=7', isForm: true });
    expect(prepare({ requestTransform: { version: 2, body: { action: 'transform', template: '{{$body.id}}' } } })).toMatchObject({
      body: '7',
      isForm: false,
    });
  });

  it('is transformed, then signed', () => {
    const call = prepare({
      requestTransform: {
        version: 2,
        method: 'put',
        url: '{{$base_url}}/{{$body.id}}',
        body: { action: 'transform', template: '[{{$body.id}}]' },
      },
      signature: { secretFromEnv: 'SECRET' },
    });
    expect(call).toMatchObject({ url: 'http://h.test/a/7', method: 'PUT', body: '[7]' });
    const time = /^t=(\d+),/.exec(call.headers['x-svc-signature'] ?? '')?.[1];
    expect(call.headers['x-svc-signature']).toBe(signatureOf('s', '[7]', Number(time)));
  });

  it('cannot be opened without its variables', () => {
    expect(() => openWebhook({ ...definition, url: { kind: 'environment', name: 'NONE' } }, environment, missing)).toThrow('NONE');
    expect(() => openWebhook({ ...definition, signature: { secretFromEnv: 'NONE' } }, environment, missing)).toThrow('NONE');
  });

  it('shows the written URL in transform errors, without values from the environment', () => {
    const secret = { ...environment, HOST: 'http://u:s3cret@h.test/s3cret\n' };
    const faultsOf = (url: string | undefined): string => {
      try {
        const requestTransform = { version: 2, method: 'PUT', ...(url === undefined ? {} : { url }) } as const;
        openWebhook({ ...definition, requestTransform }, secret, missing).prepare('{}', {}, null);
      } catch (error) {
        return `${(error as Error).message} ${JSON.stringify((error as { faults?: unknown }).faults)}`;
      }
      return 'none';
    };
    for (const url of [undefined, '{{$base_url}}/b', '{{[$base_url]}}']) {
      expect(faultsOf(url)).toContain('{{HOST}}/a');
      expect(faultsOf(url)).not.toContain('s3cret');
    }
  });

  it('rejects an unsupported method', () => {
    expect(() => prepare({ requestTransform: { version: 2, method: 'BREW' } })).toThrow('Unsupported HTTP method: BREW');
  });
});
