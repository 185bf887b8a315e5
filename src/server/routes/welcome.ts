/** What somebody sees who opens the service's address in a browser. */
import { createHash } from 'node:crypto';
import { bytesOfText } from '../../util/bytes.ts';
import { preferences } from '../accept.ts';
import type { Exchange, Route, ServerContext } from '../context.ts';
import { notFoundReply, type Reply } from '../reply.ts';

const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 44rem; margin: 4rem auto; padding: 0 1rem }
h1 small { font-weight: normal; opacity: .7 }
pre { padding: 1rem; overflow: auto; border: 1px solid; border-radius: .3rem }`;

const HEADERS = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  Vary: 'Accept',
};

/** Whether a client would rather read a page than JSON: browsers say so, and no other client does. */
export function wantsPage(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes('text/html')) return false;
  const listed = preferences(accept);
  const weightOf = (name: string): number => listed.find((item) => item.name === name)?.weight ?? 0;
  return weightOf('text/html') > 0 && weightOf('text/html') >= weightOf('application/json');
}

/** The page; what a stranger may not know is not in it. */
export function welcomeReply({ request, place }: Pick<Exchange, 'request' | 'place'>, { options }: Pick<ServerContext, 'options'>): Reply {
  const { host, 'x-forwarded-proto': forwarded } = request.headers;
  const address = `${forwarded === 'https' ? 'https' : 'http'}://${host !== undefined && HOST.test(host) ? host : 'localhost:8080'}`;
  const isOpen = place === 'open';
  const secret = isOpen ? '' : ` \\\n  -H "X-Svc-Admin-Secret: $SVC_GRAPHQL_ADMIN_SECRET"`;
  const curl = `curl ${address}/v1/graphql -H 'Content-Type: application/json'${secret} \\\n  -d '{"query": "{ __typename }"}'`;
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>svc <small>${escaped(options.version)}</small></h1>
<p>One governed GraphQL API over databases and remote GraphQL servers. It answers at <code>/v1/graphql</code>:</p>
<pre><code>${escaped(curl)}</code></pre>
<p>${isOpen ? 'No admin secret is set: whoever reaches this address may read and change everything.' : 'Requests need credentials: the admin secret, or what the service was told to accept.'}</p>
<ul>
<li><a href="https://www.npmjs.com/package/svc-graphql" rel="noopener">Documentation</a>, also in the folder <code>docs</code> of the package</li>
<li><a href="/healthz">Health</a> and <a href="/v1/version">version</a></li>
</ul>
</main>
</body>
</html>
`;
  return { status: 200, contentType: 'text/html; charset=utf-8', body: [bytesOfText(text)], headers: HEADERS };
}

/** Nothing that a shell or HTML would read as its own. */
const HOST = /^[A-Za-z0-9.:[\]_-]{1,255}$/;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
}

export const welcomeRoute: Route = {
  method: 'GET',
  path: '/',
  isPublic: true,
  handle: (exchange, context) =>
    Promise.resolve(wantsPage(exchange.request.headers.accept) ? welcomeReply(exchange, context) : notFoundReply()),
};
