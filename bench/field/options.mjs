// Options of `bench/field/run.mjs`. Built-ins only: they are checked before anything is installed.
import { parseArgs } from 'node:util';

export const USAGE = `usage: node bench/field/run.mjs [option ...]

Measures svc, PostGraphile 5 and the ideal server on the sample store: an embedded PostgreSQL is created for the run, and PostGraphile
is installed from npm into a folder of its own.

  --queries by_pk,deep      queries of bench/workloads.json; default: all but introspection
  --servers svc,postgraphile
                            servers to start beside the ideal one; default: both
  --seconds 3               length of a round
  --rounds 3                rounds of each server and query, in alternation; the median counts
  --load autocannon         autocannon or wrk, which must be installed
  --same-node               svc and the ideal server run on the Node.js of PostGraphile, too
  --svc URL, --hasura URL, --postgrest URL, --postgraphile URL
                            a running server on the same data, such as http://127.0.0.1:8080/v1/graphql
  --header SERVER=NAME:VALUE
                            a header for that server, such as hasura=x-hasura-admin-secret:s; may be repeated
  --database-url URL        a PostgreSQL that running servers use, too; the sample store is loaded if the schema public is empty
  --folder PATH             folder for the packages of PostGraphile; default: svc-bench in the user's cache
  --port 18400              the first of three ports for the servers
  --markdown                prints Markdown
  --json FILE               writes all rounds to a file
  --help                    prints this text`;

/** Servers that the run can start, and all that it can measure. */
const STARTED = ['svc', 'postgraphile'];
const BY_URL = ['svc', 'hasura', 'postgrest', 'postgraphile'];
/** Upper limits keep a mistyped number from running for days. */
const NUMBERS = { seconds: [1, 600], rounds: [1, 100], port: [1, 65_533] };

export class UsageError extends Error {}

/**
 * @param argv arguments of the command
 * @param known names of all queries
 * @returns the options; `urls` by server, `headers` by server
 * @throws UsageError
 */
export function optionsOf(argv, known) {
  const values = parsed(argv);
  const listed = (text) => text.split(',').filter((name) => name !== '');
  const queries = values.queries === undefined ? known : listed(values.queries);
  const servers = listed(values.servers);
  requireKnown('--queries', queries, known);
  requireKnown('--servers', servers, STARTED);
  requireKnown('--load', [values.load], ['autocannon', 'wrk']);
  if (queries.length === 0) throw new UsageError('--queries names no query');
  const urls = Object.fromEntries(
    BY_URL.filter((name) => values[name] !== undefined).map((name) => [name, urlOf(`--${name}`, values[name], 'http')]),
  );
  const { 'database-url': database } = values;
  return {
    queries,
    urls,
    started: servers.filter((name) => urls[name] === undefined),
    headers: headersOf(values.header),
    ...Object.fromEntries(Object.entries(NUMBERS).map(([name, limits]) => [name, numberOf(name, values[name], limits)])),
    generator: values.load,
    isSameNode: values['same-node'],
    databaseUrl: database === undefined ? undefined : urlOf('--database-url', database, 'postgres'),
    folder: values.folder,
    isMarkdown: values.markdown,
    json: values.json,
    isHelp: values.help,
  };
}

function parsed(argv) {
  const text = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  try {
    return parseArgs({
      args: argv,
      options: {
        queries: text,
        servers: { ...text, default: STARTED.join(',') },
        seconds: { ...text, default: '3' },
        rounds: { ...text, default: '3' },
        load: { ...text, default: 'autocannon' },
        'same-node': flag,
        ...Object.fromEntries(BY_URL.map((name) => [name, text])),
        header: { ...text, multiple: true, default: [] },
        'database-url': text,
        folder: text,
        port: { ...text, default: '18400' },
        markdown: flag,
        json: text,
        help: flag,
      },
    }).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function requireKnown(option, names, known) {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new UsageError(`${option}: there is no "${unknown}"; there are ${known.join(', ')}`);
}

function numberOf(name, text, [least, most]) {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new UsageError(`--${name} is not a whole number from ${least} to ${most}: ${text}`);
}

function urlOf(option, text, scheme) {
  const url = parseUrl(text);
  if (url === null || !url.protocol.startsWith(scheme)) throw new UsageError(`${option} is not a URL ${scheme}://…`);
  return url.href;
}

function parseUrl(text) {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function headersOf(texts) {
  const headers = {};
  for (const text of texts) {
    const [, server, name, value] = /^([a-z]+)=([\w-]+): *(.*)$/.exec(text) ?? [];
    // The value may be a secret, and is not repeated.
    if (!BY_URL.includes(server)) throw new UsageError(`--header is not SERVER=NAME:VALUE; the servers are ${BY_URL.join(', ')}`);
    headers[server] = { ...headers[server], [name.toLowerCase()]: value };
  }
  return headers;
}
