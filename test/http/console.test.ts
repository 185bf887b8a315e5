import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

const SECRET = 'open sesame';
const SCRIPT = `console.log("${'ä'.repeat(1000)}");`;
const STYLE = 'body { color: red }'.repeat(100);
let folder: string;
let served: TestService;
let missing: TestService;
let off: TestService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-console-'));
  mkdirSync(join(folder, 'built', 'assets'), { recursive: true });
  writeFileSync(join(folder, 'outside.txt'), 'not for anybody');
  const put = (name: string, content: string | Buffer) => writeFileSync(join(folder, 'built', name), content);
  put('index.html', `<!doctype html><html><head><title>console</title></head><body>${'<p>hello</p>'.repeat(100)}</body></html>`);
  put('assets/main-B2x9_0aZ.js', SCRIPT);
  put('assets/main-B2x9_0aZ.js.br', brotliCompressSync(SCRIPT));
  put('assets/main-B2x9_0aZ.js.gz', gzipSync(SCRIPT));
  put('assets/main-C3y0_1bX.css', STYLE);
  put('favicon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  put('notes.exe', 'of no type that a page has');
  symlinkSync(join(folder, 'outside.txt'), join(folder, 'built', 'linked.txt'));
  const enabled = { ENABLE_CONSOLE: 'true', CONSOLE_ASSETS_DIR: join(folder, 'built'), ADMIN_SECRET: SECRET };
  [served, missing, off] = await Promise.all([
    startTestService({ ...enabled, CONSOLE_LABEL: 'PRODUCTION <"1">', CONSOLE_READ_ONLY: 'true' }),
    startTestService({ ...enabled, CONSOLE_ASSETS_DIR: join(folder, 'nowhere') }),
    startTestService(),
  ]);
});
afterAll(async () => {
  await Promise.all([served, missing, off].map((service) => service.stop()));
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

describe('the console page', () => {
  it('is sent with a content security policy that permits no other hosts and no framing', async () => {
    const { status, headers, body } = await raw('/console/');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const policy = String(headers['content-security-policy']);
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]) {
      expect(policy.split('; ')).toContain(rule);
    }
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
      vary: 'Accept-Encoding',
    });
    expect(body.toString()).not.toContain(SECRET);
  });

  it('contains the configuration that the console needs before sign-in', async () => {
    const html = (await raw('/console/')).body.toString();
    const content = /<meta name="svc-console" content="([^"]*)">/.exec(html)?.[1] as string;
    const settings = content
      .replace(/&quot;/g, '"')
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&amp;/g, '&');
    expect(JSON.parse(settings)).toEqual({
      label: 'PRODUCTION <"1">',
      read_only: true,
      is_admin_secret_set: true,
      session_prefix_aliases: [],
    });
  });

  it('is not sent again if the client has it cached', async () => {
    const { headers } = await raw('/console/');
    const again = await raw('/console/', { headers: { 'if-none-match': `"other", ${String(headers['etag'])}` } });
    expect(again).toMatchObject({ status: 304, body: Buffer.alloc(0) });
    expect(again.headers['content-security-policy']).toBe(headers['content-security-policy']);
    expect((await raw('/console/', { headers: { 'if-none-match': 'W/"other"' } })).status).toBe(200);
  });

  it('is compressed although it is generated at start-up', async () => {
    const { headers, body } = await raw('/console/', { headers: { 'accept-encoding': 'gzip' } });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(body).toString()).toContain('hello');
  });
});

describe('console files', () => {
  it.each([
    ['br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['gzip;q=1, br;q=0.5', 'gzip', gunzipSync],
    ['identity', undefined, (body: Buffer) => body],
  ])('are sent with the encoding for %s', async (accepted, encoding, unpack) => {
    const { status, headers, body } = await raw('/console/assets/main-B2x9_0aZ.js', { headers: { 'accept-encoding': accepted } });
    expect(status).toBe(200);
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(body.length),
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    expect(unpack(body).toString()).toBe(SCRIPT);
  });

  it('are compressed on the fly if the build has not compressed them', async () => {
    const { headers, body } = await raw('/console/assets/main-C3y0_1bX.css', { headers: { 'accept-encoding': 'br' } });
    expect(headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(body).toString()).toBe(STYLE);
  });

  it('without a hash in their name are revalidated', async () => {
    expect((await raw('/console/favicon.svg')).headers).toMatchObject({ 'content-type': 'image/svg+xml', 'cache-control': 'no-cache' });
  });

  it('have no body for HEAD', async () => {
    const { status, headers, body } = await raw('/console/assets/main-B2x9_0aZ.js', { method: 'HEAD' });
    expect({ status, length: headers['content-length'], body: body.length }).toEqual({
      status: 200,
      length: String(Buffer.byteLength(SCRIPT)),
      body: 0,
    });
  });

  it.each([
    '/console/assets/gone-B2x9_0aZ.js',
    '/console/assets/main-B2x9_0aZ.js.br',
    '/console/assets/../../outside.txt',
    '/console/assets/..%2f..%2foutside.txt',
  ])('rejects the path %s as a console file', async (path) => {
    expect((await raw(path)).status).toBe(404);
  });

  it.each(['/console/linked.txt', '/console/notes.exe', '/console/../outside.txt', '/console/constructor'])(
    'rejects the raw path %s as a console file',
    async (path) => {
      const { status, body } = await raw(path);
      expect(status).not.toBe(200);
      expect(body.toString()).not.toContain('not for anybody');
    },
  );

  it.each(['POST', 'PUT', 'DELETE'])('do not exist for method %s', async (method) => {
    expect((await raw('/console/', { method })).status).toBe(404);
  });
});

describe('other console addresses', () => {
  // Behind a proxy that serves the service below /x.
  it.each([
    ['/', '/x/', '/x/console/'],
    ['/console', '/x/console', '/x/console/'],
    ['/console/data', '/x/console/data', '/x/console/'],
    ['/console/data/default/schema', '/x/console/data/default/schema', '/x/console/'],
  ])('%s serves or redirects to the console page', async (path, shown, target) => {
    const { status, headers } = await raw(path);
    expect(status).toBe(302);
    expect(new URL(String(headers['location']), `http://proxy${shown}`).pathname).toBe(target);
  });

  it('leaves the other endpoints unchanged', async () => {
    expect((await served.send('/healthz')).text).toBe('OK');
    expect((await served.send('/consoles')).status).toBe(404);
  });
});

it('does not serve the console unless it is enabled', async () => {
  for (const path of ['/console', '/console/', '/console/favicon.svg']) expect((await off.send(path)).status).toBe(404);
});

it('reports why an enabled console is unavailable', async () => {
  const { status, text, headers } = await missing.send('/console');
  expect(status).toBe(404);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(text).toContain('npm run build');
  expect(missing.observations).toContainEqual(expect.objectContaining({ kind: 'startup', message: 'console_missing' }));
  expect((await missing.send('/healthz')).status).toBe(200);
});
