import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const SECRET = 'open sesame';
let open: TestService;
let secured: TestService;

beforeAll(async () => {
  [open, secured] = await Promise.all([startTestService(), startTestService({ ADMIN_SECRET: SECRET })]);
});
afterAll(() => Promise.all([open.stop(), secured.stop()]));

const unescaped = (html: string): string =>
  html
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&');

describe.each(['/', '/v1/graphql', '/v1/graphql?x=1', '/v1alpha1/graphql'])('a browser at %s', (path) => {
  it('gets a page of its own', async () => {
    for (const service of [open, secured]) {
      const { status, headers, text } = await service.send(path, { headers: BROWSER });
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      const { version } = (await service.send('/v1/version')).json as { version: string };
      expect(text).toContain(version);
      expect(text).not.toMatch(/<script|src=|<link|\bon\w+=|style="/);
      expect(text).not.toContain(SECRET);
      const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] as string;
      const hash = createHash('sha256').update(style).digest('base64');
      expect(headers.get('content-security-policy')).toBe(
        `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      );
    }
  });
});

it('shows a working command', async () => {
  for (const service of [open, secured]) {
    const { text } = await service.send('/', { headers: BROWSER });
    const command = unescaped(/<pre><code>([\s\S]*?)<\/code>/.exec(text)?.[1] as string);
    expect(command).toContain(`${service.url}/v1/graphql`);
    // The service runs in this process and cannot answer while the test waits for the command.
    expect(execFileSync('sh', ['-n', '-c', command]).toString()).toBe('');
    const [, body] = /-d '([^']*)'/.exec(command) as unknown as [string, string];
    const headers = { 'content-type': 'application/json', 'x-svc-admin-secret': SECRET };
    expect((await service.send('/v1/graphql', { method: 'POST', headers, body })).json).toEqual({ data: { __typename: 'query_root' } });
    expect(command.includes('X-Svc-Admin-Secret')).toBe(service === secured);
  }
});

it('is distinguished from other clients', async () => {
  for (const accept of ['*/*', 'application/json', 'text/html;q=0, application/json', 'application/json, text/html;q=0.5']) {
    expect((await open.send('/', { headers: { accept } })).json).toEqual({
      path: '$',
      error: 'resource does not exist',
      code: 'not-found',
    });
    expect((await open.send('/v1/graphql', { headers: { accept } })).headers.get('content-type')).toContain('json');
  }
  expect((await open.send('/v1/graphql?query={__typename}', { headers: BROWSER })).json).toEqual({ data: { __typename: 'query_root' } });
  expect((await open.send('/nowhere', { headers: BROWSER })).status).toBe(404);
});
