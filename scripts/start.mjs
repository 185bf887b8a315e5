// `npm start`: installs and builds what is missing, then runs the service on its embedded PostgreSQL with the sample data. Further arguments
// go to `svc serve`. Uses built-ins only until the packages are installed.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { build } from './build.mjs';
import { complaintAbout } from './check-arguments.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

const PREFERRED_PORTS = [8080, 8081, 8082, 8083, 8084, 0];

const given = process.argv.slice(2);
const complaint = complaintAbout(given);
if (complaint !== undefined) {
  console.error(complaint);
  process.exit(1);
}
process.chdir(root);
ensurePackages();
await build();

const environment = { ...(existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}), ...process.env };
const isSet = (flag, variable) =>
  given.some((a) => a === `--${flag}` || a.startsWith(`--${flag}=`)) || Boolean(environment[`SVC_GRAPHQL_${variable}`]);

const usesOwnDatabase = isSet('database-url', 'DATABASE_URL') || isSet('metadata-database-url', 'METADATA_DATABASE_URL');
const added = [];
if (!usesOwnDatabase && !isSet('sample-data', 'SAMPLE_DATA')) added.push('--sample-data', 'true');
if (!isSet('enable-console', 'ENABLE_CONSOLE')) added.push('--enable-console', 'true');
// Without an admin secret, every request has full access.
if (!isSet('server-host', 'SERVER_HOST')) added.push('--server-host', '127.0.0.1');
const port = isSet('server-port', 'SERVER_PORT') ? undefined : await freePort();
if (port !== undefined) added.push('--server-port', String(port));

const { runCommand } = await import(pathToFileURL(join(root, 'dist', 'cli', 'run-command.js')).href);
try {
  const service = await runCommand(['serve', ...added, ...given]);
  if (service !== null) announce(service);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

function announce({ url, config }) {
  const query = config.sampleData ? '{ artist(limit: 3) { name albums { title } } }' : '{ __typename }';
  const hasSecret = config.adminSecret !== null || config.adminSecrets !== null;
  const secret = hasSecret ? ` -H 'X-Svc-Admin-Secret: <the admin secret>'` : '';
  const [usual] = PREFERRED_PORTS;
  const note =
    port === undefined || port === usual
      ? ''
      : `\nPort ${usual} is in use by another process, so the service listens on ${port}. Replace ${usual} in the examples of the documentation,\nor choose a port: npm start -- --server-port 9000\n`;
  console.log(`${note}
The GraphQL service answers at ${url}/v1/graphql

  curl -s ${url}/v1/graphql -H 'Content-Type: application/json'${secret} -d '{"query":"${query}"}'

${config.enableConsole ? `The console is at ${url}/console\n\n` : ''}Ctrl-C stops it.
`);
}

async function freePort() {
  for (const port of PREFERRED_PORTS) {
    const found = await new Promise((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(null));
      probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
        const taken = probe.address().port;
        probe.close(() => resolve(taken));
      });
    });
    if (found !== null) return found;
  }
  return PREFERRED_PORTS[0];
}
