import { ALLOW_INCONSISTENT, failOn, sourceOption, VERBOSE } from './common.ts';
import type { Verb, VerbGroup } from './verb.ts';

export const toolGroups: readonly VerbGroup[] = [
  { name: 'permissions', summary: 'permissions of roles' },
  { name: 'actions', summary: 'actions of the project' },
];

export const toolVerbs: readonly Verb[] = [
  {
    path: ['dev'],
    summary: 'run a service that follows the files of the project',
    details:
      'Starts the service, with an embedded PostgreSQL if no database is configured, and deploys the project. Then applies the metadata whenever one of its files changes, writes changes made in the service, such as in its console, back to the files, and reads a database again whenever its tables or functions change. Reports errors with file and line; the service continues with its previous metadata. Runs migrations at the start and, with --migrate, whenever they change; otherwise only reports that they have changed. SQL that is run in the service and changes a schema, such as in its console, is written as a migration, whose name is asked for on a terminal. The console is on, the log is text, and requests are answered with 503 until the project is deployed. If the deployment at the start fails, it is repeated whenever a file changes, until it succeeds. Does not generate action handlers; use svc actions codegen.',
    options: [
      {
        flags: '--port <port>',
        help: 'port of the service. Default: SVC_GRAPHQL_SERVER_PORT, the port of the endpoint if that is local, or 8080',
      },
      { flags: '--migrate', help: 'also run migrations when they change' },
      { flags: '--no-migrations', help: 'do not write SQL that changes a schema as migrations' },
      { flags: '--with-seeds', help: 'also run seeds that have not been run yet' },
    ],
    needs: 'files',
    example: 'svc dev --with-seeds',
    load: async () => (await import('../run/dev.ts')).runDev,
  },
  {
    path: ['health'],
    summary: 'check whether the service on this host is alive or ready',
    details:
      'For container health checks. Requests /livez, or /readyz with --ready, and exits with 0 on success, with 1 on any other status or after the timeout.',
    options: [
      { flags: '--ready', help: 'check readiness instead of liveness' },
      { flags: '--url <url>', help: 'URL of the service. Default: http://127.0.0.1 with the port of SVC_GRAPHQL_SERVER_PORT, or 8080' },
      { flags: '--timeout <seconds>', help: 'timeout of the request, in seconds. Default: 3' },
    ],
    needs: 'files',
    example: 'svc health --ready',
    load: async () => (await import('../run/health.ts')).runHealth,
  },
  {
    path: ['doctor'],
    summary: 'diagnose a project and its service, with a remedy for each finding',
    details:
      'Checks files, settings of the project and the service, access, migrations, inconsistencies and unset environment variables; in PostgreSQL sources also role privileges, extensions, connections, clocks, tables without a primary key, missing database triggers of event triggers, and leftovers of another service. Exits with 1 if there are errors.',
    options: [failOn()],
    needs: 'service',
    example: 'svc doctor --json',
    load: async () => (await import('../run/doctor.ts')).runDoctor,
  },
  {
    path: ['permissions', 'matrix'],
    summary: 'print the permissions of all roles on all tables as sorted text that can be committed',
    details: 'Lists inherited permissions with the role that they come from. Shows rules as a digest: equal digests are equal rules.',
    options: [],
    needs: 'files',
    example: 'svc permissions matrix > permissions.txt',
    load: async () => (await import('../run/permissions.ts')).runMatrix,
  },
  {
    path: ['permissions', 'explain'],
    summary: 'show the rule that applies to a role, its place in the files, and the session variables that it uses',
    details: 'Exits with 2 if the metadata has no such role, table or source. A role without a permission is a normal result.',
    options: [
      { flags: '--role <role>', help: 'role', mandatory: true },
      { flags: '--table <table>', help: 'table, [schema.]name', mandatory: true },
      { flags: '--op <operation>', help: 'operation', choices: ['select', 'insert', 'update', 'delete'], default: 'select' },
      { flags: '--session <pair>', help: 'session variable, such as user-id=7', many: true },
      {
        flags: '--pk <pair>',
        help: 'column and value that identify a row, such as id=7; evaluates each part of the rule for that row',
        many: true,
      },
      { flags: '--row <json>', help: 'like --pk, as a JSON object' },
      sourceOption('source of the table, if several sources have one of this name'),
    ],
    needs: 'sometimes a service',
    example: 'svc permissions explain --role user --table author --session user-id=7',
    load: async () => (await import('../run/permissions.ts')).runExplain,
  },
  {
    path: ['permissions', 'test'],
    summary: 'run the permission tests of the project against the service',
    details:
      'Runs the files tests/permissions/*.yaml. Each contains one test or a list of tests: name, as: {role, session, backend_only}, query, variables, expect: {data, rows, ids, error, denied}. Alternatively it is an object with the tests under tests, and setup and teardown: SQL that runs in the source before and after them. The teardown runs after each setup that succeeded, also after SIGINT and SIGTERM. Each test is a separate request, and neither its changes nor those of setup are rolled back: use a test database. Asks before it writes to an environment of --env with an endpoint, or to another machine; --yes confirms it. The order of a list in data matters only if its field has order_by.',
    arguments: [{ name: 'file', help: 'run only these files', many: true }],
    options: [
      { flags: '--filter <text>', help: 'run only tests whose name contains this text, in upper or lower case' },
      { flags: '--watch', help: 'run the tests again whenever tests, metadata or migrations change, until Ctrl-C' },
      { flags: '--reporter <form>', help: 'format of the result', choices: ['tap', 'junit'], default: 'tap' },
    ],
    needs: 'service',
    example: 'svc permissions test --reporter junit > permissions.xml',
    load: async () => (await import('../run/test-permissions.ts')).runPermissionsTest,
  },
  {
    path: ['permissions', 'lint'],
    summary: 'check the permissions of the project for suspicious rules',
    details:
      'Finds write rules that are always true, updates without a check that can leave their filter, columns that can be written but not read, filters on a column that the client may set, and writes of the anonymous role. All of them may be intended, so each is a warning. The comment `# svc-lint-accept: <rule> <reason>` above a permission accepts one.',
    options: [failOn('warning'), VERBOSE],
    needs: 'files',
    example: 'svc permissions lint',
    load: async () => (await import('../run/permissions.ts')).runPermissionsLint,
  },
  {
    path: ['schema'],
    summary: 'print the GraphQL schema of a role',
    details:
      'Reads the schema from a running service if --endpoint, SVC_GRAPHQL_ENDPOINT (also in .env) or the environment of --env names one, even if introspection is disabled for the role. Otherwise builds it from the files of the project and their databases, which it reads and does not change. If no database URL is set, that is the embedded PostgreSQL of svc dev in this folder; while svc dev runs, the schema is that of its service. Types and members are sorted by name: the same schema is the same text. Exits with 4 if metadata is inconsistent, unless --allow-inconsistent is set. With --documents, prints only the part that these operations and fragments use, which is a schema against which they are valid; exits with 1 and their file and line if they are not valid. Of the input objects that a variable can have, --input-depth limits how many levels stay.',
    options: [
      { flags: '--role <role>', help: 'role', mandatory: true },
      { flags: '--format <format>', help: 'format of the schema', choices: ['sdl', 'introspection'], default: 'sdl' },
      {
        flags: '--documents <pattern>',
        help: 'GraphQL files, or TypeScript and JavaScript files with gql or graphql templates, whose operations and fragments are used, as a pattern in quotes, such as "src/**/*.{ts,tsx}"',
        many: true,
      },
      {
        flags: '--input-depth <levels>',
        help: 'with --documents: levels of related input objects that stay below the types of variables, from 0 to 100. Default: 1',
      },
      { flags: '--output <file>', help: 'write the schema to this file, at once, in place of standard output' },
      { flags: '--backend-only', help: 'also show what backend_only permissions allow' },
      { flags: '--relay', help: 'print the schema of /v1/relay, for Relay clients' },
      { ...ALLOW_INCONSISTENT, help: 'print the schema even if parts of the metadata are inconsistent' },
    ],
    needs: 'sometimes a service',
    example: "svc schema --role user --documents 'src/**/*.graphql' --output schema.graphql",
    load: async () => (await import('../run/schema.ts')).runSchema,
  },
  {
    path: ['actions', 'create'],
    summary: 'add an action to the files of the project',
    arguments: [{ name: 'name', help: 'name of the action', required: true }],
    options: [
      { flags: '--sdl <file>', help: 'SDL file with the field in type Query or Mutation, and its types', mandatory: true },
      { flags: '--kind <kind>', help: 'kind of a mutation. Default: that of config.yaml', choices: ['synchronous', 'asynchronous'] },
      { flags: '--webhook <url>', help: 'URL of the handler. Default: the base URL of config.yaml and the name of the action' },
    ],
    needs: 'files',
    example: 'svc actions create login --sdl login.graphql --webhook http://localhost:3000/login',
    load: async () => (await import('../run/actions.ts')).runActionsCreate,
  },
  {
    path: ['actions', 'codegen'],
    summary: 'generate types and handlers for actions',
    details:
      'Generates TypeScript: the types of arguments and results, and a handler for each action for node:http, fastify or express, or the types only. Names that TypeScript does not allow get the suffix _.',
    arguments: [{ name: 'name', help: 'generate only these actions', many: true }],
    options: [
      {
        flags: '--framework <name>',
        help: 'framework of the handlers',
        choices: ['types', 'node', 'fastify', 'express'],
        default: 'types',
      },
      { flags: '--output-dir <dir>', help: 'output folder. Default: that of config.yaml' },
    ],
    needs: 'files',
    example: 'svc actions codegen --framework fastify',
    load: async () => (await import('../run/actions.ts')).runActionsCodegen,
  },
  {
    path: ['version'],
    summary:
      'print the version of the command, and that of the service if --endpoint, SVC_GRAPHQL_ENDPOINT or the environment of --env names one',
    options: [],
    needs: 'sometimes a service',
    example: 'svc version',
    load: async () => (await import('../run/about.ts')).runVersion,
  },
  {
    path: ['completion'],
    summary: 'print a completion script for a shell',
    arguments: [{ name: 'shell', help: 'bash, zsh, fish or powershell', required: true }],
    options: [],
    needs: 'files',
    example: 'svc completion bash > /etc/bash_completion.d/svc',
    load: async () => (await import('../run/about.ts')).runCompletion,
  },
];
