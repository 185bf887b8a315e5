/** Texts of the files that `svc init` writes. Comments in them say what belongs where. */
import { stringify } from 'yaml';
import { SCHEMAS_FOLDER } from '../../project/project-schemas.ts';

const TABLES_FILE = 'databases/default/tables/tables.yaml';

/** Comments at the start of new metadata files, by their path below the metadata folder. */
const HEADERS: Readonly<Record<string, string>> = {
  'databases/databases.yaml':
    'The sources: databases whose tables are in the API. The variable of from_env is read by the service; svc dev sets\nSVC_GRAPHQL_DATABASE_URL to its own PostgreSQL, unless you set it in .env.',
  [TABLES_FILE]:
    'The tables and views in the API, each with a file of its own. Replace the [] by lines such as\n\n  - "!include public_author.yaml"\n\nand write to public_author.yaml:\n\n  # yaml-language-server: $schema=../../../../json-schemas/table.json\n  table: {schema: public, name: author}\n  select_permissions:\n    - role: reader\n      permission: {columns: [id, name], filter: {}}',
  'remote_schemas.yaml': 'GraphQL servers whose fields are added to the API.',
  'query_collections.yaml': 'Named queries, for the allow list and for REST endpoints.',
  'allow_list.yaml': 'Collections whose queries are allowed if the service runs with --enable-allowlist.',
  'cron_triggers.yaml': 'Webhooks that are called on a schedule.',
  'rest_endpoints.yaml': 'REST endpoints that run a query of a collection.',
  'api_limits.yaml': 'Limits of requests by role: depth, nodes, rate, time.',
  'inherited_roles.yaml': 'Roles that combine the permissions of other roles.',
  'graphql_schema_introspection.yaml': 'Roles that may not introspect the schema.',
  'network.yaml': 'Hosts whose TLS certificates are accepted although they cannot be verified.',
  'actions.yaml': 'Fields of the API that call a webhook. Their signatures are in actions.graphql: add both with svc actions create.',
  'version.yaml': 'Version of the format of these files.',
};

/** Returns the comment that names the schema of a file to editors. @param path of the file below the project @param schema in its folder */
export function schemaLine(path: string, schema: string): string {
  return `# yaml-language-server: $schema=${'../'.repeat(path.split('/').length - 1)}${SCHEMAS_FOLDER}/${schema}\n`;
}

/** Returns a metadata file with its comment. @param file path below the metadata folder */
export function withHeader(file: string, text: string): string {
  const header = HEADERS[file];
  // The comment about tables is for a file without any.
  if (header === undefined || (file === TABLES_FILE && text !== '[]\n')) return text;
  return `${header.replace(/^.*$/gm, (line) => (line === '' ? '#' : `# ${line}`))}\n${text}`;
}

export function configText(endpoint: string): string {
  return `${schemaLine('config.yaml', 'config.json')}# Settings of the svc commands; this file marks the root of the project.
version: 3
# Address of the service. svc dev listens on this port.
endpoint: ${scalar(endpoint)}
# The admin secret comes from SVC_GRAPHQL_ADMIN_SECRET in .env or in your shell: do not write it here.
metadata_directory: metadata
migrations_directory: migrations
seeds_directory: seeds
# Other services that this project is deployed to, with svc deploy --env production:
# environments:
#   production: {endpoint: https://api.example.com, admin_secret: {from_env: PRODUCTION_ADMIN_SECRET}}
`;
}

function scalar(value: string): string {
  return stringify(value).trimEnd();
}

export const ENVIRONMENT_EXAMPLE = `# svc init . makes a .env out of this file, with a new admin secret. git ignores .env; variables of your shell take precedence.

# Secret that gives full access to the service. svc dev requires it from clients, and the other commands send it.
SVC_GRAPHQL_ADMIN_SECRET=

# Database of the source "default" for svc dev. Without it, svc dev starts a PostgreSQL of its own in .svc/.
# SVC_GRAPHQL_DATABASE_URL=postgres://user:password@localhost:5432/database
`;

/** Text of a `.env` with a new secret. */
export function environmentText(secret: string): string {
  return withSecret(
    ENVIRONMENT_EXAMPLE.replace(/^.*\n\n/, '# Read by svc; git ignores this file. Variables of your shell take precedence.\n\n'),
    secret,
  );
}

/** Replaces the admin secret of a `.env.example`, which may be published. Returns the same text if it names none. */
export function withSecret(example: string, secret: string): string {
  return example.replace(/^(\s*(?:export\s+)?SVC_GRAPHQL_ADMIN_SECRET=).*$/m, (_, name: string) => name + secret);
}

export const PERMISSION_TESTS = `${schemaLine('tests/permissions/reader.yaml', 'permission_tests.json')}# Requests of a role, each with the answer that is expected. Run them with svc permissions test:
# - name: readers see names
#   as: {role: reader}
#   query: '{ author { name } }'
#   expect: {rows: 1}
# - name: readers delete nothing
#   as: {role: reader}
#   query: 'mutation { delete_author(where: {}) { affected_rows } }'
#   expect: {error: validation-failed}
[]
`;

/** Properties of a new project that its texts depend on. */
export interface NewProject {
  readonly name: string;
  readonly endpoint: string;
  /** The metadata is that of a running service. */
  readonly isCopy: boolean;
  /** The folder of the project as the user wrote it; `.` for the working directory. */
  readonly folder: string;
  /** Commands find the admin secret, in `.env` or in the environment. */
  readonly hasSecret: boolean;
  /** `.env` existed before. */
  readonly hasEnvironment: boolean;
}

/** A command with a remark about it. */
type NextStep = readonly [command: string, remark: string];

/** Returns the commands to run after `svc init`, one per line, with a remark each. */
export function nextSteps({ folder, isCopy, hasSecret, hasEnvironment }: NewProject): string {
  const enter: readonly NextStep[] = folder === '.' ? [] : [[`cd ${/^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)}`, '']];
  const secret: readonly NextStep[] = hasSecret
    ? []
    : hasEnvironment
      ? [["echo 'SVC_GRAPHQL_ADMIN_SECRET=…' >> .env", 'with the admin secret of the service']]
      : [['cp .env.example .env', 'write the admin secret of the service to it']];
  const steps: readonly NextStep[] = isCopy
    ? [
        ['svc migrate create init --from-server', 'the tables as they are become the first migration'],
        ['svc plan', 'shows what a deployment would change: nothing yet'],
        ['svc doctor', 'checks the project and the service'],
      ]
    : [
        ['svc migrate create create_author', 'then write SQL to up.sql in the folder that it prints'],
        ['svc dev', 'starts the service, runs the migrations, and follows your files'],
        ['svc plan', 'in another terminal: shows what svc deploy would change'],
      ];
  const all = [...enter, ...secret, ...steps];
  const width = Math.max(...all.map(([command]) => command.length));
  return all.map(([command, remark]) => `  ${remark === '' ? command : `${command.padEnd(width)}  # ${remark}`}`).join('\n');
}

/** Returns the README of a project. */
export function readmeText({ name, endpoint }: NewProject): string {
  return `# ${name}

A GraphQL API in files, run by \`svc\`.

| | |
|---|---|
| \`config.yaml\` | settings of the commands |
| \`.env\` | secrets and variables of your machine; not in git, see \`.env.example\` |
| \`metadata/\` | the API: sources, tables, permissions, relationships, actions, triggers |
| \`migrations/<source>/<version>_<name>/\` | changes of the databases: \`up.sql\`, and \`down.sql\` to revert them |
| \`seeds/<source>/*.sql\` | rows that a new database starts with |
| \`tests/permissions/*.yaml\` | what each role may see and do |
| \`json-schemas/\` | schemas by which editors check the files; \`svc init --schemas\` renews them after an upgrade of svc |

## The first table

1. Create a migration, and write its SQL to the \`up.sql\` in the folder that the command prints:

   \`\`\`sh
   svc migrate create create_author
   \`\`\`

   \`\`\`sql
   create table author (id serial primary key, name text not null);
   insert into author (name) values ('Ada');
   \`\`\`

2. Start the service. It runs the migrations, and applies the metadata whenever you save a file:

   \`\`\`sh
   svc dev
   \`\`\`

3. Add the table to the API: replace the \`[]\` in \`metadata/databases/default/tables/tables.yaml\` by \`- "!include public_author.yaml"\`, and
   write \`public_author.yaml\` beside it:

   \`\`\`yaml
   # yaml-language-server: $schema=../../../../json-schemas/table.json
   table: {schema: public, name: author}
   select_permissions:
     - role: reader
       permission: {columns: [id, name], filter: {}}
   \`\`\`

4. Send a query, as administrator with the secret of \`.env\`:

   \`\`\`sh
   . ./.env
   curl ${endpoint}/v1/graphql -H "x-svc-admin-secret: $SVC_GRAPHQL_ADMIN_SECRET" -H 'content-type: application/json' \\
     -d '{"query": "{ author { id name } }"}'
   \`\`\`

## Later changes

\`\`\`sh
svc migrate create add_author_email --up-sql 'alter table author add email text'
svc plan                # what a deployment would do
svc deploy              # migrations, then metadata
svc permissions test    # the tests in tests/permissions
svc doctor              # what is wrong, and what to do about it
\`\`\`

Changes that you make in the console are written to the files by \`svc dev\`; from another service, fetch them with \`svc metadata export\`.
`;
}
