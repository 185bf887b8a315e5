import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { SECRET: 'of the service' });
});
afterAll(() => service.stop());

const ask = (args: JsonObject): Promise<Answer> =>
  service.send('/v1/metadata', {
    method: 'POST',
    body: JSON.stringify({ type: 'test_webhook_transform', args: { webhook_url: 'http://localhost:1234', body: { id: 7 }, ...args } }),
  });
const shown = async (args: JsonObject): Promise<Json> => {
  const answer = await ask(args);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};

describe('the preview of a request transform', () => {
  it('shows the examples of docs/transforms.md', async () => {
    const page = readFileSync(new URL('../../docs/transforms.md', import.meta.url), 'utf8');
    const [asked, answered] = [...page.matchAll(/^```json (?:metadata|answer)\n(.*?)^```/gms)].map(
      ([, text = '']) => JSON.parse(text) as JsonObject,
    );
    expect(await shown(asked?.['args'] as JsonObject)).toEqual(answered);
  });

  it('shows an unchanged request', async () => {
    expect(await shown({ request_transform: {} })).toEqual({
      webhook_url: 'http://localhost:1234/',
      method: 'GET',
      headers: [],
      body: { id: 7 },
    });
  });

  it('shows a request with every part changed', async () => {
    const answer = await shown({
      webhook_url: 'http://{{HOST}}/hook?a=b',
      env: { HOST: 'example.org', TOKEN: 't' },
      request_headers: [
        ['X-Token', '{{TOKEN}}'],
        ['User-Agent', 'svc'],
      ],
      session_variables: { 'X-Svc-User-Id': '5' },
      request_transform: {
        version: 2,
        template_engine: 'Kriti',
        method: 'PUT',
        url: '{{$base_url}}&c=d',
        request_headers: { remove_headers: ['user-agent'], add_headers: { 'Content-Type': 'application/json' } },
        body: { action: 'transform', template: '{"id": {{$body.id}}, "user": {{getSessionVariable(\'x-svc-user-id\')}}}' },
      },
    });
    expect(answer).toEqual({
      webhook_url: 'http://example.org/hook?a=b&c=d',
      method: 'PUT',
      headers: [
        ['x-token', 't'],
        ['content-type', 'application/json'],
      ],
      body: { id: 7, user: '5' },
    });
  });

  it.each<[JsonObject, Json]>([
    [{ action: 'remove' }, ''],
    [{ action: 'x_www_form_urlencoded', form_template: { a: '{{$body.id}}', b: 'c d' } }, 'a=7&b=c%20d'],
    [{ action: 'transform', template: '$session_variables' }, null],
  ])('with the body of %j', async (body, expected) => {
    expect(await shown({ request_transform: { version: 2, body } })).toMatchObject({ body: expected });
  });

  it('shows a URL from an environment variable', async () => {
    const answer = await shown({ webhook_url: { from_env: 'URL' }, env: { URL: 'https://example.org?a' }, request_transform: {} });
    expect(answer).toMatchObject({ webhook_url: 'https://example.org?a' });
  });
});

describe('the validation of a request transform', () => {
  const MISSING =
    /^Missing Env Var: (SECRET|constructor)\. For security reasons when testing request options real environment variable values are not available\. /;

  it.each<JsonObject>([
    { webhook_url: 'http://{{SECRET}}' },
    { webhook_url: { from_env: 'SECRET' } },
    { webhook_url: { from_env: 'constructor' } },
    { webhook_url: 'http://{{constructor}}' },
    { request_headers: [['a', '{{SECRET}}']] },
  ])('variables that only the service has: %j', async (args) => {
    const { status, json } = await ask({ ...args, request_transform: {} });
    expect(status).toBe(400);
    expect(json).toEqual({ path: '$.args', code: 'not-found', error: expect.stringMatching(MISSING) });
  });

  it('rejects an invalid URL', async () => {
    const { status, json } = await ask({ webhook_url: 'localhost:1234', request_transform: { url: 'http://example.org' } });
    expect(status).toBe(400);
    expect(json).toEqual({
      path: '$.args',
      code: 'validation-failed',
      error: 'request transform validation failed',
      internal: [{ error_code: 'Request Initialization Error', message: 'Invalid URL: localhost:1234' }],
    });
  });

  it('rejects failing templates with all of their errors', async () => {
    const { status, json } = await ask({ request_transform: { url: '{{$body.x}}', body: '$nobody' } });
    const place = (start: number, end: number): JsonObject => ({ start_line: 0, start_column: start, end_line: 0, end_column: end });
    expect(status).toBe(400);
    expect(json).toEqual({
      path: '$.args',
      code: 'validation-failed',
      error: 'request transform validation failed',
      internal: [
        { error_code: 'Name Error', message: "Variable '$nobody' not in scope", source_position: place(1, 8) },
        { error_code: 'Attribute Error', message: "'Object' has no attribute 'x'.", source_position: place(3, 10) },
      ],
    });
  });

  it('rejects invalid response templates, and accepts those that could fail at run time', async () => {
    const { status, json } = await ask({ request_transform: {}, response_transform: { body: '{{' } });
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'validation-failed', error: 'response transform validation failed', path: '$.args' });
    await shown({ request_transform: {}, response_transform: { body: '$body.anything' } });
  });

  it.each<[JsonObject, string, string]>([
    [{}, '$.args', "the key 'request_transform' was not present"],
    [{ request_transform: { version: 2, body: {} } }, '$.args.request_transform.body', "the key 'action' was not present"],
    [{ request_transform: {}, request_headers: [['a']] }, '$.args.request_headers[0]', 'expected a header as [name, value]'],
    [{ request_transform: {}, webhook_url: 1 }, '$.args.webhook_url', 'parsing FromEnv failed, expected Object, but encountered Number'],
    [{ request_transform: {}, env: { a: 1 } }, '$.args.env.a', 'parsing Text failed, expected String, but encountered Number'],
  ])('%j', async (args, path, error) => {
    const { status, json } = await ask(args);
    expect(status).toBe(400);
    expect(json).toEqual({ path, error, code: 'parse-failed' });
  });
});
