/** The console: static files from memory. The endpoints that it calls have their own access control. */
import { bytesOfText } from '../../util/bytes.ts';
import { chooseEncoding } from '../compression.ts';
import type { ConsoleFile } from '../console-files.ts';
import type { Exchange, Route } from '../context.ts';
import { escaped, HTML_TYPE, page, PAGE_HEADERS } from '../page.ts';
import { notFoundReply, type Reply } from '../reply.ts';
import type { ConsoleState } from '../console-state.ts';

const PAGE = '/console/';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svc-worker',
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'clipboard-write=(self)',
};

/** Returns the route of the console, `undefined` for other requests. */
export function consoleRoute({ request, path }: Exchange, { kind }: ConsoleState): Omit<Route, 'method' | 'path'> | undefined {
  if (kind === 'off' || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined;
  return path === '/' || path === '/console' || path.startsWith(PAGE) ? route : undefined;
}

const route: Omit<Route, 'method' | 'path'> = {
  isPublic: true,
  handle: (exchange, { console }) => Promise.resolve(answer(exchange, console)),
};

function answer({ path, request }: Exchange, state: ConsoleState): Reply {
  // Relative, because a proxy may serve the console below a prefix that it strips from requests.
  if (path === '/') return redirect('console/');
  if (path === '/console') return redirect('console/');
  if (state.kind === 'missing') return missingReply(state.reason);
  if (state.kind === 'off') return notFoundReply();
  const name = path.slice(PAGE.length);
  const file = state.files.get(name);
  if (file !== undefined) return fileReply(file, request.headers);
  // A file of another version, or an old bookmark.
  if (name.startsWith('assets/')) return notFoundReply();
  return redirect('../'.repeat(name.split('/').length - 1) || './');
}

function fileReply(file: ConsoleFile, headers: Exchange['request']['headers']): Reply {
  const common = {
    ...HEADERS,
    'Cache-Control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: file.etag,
    Vary: 'Accept-Encoding',
  };
  if (isKnown(headers['if-none-match'], file.etag)) return { status: 304, contentType: file.contentType, body: [], headers: common };
  const { encoding } = chooseEncoding(headers['accept-encoding']);
  const compressed = encoding === null ? undefined : file.compressed[encoding];
  if (encoding === null || compressed === undefined) {
    return { status: 200, contentType: file.contentType, body: [file.plain], headers: common };
  }
  return { status: 200, contentType: file.contentType, body: [compressed], headers: common, encoding };
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((each) => each.trim() === etag || each.trim() === '*');
}

function redirect(location: string): Reply {
  return {
    status: 302,
    contentType: HTML_TYPE,
    body: [bytesOfText(page('svc', `<p>The <a href="${location}">console</a>.</p>`))],
    headers: { ...PAGE_HEADERS, Location: location, 'Cache-Control': 'no-store' },
  };
}

function missingReply(reason: string): Reply {
  const main = `<h1>The console is not available</h1>
<p>It is enabled (<code>--enable-console</code>), but ${escaped(reason)}.</p>
<p>In the repository, build it with <code>npm run build</code>. The API works without it.</p>`;
  return {
    status: 404,
    contentType: HTML_TYPE,
    body: [bytesOfText(page('svc: no console', main))],
    headers: { ...PAGE_HEADERS, 'Cache-Control': 'no-store' },
  };
}
