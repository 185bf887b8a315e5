import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

const SCRIPT = `console.log("${'ä'.repeat(1000)}");`;
const INDEX = `<!doctype html><title>Documentation</title>${'<p>hello</p>'.repeat(100)}`;
let folder: string;
let served: TestService;
let missing: TestService;
let off: TestService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-docs-'));
  for (const name of ['assets', 'how-to', 'images']) mkdirSync(join(folder, 'built', name), { recursive: true });
  writeFileSync(join(folder, 'outside.txt'), 'not for anybody');
  const put = (name: string, content: string | Buffer) => writeFileSync(join(folder, 'built', name), content);
  put('index.html', INDEX);
  put('index.html.br', brotliCompressSync(INDEX));
  put('permissions.html', '<!doctype html><title>Permissions</title>');
  put('how-to/index.html', '<!doctype html><title>How-to guides</title>');
  put('assets/site-B2x9_0aZ.js', SCRIPT);
  put('assets/site-B2x9_0aZ.js.br', brotliCompressSync(SCRIPT));
  put('images/data.png', 'png');
  symlinkSync(join(folder, 'outside.txt'), join(folder, 'built', 'linked.txt'));
  const enabled = { ENABLE_CONSOLE: 'true', ADMIN_SECRET: 'open sesame' };
  [served, missing, off] = await Promise.all([
    startTestService({ ...enabled, DOCS_ASSETS_DIR: join(folder, 'built') }),
    startTestService({ ...enabled, DOCS_ASSETS_DIR: join(folder, 'nowhere') }),
    startTestService({ DOCS_ASSETS_DIR: join(folder, 'built') }),
  ]);
});
afterAll(async () => {
  await Promise.all([served, missing, off].map((service) => service?.stop()));
  rmSync(folder, { recursive: true });
});

interface Raw {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** A raw response: `fetch` decompresses, follows redirects and normalizes paths. */
function raw(path: string, { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {}): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(served.url);
    const out = request({ hostname, port, path, method, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }));
    });
    out.on('error', reject).end();
  });
}

describe('documentation pages', () => {
  it('are sent without credentials, with a content security policy that permits no other hosts, framing or inline scripts', async () => {
    const { status, headers, body } = await raw('/docs/permissions.html');
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: '<!doctype html><title>Permissions</title>' });
    const policy = String(headers['content-security-policy']).split('; ');
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"])
      expect(policy).toContain(rule);
    expect(policy.join()).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
      vary: 'Accept-Encoding',
    });
  });

  it.each([
    ['/docs/', 'Documentation'],
    ['/docs/index.html', 'Documentation'],
    ['/docs/how-to/', 'How-to guides'],
  ])('%s is an index page', async (path, title) => {
    expect((await raw(path)).body.toString()).toContain(`<title>${title}</title>`);
  });

  it('redirects /docs to the first page, also behind a proxy that serves the service below a path', async () => {
    const { status, headers } = await raw('/docs');
    expect(status).toBe(302);
    expect(new URL(String(headers['location']), 'http://proxy/x/docs').pathname).toBe('/x/docs/');
  });

  it('are not sent again if the client has them cached', async () => {
    const { headers } = await raw('/docs/');
    expect(await raw('/docs/', { headers: { 'if-none-match': String(headers['etag']) } })).toMatchObject({
      status: 304,
      body: Buffer.alloc(0),
    });
  });

  it('are sent compressed, as the build has compressed them or on the fly', async () => {
    const built = await raw('/docs/', { headers: { 'accept-encoding': 'br' } });
    expect(built.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(built.body).toString()).toBe(INDEX);
    const live = await raw('/docs/', { headers: { 'accept-encoding': 'gzip' } });
    expect(live.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(live.body).toString()).toBe(INDEX);
  });

  it('have no body for HEAD, and do not exist for other methods', async () => {
    expect(await raw('/docs/', { method: 'HEAD' })).toMatchObject({ status: 200, body: Buffer.alloc(0) });
    for (const method of ['POST', 'PUT', 'DELETE']) expect((await raw('/docs/', { method })).status).toBe(404);
  });
});

it('files with a hash in their name are immutable, others are revalidated', async () => {
  expect((await raw('/docs/assets/site-B2x9_0aZ.js')).headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  expect((await raw('/docs/images/data.png')).headers).toMatchObject({ 'content-type': 'image/png', 'cache-control': 'no-cache' });
});

it.each([
  ['/docs/permissions', 'permissions.html'],
  ['/docs/how-to', 'how-to/'],
])('redirects %s, an address that was typed, to its page', async (path, location) => {
  const { status, headers } = await raw(path);
  expect({ status, location: headers['location'] }).toEqual({ status: 302, location });
});

it('answers a path that is no page with a link to the first page', async () => {
  const { status, headers, body } = await raw('/docs/how-to/nothing.html');
  expect(status).toBe(404);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(body.toString()).toContain('<a href="../">first page</a>');
});

it.each([
  '/docs/linked.txt',
  '/docs/../outside.txt',
  '/docs/..%2foutside.txt',
  '/docs/assets/../../outside.txt',
  '/docs//etc/passwd',
  '/docs/constructor',
  '/docs/index.html.br',
  '/docs/%00',
])('rejects the raw path %s as a documentation file', async (path) => {
  const { status, body } = await raw(path);
  expect(status).toBe(404);
  expect(body.toString()).not.toContain('not for anybody');
});

it('does not serve the documentation unless the console is enabled', async () => {
  for (const path of ['/docs', '/docs/', '/docs/permissions.html']) expect((await off.send(path)).status).toBe(404);
});

it('says how to build the documentation if it is not built', async () => {
  for (const path of ['/docs', '/docs/permissions.html']) {
    const { status, text, headers } = await missing.send(path);
    expect(status).toBe(404);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).toContain('npm run docs');
    expect(text).toContain('but the folder');
  }
  expect((await missing.send('/healthz')).status).toBe(200);
});
