import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { command, type Ran } from '../support/command.ts';
import { DEEP } from '../support/deep.ts';
import { type FakeResponse, type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { freePort } from '../support/free-port.ts';
import { testDatabase } from '../support/postgres.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { SELF_SIGNED } from '../support/self-signed.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SECRET = 'a-secret-of-at-least-32-characters';

const CONFIGURATION = { connection_info: { database_url: { from_env: 'SHOP_URL' } } };

/** One line of standard error, with the exit code. */
const failed = ({ code, stderr }: Ran): string => `${code} ${stderr.trim()}`;

describe('an error message of the command line says what to do', () => {
  let project: ProjectFolder;
  let service: TestService;
  let fake: FakeServer;
  beforeAll(async () => {
    [service, fake] = await Promise.all([startTestService({ ADMIN_SECRET: SECRET }), startFakeServer()]);
    project = projectFolder(service);
    project.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': '[]' });
  });
  afterAll(async () => {
    await Promise.all([service.stop(), fake.close()]);
    project.remove();
  });
  const svc = (...args: string[]): Promise<Ran> => project.svc(...args);

  it('about an unknown command, option or argument', async () => {
    const [group, option, argument] = await Promise.all([
      svc('metadata', 'frobnicate'),
      svc('metadata', 'apply', '--dryrun'),
      svc('migrate', 'create'),
    ]);
    expect(failed(group)).toBe('2 error: unknown command "frobnicate"; svc metadata --help lists its commands');
    expect(failed(option)).toBe(
      '2 error: unknown option "--dryrun", did you mean "--dry-run"?; svc metadata apply --help lists its arguments and options',
    );
    expect(failed(argument)).toBe('2 error: the argument <name> is missing; svc migrate create --help lists its arguments and options');
  });

  it.runIf(DEEP)('about an endless answer', async () => {
    const chunk = Buffer.alloc(2 ** 20, 'a');
    const endless = createHttpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const fill = (): void => {
        while (response.write(chunk));
      };
      response.on('drain', fill).on('error', () => undefined);
      fill();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const { port } = endless.address() as AddressInfo;
    const { code, stderr } = await svc('metadata', 'diff', '--endpoint', `http://127.0.0.1:${port}`);
    endless.closeAllConnections();
    endless.close();
    expect(code).toBe(5);
    expect(stderr).toContain('/v1/metadata is longer than 256 MiB');
  });

  it('about a missing or wrong admin secret', async () => {
    const own = { cwd: project.root, env: { SVC_GRAPHQL_ENDPOINT: service.url, SVC_GRAPHQL_ADMIN_SECRET: 'guess' } };
    const [missing, flag, variable] = await Promise.all([
      svc('metadata', 'apply'),
      svc('metadata', 'apply', '--admin-secret', 'guess', '--json'),
      command(['deploy'], own),
    ]);
    expect(failed(missing)).toMatch(/^5 error: x-svc-admin-secret.* not found\. The command has no admin secret: set --admin-secret, or /);
    expect(flag.code).toBe(5);
    expect(flag.json['errors']).toEqual([
      {
        code: 'access-denied',
        message: expect.stringContaining(`. The admin secret (--admin-secret) is not that of the service at ${service.url}: `),
      },
    ]);
    expect(failed(variable)).toMatch(/^5 error: invalid .*\. The admin secret \(SVC_GRAPHQL_ADMIN_SECRET\) is not that of the service/);
    for (const { stdout, stderr } of [missing, flag, variable]) expect(stdout + stderr).not.toMatch(new RegExp(`guess|${SECRET}`));
  });

  it.runIf(DEEP)('about an endpoint that is not the service', async () => {
    const answers: readonly { readonly answer: FakeResponse; readonly says: string }[] = [
      {
        answer: { status: 404, headers: { 'content-type': 'text/html' }, body: '<html>' },
        says: 'status 404 without JSON: this is not an answer of svc',
      },
      { answer: { status: 404, body: { message: 'Not Found' } }, says: 'status 404: this is not an answer of svc' },
      { answer: { status: 200, body: '<html>' }, says: 'status 200 without JSON: this is not an answer of svc' },
      {
        answer: { status: 302, headers: { location: 'https://other.example/' } },
        says: 'status 302: it redirects to https://other.example/',
      },
      {
        answer: { status: 502, body: 'Bad Gateway' },
        says: 'status 502 without JSON: a proxy answered, because the service behind it does not',
      },
    ];
    for (const { answer, says } of answers) {
      fake.answer = () => answer;
      const ran = await svc('metadata', 'apply', '--endpoint', fake.url);
      expect(failed(ran)).toContain(`5 error: ${fake.url}/v1/metadata returned ${says}`);
    }
    const below = await svc('metadata', 'apply', '--endpoint', `${service.url}/below`);
    expect(failed(below)).toContain(
      `1 error: resource does not exist. The address ${service.url}/below/v1/metadata does not exist: set --endpoint`,
    );
  });

  it('about a misspelt key that is required', async () => {
    const odd = projectFolder(service);
    const source = '- name: shop\n  kind: postgres\n  configuration: {connection_info: {databse_url: postgres://a}}\n  tables: []\n';
    odd.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': source });
    expect(failed(await odd.svc('deploy'))).toContain(
      `the key 'database_url' was not present. unknown key "databse_url": did you mean "database_url"?`,
    );
    odd.remove();
  });

  it.each(['../outside', 'tab\there', '..'])('about a source %j that cannot have a folder', async (name) => {
    expect(failed(await svc('migrate', 'create', 'first', '--database-name', name))).toBe(
      `2 error: a source with the name ${JSON.stringify(name)} cannot have a folder in the project`,
    );
  });

  it('with texts of the service that can forge no other message', async () => {
    const error = 'no\r\nerror: forged\nwarning: forged\n\u202eforged';
    fake.answer = () => ({ status: 400, body: { code: 'unexpected', error, path: '$' } });
    const { stderr } = await svc('metadata', 'diff', '--endpoint', fake.url);
    expect(stderr).toContain('error: no\\u000d\n  error: forged\n  warning: forged\n\\u202eforged');
  });

  it('about a service that cannot read its sources again', async () => {
    const own = await startTestService();
    const shop = projectFolder(fake);
    const sources = `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: []\n`;
    const proxy = createHttpServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      const isReload = body.includes('"reload_metadata"');
      const method = request.method ?? 'GET';
      const answer = isReload ? null : await own.send(request.url ?? '/', method === 'GET' ? { method } : { method, body });
      response.writeHead(answer?.status ?? 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer === null ? { code: 'busy', error: 'not now', path: '$' } : answer.json));
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      shop.write({
        'config.yaml': 'version: 3\n',
        'metadata/databases/databases.yaml': sources,
        'migrations/default/1_item/up.sql': 'create table item (id int);',
      });
      const { port } = proxy.address() as AddressInfo;
      const { stderr } = await shop.svc('migrate', 'apply', '--endpoint', `http://127.0.0.1:${port}`);
      expect(stderr).toContain('the service could not read its sources again: not now');
    } finally {
      proxy.closeAllConnections();
      proxy.close();
      shop.remove();
      await own.stop();
    }
  });

  it('about a migration history that is not JSON', async () => {
    const odd = projectFolder(fake);
    odd.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': `- ${JSON.stringify({ name: 'shop', kind: 'pg', configuration: CONFIGURATION, tables: [] })}\n`,
      'migrations/shop/1_start/up.sql': 'create table item (id int);',
    });
    const metadata = { version: 3, sources: [{ name: 'shop', kind: 'pg', configuration: CONFIGURATION, tables: [] }] };
    fake.answer = ({ path, body }) => {
      if (path === '/v1/version') return { body: '{"version": "0.1.0"}' };
      if (path === '/v2/query')
        return { body: body.includes("relname = 'migration'") ? '{"result": [["a"], ["1"]]}' : '{"result": [["a"], ["<"]]}' };
      return { body: JSON.stringify(body.includes('export_metadata') ? { resource_version: 1, metadata } : {}) };
    };
    const { code, stdout, stderr } = await odd.svc('doctor');
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('the migration history that the service returned is not a JSON list');
    expect(stdout + stderr).toContain('the service returned a value that is not JSON');
    odd.remove();
  });

  it('about a source whose environment variable is not set', async () => {
    const shop = projectFolder(service, { SVC_GRAPHQL_ADMIN_SECRET: SECRET });
    shop.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': `- ${JSON.stringify({ name: 'shop', kind: 'pg', configuration: CONFIGURATION, tables: [] })}\n`,
      'migrations/shop/1_start/up.sql': 'create table item (id int);',
    });
    const cure =
      "environment variable 'SHOP_URL' not set. Set the environment variable for the service, or in the file .env of its working directory, and restart the service";
    try {
      const [applied, deployed] = [await shop.svc('metadata', 'apply'), await shop.svc('deploy')];
      expect(failed(applied)).toBe(`4 error: metadata/databases/databases.yaml:1:3: source shop: Inconsistent object: ${cure}.`);
      expect(failed(deployed)).toContain(`1 error: the service cannot add the source shop: Inconsistent object: ${cure}`);
      const metadata = { version: 3, sources: [{ name: 'shop', kind: 'pg', configuration: CONFIGURATION, tables: [] }] };
      await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata });
      const status = await shop.svc('migrate', 'status');
      expect(failed(status)).toContain(`1 error: source with name "shop" is inconsistent. Inconsistent object: ${cure}`);
      const answer = await service.send('/v2/query', {
        method: 'POST',
        headers: { 'x-svc-admin-secret': SECRET },
        body: '{"type": "run_sql", "args": {"source": "shop", "sql": "select 1"}}',
      });
      expect(answer).toMatchObject({
        status: 400,
        json: {
          error: 'source with name "shop" is inconsistent',
          suggestions: [
            "Inconsistent object: environment variable 'SHOP_URL' not set",
            expect.stringMatching(/^Set the environment variable/),
          ],
        },
      });
    } finally {
      await service.metadata('clear_metadata', {});
      shop.remove();
    }
  });

  it.runIf(DEEP)('about an endpoint that cannot be reached', async () => {
    const port = await freePort();
    const tls = await startFakeServer(SELF_SIGNED);
    const silent: Server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const closing = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const at = (endpoint: string): Promise<Ran> => svc('metadata', 'apply', '--endpoint', endpoint);
    try {
      const [refused, name, untrusted, plain, closed, file] = await Promise.all([
        at(`http://127.0.0.1:${port}`),
        at('http://no-such-host.invalid'),
        at(tls.url),
        at(service.url.replace('http:', 'https:')),
        at(closing),
        command(['metadata', 'apply'], { cwd: project.root }),
      ]);
      expect(failed(refused)).toBe(
        `5 error: the service at http://127.0.0.1:${port} (--endpoint) cannot be reached: the connection was refused, so nothing listens there. ` +
          'Start it with svc dev or svc serve, or set --endpoint or SVC_GRAPHQL_ENDPOINT to the address of the service.',
      );
      expect(failed(name)).toMatch(/^5 .*the host name no-such-host\.invalid (does not exist|cannot be resolved)/);
      expect(failed(untrusted)).toMatch(/^5 .*certificate is not trusted .*--certificate-authority/s);
      expect(failed(plain)).toMatch(/^5 .*does not use TLS\. Write http:\/\//);
      expect(failed(closed)).toMatch(/^5 .*the connection was closed without an answer/);
      if (file.code === 5) expect(file.stderr).toContain('(the default)');
    } finally {
      silent.close();
      await tls.close();
    }
  });
});

describe.runIf(DEEP)('a service that cannot start says what to do', () => {
  const serve = (...args: string[]): Promise<Ran> => command(['serve', '--retries', '0', ...args], { cwd: tmpdir() });

  it('about its database', async () => {
    const database = new URL(process.env['SVC_TEST_PG_URL'] as string);
    const at = (change: (url: URL) => void): string => {
      const url = new URL(database);
      change(url);
      return url.href;
    };
    const unused = await freePort();
    const refused = at((url) => {
      url.port = String(unused);
    });
    const [away, host, password, name, metadata] = await Promise.all([
      serve('--database-url', refused),
      serve('--database-url', 'postgres://u:hush@no-such-host.invalid/d'),
      serve(
        '--database-url',
        at((url) => {
          url.password = 'hush';
        }),
      ),
      serve(
        '--database-url',
        at((url) => {
          url.pathname = '/no_such_database';
        }),
      ),
      serve('--database-url', database.href, '--metadata-database-url', refused),
    ]);
    const place = `the metadata database ${database.hostname}:`;
    expect(away.code).toBe(1);
    expect(away.stderr).toContain(`${place}${unused}${database.pathname} cannot be used: connection error: connect ECONNREFUSED`);
    expect(away.stderr).toContain(
      'Nothing listens there: start the database server, or correct --database-url (SVC_GRAPHQL_DATABASE_URL).',
    );
    expect(host.stderr).toMatch(/no-such-host\.invalid\/d cannot be used: .*\. .*correct|Check/);
    expect(password.stderr).toMatch(/password authentication failed.*\. Correct user and password in --database-url/);
    expect(name.stderr).toMatch(/"no_such_database" does not exist\. Create the database, or correct its name in --database-url/);
    expect(metadata.stderr).toContain('correct --metadata-database-url (SVC_GRAPHQL_METADATA_DATABASE_URL).');
    for (const { stdout, stderr } of [away, host, password, name, metadata]) expect(stdout + stderr).not.toContain('hush');
  });

  it('about its address', async () => {
    const database = await testDatabase('ready');
    const taken: Server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    try {
      const [inUse, elsewhere] = await Promise.all([
        serve('--database-url', database.url, '--server-host', '127.0.0.1', '--server-port', String(port)),
        serve('--database-url', database.url, '--server-host', '192.0.2.1', '--server-port', '0'),
      ]);
      expect(inUse.stderr).toContain(
        `port ${port} is in use by another process: stop that one, or set --server-port (SVC_GRAPHQL_SERVER_PORT)`,
      );
      expect(elsewhere.stderr).toContain('no address 192.0.2.1: correct --server-host (SVC_GRAPHQL_SERVER_HOST)');
    } finally {
      taken.close();
      await database.drop();
    }
  });
});
