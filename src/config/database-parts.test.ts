import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { DEEP } from '../../test/support/deep.ts';
import { runService } from '../../test/support/process.ts';
import { runSql, testDatabase, testServerUrl } from '../../test/support/postgres.ts';
import { describeConfig, loadConfig } from './load-config.ts';

const load = (argv: string[], environment: Record<string, string> = {}) => loadConfig({ argv, environment });
const NEEDED = ['--host', 'h', '-u', 'me', '-d', 'data'];

describe('a database set by --host and related options', () => {
  it('becomes a URL', () => {
    expect(load(NEEDED).databaseUrl).toBe('postgresql://me@h:5432/data');
    expect(load([...NEEDED, '--port', '6543', '-p', 'hush', '-o', '-c a=b']).databaseUrl).toBe(
      'postgresql://me:hush@h:6543/data?options=-c%20a%3Db',
    );
  });

  it.each([
    ['db.example', 'a:b@c/d?e#f%20 g', 'p:@/?#%&=+ é"', 'd/@:%2F é&=+;,$"', '-c a.b=x\\ y&z=+%'],
    ['2001:db8::1', 'u', '', 'd', '-c x=1'],
    ['/var/run/postgresql', 'u', 'p', 'd', '-c x=1'],
  ])('reaches the driver unchanged: %s', (host, user, password, database, options) => {
    const config = load(['--host', host, '--user', user, '--password', password, '--dbname', database, '--pg-connection-options', options]);
    const client = new pg.Client({ connectionString: config.databaseUrl as string }) as pg.Client & {
      connectionParameters: { options?: string };
    };
    expect([client.host, client.port, client.user, client.database]).toEqual([host, 5432, user, database]);
    if (password !== '') expect(client.password).toBe(password);
    expect(client.connectionParameters.options).toBe(options);
  });

  it.each([
    [['--host', 'h'], {}, 'needs --host, --user and --dbname; missing: --user, --dbname'],
    [['-p', 'hush'], {}, 'missing: --host, --user, --dbname'],
    [['--port', '1', '-d', 'd'], {}, 'missing: --host, --user'],
    [['--port', '9000'], {}, 'the service listens at --server-port'],
    [[...NEEDED, '-p', 'hush', '--database-url', 'postgres://u:hush@h/d'], {}, 'only one may be used'],
    [[...NEEDED, '-p', 'hush'], { SVC_GRAPHQL_DATABASE_URL: 'postgres://u:hush@h/d' }, 'only one may be used'],
    [['--host', 'h', '-u', 'me', '-d', 'a?b'], {}, '--dbname: expecting the name of a database'],
    [['--host', 'h', '-u', 'me', '-d', '..'], {}, '--dbname: expecting the name of a database'],
    [['--host', '', '-u', 'me', '-d', 'd'], {}, '--host: must not be empty'],
    [['-phush'], {}, '-p needs a space before its value'],
  ])('is rejected: %j %j', (argv, environment, message) => {
    let refused = '';
    try {
      load(argv, environment as Record<string, string>);
    } catch (error) {
      refused = (error as Error).message;
    }
    expect(refused).toContain(message);
    expect(refused).not.toContain('hush');
  });

  it('has no variables', () => {
    expect(load([], { SVC_GRAPHQL_HOST: 'h', SVC_GRAPHQL_USER: 'u', SVC_GRAPHQL_DBNAME: 'd' })).toMatchObject({
      host: null,
      databaseUrl: null,
    });
  });

  it('shows no password', () => {
    expect(JSON.stringify(describeConfig(load([...NEEDED, '-p', 'hush'])))).not.toContain('hush');
  });
});

describe('svc serve', () => {
  it.runIf(DEEP)('connects by the parts, with the settings, and logs no password', async () => {
    const database = await testDatabase();
    const { hostname, port, pathname } = new URL(database.url);
    const name = pathname.slice(1);
    // A server that does not require a password accepts any.
    await runSql(database.url, `create role "${name} user" superuser login password 'hu sh/@'`);
    const parts = ['--host', hostname, '--port', port, '-u', `${name} user`, '-p', 'hu sh/@', '-d', name, '-o', '-c app.given=yes'];
    const service = runService(['serve', ...parts, '--server-port', '0', '--server-host', '127.0.0.1']);
    try {
      const [, address] = await service.find(/"url":"(http:[^"]+)"/);
      const answer = await fetch(`${address}/v2/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          type: 'run_sql',
          args: { sql: `select current_database(), current_setting('app.given')`, read_only: true },
        }),
      });
      expect(await answer.json()).toMatchObject({ result: [expect.anything(), [name, 'yes']] });
    } finally {
      await service.stop();
      await database.drop();
      await runSql(testServerUrl(), `drop role "${name} user"`);
    }
    expect(service.output()).not.toMatch(/hu(?: |%20)sh/);
  });
});
