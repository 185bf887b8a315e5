/** The welcome page for browsers. */
import { bytesOfText } from '../../util/bytes.ts';
import { preferences } from '../accept.ts';
import type { Exchange, Route, ServerContext } from '../context.ts';
import { escaped, page, PAGE_HEADERS } from '../page.ts';
import { notFoundReply, type Reply } from '../reply.ts';

const HEADERS = { ...PAGE_HEADERS, 'Cache-Control': 'no-store', Vary: 'Accept' };

/** Returns true if the client prefers HTML to JSON, as only browsers do. */
export function wantsPage(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes('text/html')) return false;
  const listed = preferences(accept);
  const weightOf = (name: string): number => listed.find((item) => item.name === name)?.weight ?? 0;
  return weightOf('text/html') > 0 && weightOf('text/html') >= weightOf('application/json');
}

/** Returns the page, which contains public information only. */
export function welcomeReply({ request, place }: Pick<Exchange, 'request' | 'place'>, { options }: Pick<ServerContext, 'options'>): Reply {
  const { host, 'x-forwarded-proto': forwarded } = request.headers;
  const address = `${forwarded === 'https' ? 'https' : 'http'}://${host !== undefined && HOST.test(host) ? host : 'localhost:8080'}`;
  const isOpen = place === 'open';
  const secret = isOpen ? '' : ` \\\n  -H "X-Svc-Admin-Secret: $SVC_GRAPHQL_ADMIN_SECRET"`;
  const curl = `curl ${address}/v1/graphql -H 'Content-Type: application/json'${secret} \\\n  -d '{"query": "{ __typename }"}'`;
  const text = page(
    'svc',
    `<h1>svc <small>${escaped(options.version)}</small></h1>
<p>One governed GraphQL API over databases and remote GraphQL servers. Its endpoint is <code>/v1/graphql</code>:</p>
<pre><code>${escaped(curl)}</code></pre>
<p>${isOpen ? 'No admin secret is set: everyone who can reach this address can read and change everything.' : 'Requests need credentials: the admin secret, or those of the configured authentication.'}</p>
<ul>
<li><a href="https://www.npmjs.com/package/svc-graphql" rel="noopener">Documentation</a>, also in the folder <code>docs</code> of the package</li>
<li><a href="/healthz">Health</a> and <a href="/v1/version">version</a></li>
</ul>`,
  );
  return { status: 200, contentType: 'text/html; charset=utf-8', body: [bytesOfText(text)], headers: HEADERS };
}

/** Host names without characters that a shell or HTML would interpret. */
const HOST = /^[A-Za-z0-9.:[\]_-]{1,255}$/;

export const welcomeRoute: Route = {
  method: 'GET',
  path: '/',
  isPublic: true,
  handle: (exchange, context) =>
    Promise.resolve(wantsPage(exchange.request.headers.accept) ? welcomeReply(exchange, context) : notFoundReply()),
};
