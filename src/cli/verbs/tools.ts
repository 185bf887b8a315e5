import { databaseName, failOn } from './common.ts';
import type { Verb, VerbGroup } from './verb.ts';

export const toolGroups: readonly VerbGroup[] = [
  { name: 'permissions', summary: 'who may do what' },
  { name: 'actions', summary: 'actions of the project' },
];

export const toolVerbs: readonly Verb[] = [
  {
    path: ['dev'],
    summary: 'run a service for the project that follows its files',
    details:
      'Starts the service, with its own PostgreSQL where no database is configured, deploys the project, applies its metadata again whenever a file of it changes, writes to the files what is changed in the service meanwhile, such as in its console, and reads a database again whenever its tables or functions change. Errors are told with file and line, and the service goes on with what it had. Migrations are run at the start, and with --migrate when they change; else a change of them is told. Handlers of actions are not generated again: svc actions codegen does that.',
    options: [
      { flags: '--port <port>', help: 'of the service; else that of SVC_GRAPHQL_SERVER_PORT' },
      { flags: '--migrate', help: 'run migrations when they change, too' },
      { flags: '--with-seeds', help: 'run seeds that were not run yet' },
    ],
    needs: 'files',
    example: 'svc dev --with-seeds',
    load: async () => (await import('../run/dev.ts')).runDev,
  },
  {
    path: ['health'],
    summary: 'ask a service of this machine whether it is alive, or ready for requests',
    details:
      'For the health check of a container: asks /livez, or with --ready /readyz, and ends with 0 where the answer is good and with 1 where it is not, or does not come in time.',
    options: [
      { flags: '--ready', help: 'whether it takes requests, rather than whether it is alive' },
      { flags: '--url <url>', help: 'of the service; else http://127.0.0.1 with the port of SVC_GRAPHQL_SERVER_PORT' },
      { flags: '--timeout <seconds>', help: 'how long the answer may take; 3 where nothing is said' },
    ],
    needs: 'files',
    example: 'svc health --ready',
    load: async () => (await import('../run/health.ts')).runHealth,
  },
  {
    path: ['doctor'],
    summary: 'look for what goes wrong, and say what to do',
    details:
      'Files, settings of the project and of the service, access, migrations, inconsistencies, variables that are not set; in PostgreSQL sources privileges of the role, extensions, connections, clocks, tables without a primary key, triggers of event triggers that are gone, and what another service has left behind. Ends with 1 where there are errors.',
    options: [failOn()],
    needs: 'service',
    example: 'svc doctor --json',
    load: async () => (await import('../run/doctor.ts')).runDoctor,
  },
  {
    path: ['permissions', 'matrix'],
    summary: 'list roles by tables by operations, as sorted text to be committed',
    details:
      'Inherited permissions are listed with the role that they come from. Rules are told by a digest: the same digest is the same rule.',
    options: [],
    needs: 'files',
    example: 'svc permissions matrix > permissions.txt',
    load: async () => (await import('../run/permissions.ts')).runMatrix,
  },
  {
    path: ['permissions', 'explain'],
    summary: 'tell which rule holds for a role, where it stands, and which session variables it needs',
    details: 'Ends with 2 where the metadata has no such role, table or source; that a role may do nothing is an answer like others.',
    options: [
      { flags: '--role <role>', help: 'the role', mandatory: true },
      { flags: '--table <table>', help: 'the table, [schema.]name', mandatory: true },
      { flags: '--op <operation>', help: 'what is done', choices: ['select', 'insert', 'update', 'delete'], default: 'select' },
      { flags: '--session <pair>', help: 'a session variable, user-id=7', many: true },
      { flags: '--pk <pair>', help: 'a column of a row and its value, id=7: what the rule says of that row, part by part', many: true },
      { flags: '--row <json>', help: 'the same as an object of columns that tell the row' },
      databaseName('its source, where several have such a table'),
    ],
    needs: 'sometimes a service',
    example: 'svc permissions explain --role user --table author --session user-id=7',
    load: async () => (await import('../run/permissions.ts')).runExplain,
  },
  {
    path: ['permissions', 'test'],
    summary: 'ask the service as roles, and compare with what is expected',
    details:
      'Runs the files tests/permissions/*.yaml, each a test or a list of tests: name, as: {role, session}, query, variables, expect: {data, rows, ids, error, denied}; or an object of those under tests, with setup and teardown, SQL of the source that is run before and behind them. Each test is a request of its own, so that neither what queries change nor setup is rolled back: use a database for tests.',
    arguments: [{ name: 'file', help: 'only these files', many: true }],
    options: [{ flags: '--reporter <form>', help: 'form of the result', choices: ['tap', 'junit'], default: 'tap' }],
    needs: 'service',
    example: 'svc permissions test --reporter junit > permissions.xml',
    load: async () => (await import('../run/test-permissions.ts')).runPermissionsTest,
  },
  {
    path: ['permissions', 'lint'],
    summary: 'look for permissions that look wrong',
    details:
      'Rules that are always true for writes, updates without a check, columns that can be written and not read, filters on a column that the client may set, writes of anonymous. All of it may be meant so: each is a warning.',
    options: [failOn('warning')],
    needs: 'files',
    example: 'svc permissions lint',
    load: async () => (await import('../run/permissions.ts')).runPermissionsLint,
  },
  {
    path: ['actions', 'create'],
    summary: 'add an action to the files of the project',
    arguments: [{ name: 'name', help: 'its name', required: true }],
    options: [
      { flags: '--sdl <file>', help: 'SDL with the field in type Query or Mutation, and its types', mandatory: true },
      { flags: '--kind <kind>', help: 'of a mutation; else that of config.yaml', choices: ['synchronous', 'asynchronous'] },
      { flags: '--webhook <url>', help: 'its handler; else the base URL of config.yaml and its name' },
    ],
    needs: 'files',
    example: 'svc actions create login --sdl login.graphql --webhook http://localhost:3000/login',
    load: async () => (await import('../run/actions.ts')).runActionsCreate,
  },
  {
    path: ['actions', 'codegen'],
    summary: 'write types and handlers of actions',
    details:
      'TypeScript: the types of arguments and answers, and a handler for each action, for node:http, fastify or express, or the types only. What cannot be called in TypeScript as in the metadata has a _ behind its name.',
    arguments: [{ name: 'name', help: 'only these actions', many: true }],
    options: [
      {
        flags: '--framework <name>',
        help: 'what the handlers are for',
        choices: ['types', 'node', 'fastify', 'express'],
        default: 'types',
      },
      { flags: '--output-dir <dir>', help: 'folder; else that of config.yaml' },
    ],
    needs: 'files',
    example: 'svc actions codegen --framework fastify',
    load: async () => (await import('../run/actions.ts')).runActionsCodegen,
  },
  {
    path: ['version'],
    summary: 'print the version of the command, and of the service that --endpoint or SVC_GRAPHQL_ENDPOINT names',
    options: [],
    needs: 'sometimes a service',
    example: 'svc version',
    load: async () => (await import('../run/about.ts')).runVersion,
  },
  {
    path: ['completion'],
    summary: 'print the completion of a shell',
    arguments: [{ name: 'shell', help: 'bash, zsh, fish or powershell', required: true }],
    options: [],
    needs: 'files',
    example: 'svc completion bash > /etc/bash_completion.d/svc',
    load: async () => (await import('../run/about.ts')).runCompletion,
  },
];
