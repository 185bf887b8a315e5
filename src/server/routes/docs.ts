/** The documentation: static files from memory, where the console is enabled. */
import type { Exchange, ServerContext, StaticRoute } from '../context.ts';
import { escaped } from '../page.ts';
import { notFoundReply, type Reply } from '../reply.ts';
import type { StaticState } from '../static-files.ts';
import { fileReply, isRead, missingPage, redirect, STATIC_HEADERS } from '../static-reply.ts';

const PAGE = '/docs/';
const INDEX = 'index.html';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = { 'Content-Security-Policy': POLICY, ...STATIC_HEADERS };

/** Returns the route of the documentation, `undefined` for other requests. */
export function docsRoute({ request, path }: Exchange, { docs }: Pick<ServerContext, 'docs'>): StaticRoute | undefined {
  if (docs === null || !isRead(request)) return undefined;
  return path === '/docs' || path.startsWith(PAGE) ? route : undefined;
}

const route: StaticRoute = {
  path: '/docs/*',
  isPublic: true,
  handle: async (exchange, { docs }) => (docs === null ? notFoundReply() : answer(exchange, await docs())),
};

function answer({ path, request }: Exchange, state: StaticState): Reply {
  if (path === '/docs') return redirect('docs/', 'documentation');
  if (state.kind === 'missing') return notBuilt(state.reason);
  if (state.kind === 'off') return notFoundReply();
  const name = path.slice(PAGE.length);
  const file = state.files.get(name === '' || name.endsWith('/') ? name + INDEX : name);
  if (file !== undefined) return fileReply(file, request, HEADERS);
  if (name.startsWith('assets/')) return notFoundReply();
  // Relative, like all addresses of the site.
  const last = name.slice(name.lastIndexOf('/') + 1);
  if (state.files.has(`${name}.html`)) return redirect(`${last}.html`, last);
  if (state.files.has(`${name}/${INDEX}`)) return redirect(`${last}/`, last);
  const first = '../'.repeat(name.split('/').length - 1) || './';
  return missingPage(
    'svc: no such page',
    `<h1>No such page</h1>\n<p>Start at the <a href="${first}">first page</a>, and search there.</p>`,
  );
}

function notBuilt(reason: string): Reply {
  return missingPage(
    'svc: no documentation',
    `<h1>The documentation cannot be served</h1>
<p>It is enabled with the console, but ${escaped(reason)}.</p>
<p>In the repository, build it with <code>npm run docs</code> and restart the service. Its source is the folder <code>docs/</code>.</p>`,
  );
}
