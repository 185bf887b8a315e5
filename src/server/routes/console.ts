/** The console: static files from memory. The endpoints that it calls have their own access control. */
import type { Exchange, StaticRoute } from '../context.ts';
import { escaped } from '../page.ts';
import { notFoundReply, type Reply } from '../reply.ts';
import type { StaticState } from '../static-files.ts';
import { fileReply, isRead, missingPage, redirect, STATIC_HEADERS } from '../static-reply.ts';

const PAGE = '/console/';
const INDEX = 'index.html';

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

const HEADERS = { 'Content-Security-Policy': POLICY, ...STATIC_HEADERS };

/** Returns the route of the console, `undefined` for other requests. */
export function consoleRoute({ request, path }: Exchange, { kind }: StaticState): StaticRoute | undefined {
  if (kind === 'off' || !isRead(request)) return undefined;
  return path === '/' || path === '/console' || path.startsWith(PAGE) ? route : undefined;
}

const route: StaticRoute = {
  path: '/console/*',
  isPublic: true,
  handle: (exchange, { console }) => Promise.resolve(answer(exchange, console)),
};

function answer({ path, request }: Exchange, state: StaticState): Reply {
  if (path === '/') return redirect('console/', 'console');
  if (path === '/console') return redirect('console/', 'console');
  if (state.kind === 'missing') return missingReply(state.reason);
  if (state.kind === 'off') return notFoundReply();
  const name = path.slice(PAGE.length);
  const file = name === INDEX ? undefined : state.files.get(name || INDEX);
  if (file !== undefined) return fileReply(file, request, HEADERS);
  // A file of another version, or an old bookmark.
  if (name.startsWith('assets/')) return notFoundReply();
  return redirect('../'.repeat(name.split('/').length - 1) || './', 'console');
}

function missingReply(reason: string): Reply {
  return missingPage(
    'svc: no console',
    `<h1>The console is not available</h1>
<p>It is enabled (<code>--enable-console</code>), but ${escaped(reason)}.</p>
<p>In the repository, build it with <code>npm run build</code>. The API works without it.</p>`,
  );
}
