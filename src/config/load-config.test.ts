import { describe, expect, expectTypeOf, it } from 'vitest';
import { describeConfig, loadConfig } from './load-config.ts';
import { parseCommandLine } from './command-line.ts';
import { helpText, optionsPage } from './help.ts';
import { type Config, optionRows } from './options.ts';
import { unknownVariables } from './unknown-variables.ts';
import { settingsWithoutEffect } from './without-effect.ts';

const load = (argv: string[] = [], environment: Record<string, string> = {}, dotEnvText?: string): Config =>
  loadConfig({ argv, environment, ...(dotEnvText === undefined ? {} : { dotEnvText }) });

const USAGE = 'Usage: svc <serve|export|clean|version|help> [options]; svc serve --help lists the options';

describe('loadConfig', () => {
  it('uses the defaults without options', () => {
    const config = load();
    expect(config.serverPort).toBe(8080);
    expect(config.databaseUrl).toBeNull();
    expect(config.timeout).toBe(180_000);
    expect([...config.enabledApis]).toEqual(['metadata', 'graphql', 'pgdump', 'config']);
  });

  it('has the types of the option table', () => {
    expectTypeOf<Config['serverPort']>().toEqualTypeOf<number>();
    expectTypeOf<Config['databaseUrl']>().toEqualTypeOf<string | null>();
    expectTypeOf<Config['txIso']>().toEqualTypeOf<'read-committed' | 'repeatable-read' | 'serializable'>();
  });

  it('prefers flags to the environment, and the environment to .env', () => {
    const dotEnv = 'SVC_GRAPHQL_SERVER_PORT=1\nSVC_GRAPHQL_PG_CONNECTIONS=2\nSVC_GRAPHQL_PG_TIMEOUT=3\n';
    const config = load(['--server-port', '10'], { SVC_GRAPHQL_SERVER_PORT: '20', SVC_GRAPHQL_PG_CONNECTIONS: '21' }, dotEnv);
    expect([config.serverPort, config.connections, config.timeout]).toEqual([10, 21, 3000]);
  });

  it('accepts flags before and after the command, in every spelling', () => {
    const config = load(['--dev-mode', 'serve', '-c', '7', '--server-port=9', '--use-prepared-statements', 'F', '-i=serializable']);
    expect(config).toMatchObject({ devMode: true, connections: 7, serverPort: 9, usePreparedStatements: false, txIso: 'serializable' });
  });

  it('accepts = in a value', () => {
    expect(load(['--database-url=postgres://u@h/d?options=-c%20x=1']).databaseUrl).toBe('postgres://u@h/d?options=-c%20x=1');
  });

  it.each([
    [['--no-such'], `Fatal Error: unknown option "--no-such"\n${USAGE}`],
    [['--dev-mode=yes', '-x'], `Fatal Error: unknown option "-x"\n${USAGE}`],
    [['--databse-url', 'postgres://u:hush@h/d'], `Fatal Error: unknown option "--databse-url", did you mean "--database-url"?\n${USAGE}`],
    [['--admin-secert=hush'], `Fatal Error: unknown option "--admin-secert", did you mean "--admin-secret"?\n${USAGE}`],
    [['--hlep'], `Fatal Error: unknown option "--hlep", did you mean "--help"?\n${USAGE}`],
    [['sevre'], `Fatal Error: unknown command "sevre", did you mean "serve"?\n${USAGE}`],
    [['--server-port'], 'Fatal Error: --server-port needs a value'],
    [['--server-port', '70000'], 'Fatal Error: --server-port: must be between 0 and 65535'],
    [['--server-port', '1e3'], 'Fatal Error: --server-port: expecting an integer, but found "1e3"'],
    [['--dev-mode=1'], 'Fatal Error: --dev-mode: Not a valid boolean text. True values are ["true","t","yes","y"]'],
    [['--database-url', 'mysql://h/d'], 'Fatal Error: --database-url: expecting a URL of the form'],
    [['--database-url', 'postgres://u:p@ss:w/ord@h/d'], 'with special characters of user and password as in %40 for @'],
    [['run'], `Fatal Error: unknown command "run"\n${USAGE}`],
    [['serve', 'serve'], 'Fatal Error: two commands'],
    [['serve', '--yes'], 'Fatal Error: --yes is for the command clean'],
    [['--tx-iso', 'dirty'], 'Fatal Error: --tx-iso: expecting one of read-committed'],
    [['--admin-secret', ''], 'Fatal Error: --admin-secret: the secret must not be empty: set it, or remove the option or the variable'],
    [['--admin-secrets', '["a",""]'], 'Fatal Error: --admin-secrets: expecting a JSON list of secrets'],
    [
      ['--cors-domain', 'example.com'],
      "invalid domain: 'example.com'. All domains should have scheme + (optional wildcard) host + (optional port)",
    ],
  ])('rejects %j', (argv, message) => {
    expect(() => load(argv)).toThrow(message);
  });

  it('names an invalid environment variable', () => {
    expect(() => load([], { SVC_GRAPHQL_DEV_MODE: 'on' })).toThrow(
      'Fatal Error:- Environment variable SVC_GRAPHQL_DEV_MODE: Not a valid boolean text. True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. All values are case insensitive',
    );
    expect(() => load([], { SVC_GRAPHQL_ENABLED_APIS: 'graphql,x' })).toThrow(
      'Fatal Error:- Environment variable SVC_GRAPHQL_ENABLED_APIS: Only expecting list of comma separated API types metadata,graphql,pgdump,developer,config,metrics',
    );
    expect(() => load([], { SVC_GRAPHQL_ADMIN_SECRET: '' })).toThrow('the secret must not be empty');
  });

  it('treats an empty variable as unset', () => {
    expect(load([], { SVC_GRAPHQL_SERVER_PORT: '', SVC_GRAPHQL_DATABASE_URL: '' })).toMatchObject({ serverPort: 8080, databaseUrl: null });
  });

  it('hides secrets and passwords', () => {
    const shown = describeConfig(
      load(['--admin-secret', 'hush', '--admin-secrets', '["hush"]', '--database-url', 'postgres://u:hush@h/d?password=hush']),
    );
    expect(JSON.stringify(shown)).not.toContain('hush');
    expect(shown['server_port']).toBe('8080');
  });

  it('has unique spellings, and defaults that pass their own validation', () => {
    for (const spelling of ['flag', 'env', 'short'] as const) {
      const all = optionRows.map(([, option]) => option[spelling]).filter((s) => s !== undefined);
      expect(new Set(all).size).toBe(all.length);
    }
    for (const [, option] of optionRows) {
      if (option.default !== null) expect(option.type.parse(option.type.show(option.default))).toEqual(option.default);
    }
  });
});

describe('values without effect', () => {
  it('are reported, unless they are defaults', () => {
    expect(settingsWithoutEffect(load())).toEqual([]);
    expect(settingsWithoutEffect(load(['--enabled-apis', 'graphql,config', '--enabled-log-types', 'startup,query-log']))).toEqual([]);
    expect(
      settingsWithoutEffect(
        load(['--enabled-apis', 'metadata,pgdump,metrics'], { SVC_GRAPHQL_ENABLED_LOG_TYPES: 'execution-log,http-log' }),
      ),
    ).toEqual([
      '--enabled-apis pgdump has no effect until there is the endpoint /v1alpha1/pg_dump',
      '--enabled-log-types execution-log has no effect until executions are measured',
    ]);
  });

  it.each([helpText('all'), optionsPage()])('are listed in the description of the option', (text) => {
    expect(text).toContain('Accepted but without effect: execution-log until executions are measured');
  });
});

describe('help', () => {
  it('has one short line for each option', () => {
    const lines = helpText('options').split('\n');
    for (const [, { flag }] of optionRows) {
      const own = lines.filter((line) => new RegExp(`^  --${flag}[, ]`).test(line));
      expect(own).toHaveLength(1);
      expect(own[0]?.length).toBeLessThanOrEqual(130);
      expect(own[0]).toMatch(/ {2}\S.*[^,;:.]$/);
    }
    expect(lines.length).toBeLessThan(optionRows.length + 30);
  });

  it('lists only the relevant options of a command', () => {
    expect(helpText('clean')).toContain('--yes');
    expect(helpText('export')).not.toContain('--yes');
    for (const text of [helpText('clean'), helpText('export')]) {
      expect(text).toMatch(/^ {2}--metadata-database-url /m);
      expect(text).not.toContain('--server-port');
    }
  });

  it('describes each option in full with --help-all', () => {
    const text = helpText('all');
    for (const [, { help, env = '' }] of optionRows) {
      expect(text).toContain(help);
      expect(text).toContain(env);
    }
  });

  it.each([
    [[], 'commands'],
    [['--help'], 'commands'],
    [['help'], 'commands'],
    [['-h', 'serve'], 'options'],
    [['serve', '--help'], 'options'],
    [['clean', '--yes', '--help'], 'clean'],
    [['export', '-h'], 'export'],
    [['clean', '--help-all'], 'all'],
    [['--help-all'], 'all'],
    [['serve', '--help', '--help-all'], 'all'],
  ])('has the topic of the arguments: %j', (argv, help) => {
    expect(parseCommandLine(argv)).toMatchObject({ command: 'help', help });
  });
});

describe('unknown variables', () => {
  it.each([
    ['SVC_GRAPHQL_ADMIN_SECERT', ', did you mean SVC_GRAPHQL_ADMIN_SECRET?'],
    ['SVC_GRAPHQL_DATABSE_URL', ', did you mean SVC_GRAPHQL_DATABASE_URL?'],
    ['SVC_GRAPHQL_CONNECTIONS', ', did you mean SVC_GRAPHQL_PG_CONNECTIONS?'],
    ['svc_graphql_server_port', ', did you mean SVC_GRAPHQL_SERVER_PORT?'],
    ['SVC_GRAPHQL_OTHER_DATABASE_OF_MINE', ''],
    ['SVC_GRAPHQL_ENDPIONT', ', did you mean SVC_GRAPHQL_ENDPOINT?'],
  ])('are reported with the nearest known name: %s', (name, guess) => {
    expect(unknownVariables({ [name]: 'hush', PATH: '/bin' })).toEqual([`no option has the environment variable ${name}${guess}`]);
  });

  it('do not include those of options and project commands', () => {
    const names = optionRows.flatMap(([, { env, olderEnv }]) => [env, olderEnv]).filter((name) => name !== undefined);
    names.push('SVC_GRAPHQL_ENDPOINT', 'SVC_GRAPHQL_DATABASE_NAME', 'SVC_GRAPHQL_API_PATHS_GRAPHQL');
    expect(unknownVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
  });
});
