import { EXIT_CODE } from './common.ts';
import type { Verb, VerbGroup, VerbOption } from './verb.ts';

const DATABASE: VerbOption = {
  flags: '--database-name <source>',
  help: 'only this source; also SVC_GRAPHQL_DATABASE_NAME. Else all that have a folder',
};
const RUN: readonly VerbOption[] = [
  { flags: '--lock-timeout <seconds>', help: 'how long to wait for somebody else who migrates the same source', default: '60' },
  { flags: '--statement-timeout <seconds>', help: 'how long a statement may take' },
  { flags: '--lock-timeout-sql <seconds>', help: 'how long a statement may wait for a lock of the database' },
];

export const migrateGroups: readonly VerbGroup[] = [
  { name: 'migrate', summary: 'SQL that changes the databases step by step' },
  { name: 'seed', aliases: ['seeds'], summary: 'SQL that fills the databases' },
];

export const migrateVerbs: readonly Verb[] = [
  {
    path: ['migrate', 'apply'],
    summary: 'run migrations',
    details:
      'Without flags, all that are pending, by version, each in one transaction with what is written down of it. Everything is looked at before the first one is run: what cannot run in a transaction, transactions of its own, what only psql understands, and migrations that have changed since they were run.',
    options: [
      { flags: '--up <n>', help: 'this many pending ones, or all' },
      { flags: '--down <n>', help: 'take back this many applied ones, or all' },
      { flags: '--goto <version>', help: 'up or down until this one is the last applied one' },
      { flags: '--version <version>', help: 'this one only' },
      { flags: '--type <direction>', help: 'of --version', choices: ['up', 'down'], default: 'up' },
      DATABASE,
      { flags: '--all-databases', help: 'all sources that have a folder' },
      { flags: '--skip-execution', help: 'only write down that they were run, or taken back' },
      { flags: '--dry-run', help: 'list what would be run' },
      { flags: '--no-transaction', help: 'run statements one by one, with no transaction around them' },
      { flags: '--single-transaction', help: 'all pending ones of a source in one transaction' },
      { flags: '--allow-changed', help: 'go on though applied migrations have changed since' },
      { flags: '--strict-order', help: 'refuse migrations that are older than the last applied one' },
      ...RUN,
    ],
    needs: 'service',
    example: 'svc migrate apply --database-name default',
    load: async () => (await import('../run/migrate.ts')).runMigrateApply,
  },
  {
    path: ['migrate', 'status'],
    summary: 'list migrations: applied, pending, missing, changed, dirty',
    details: 'missing: applied, and there is no folder. changed: applied, and the file is another one since. dirty: began and did not end.',
    options: [DATABASE, { ...EXIT_CODE, help: 'end with 3 where one of them is not applied as it is' }],
    needs: 'service',
    example: 'svc migrate status --json',
    load: async () => (await import('../run/migrate.ts')).runMigrateStatus,
  },
  {
    path: ['migrate', 'create'],
    summary: 'make a migration',
    arguments: [{ name: 'name', help: 'what it does', required: true }],
    options: [
      { flags: '--up-sql <sql>', help: 'content of up.sql' },
      { flags: '--down-sql <sql>', help: 'content of down.sql' },
      { flags: '--sql-from-file <file>', help: 'file that becomes up.sql' },
      { ...DATABASE, help: 'its source' },
    ],
    needs: 'files',
    example: 'svc migrate create add_author_email --up-sql "alter table author add email text"',
    load: async () => (await import('../run/migrate-files.ts')).runMigrateCreate,
  },
  {
    path: ['migrate', 'squash'],
    summary: 'make one migration of several',
    details:
      'Ups in their order, downs in the opposite one; the last version is kept. All or none of them must be applied. The folders are moved to squashed_<from>_to_<to>, or removed with --delete-source.',
    options: [
      { flags: '--from <version>', help: 'the first of them', mandatory: true },
      { flags: '--to <version>', help: 'the last of them; else the last there is' },
      { flags: '--name <name>', help: 'name of the new one', default: 'squashed' },
      { flags: '--delete-source', help: 'remove their folders' },
      { ...DATABASE, help: 'their source' },
    ],
    needs: 'service',
    example: 'svc migrate squash --from 1700000000000 --name start',
    load: async () => (await import('../run/migrate-files.ts')).runMigrateSquash,
  },
  {
    path: ['migrate', 'delete'],
    summary: 'forget migrations and remove their folders; the databases stay as they are',
    options: [
      { flags: '--version <version>', help: 'this one' },
      { flags: '--all', help: 'all of them' },
      { flags: '--server', help: 'only forget that they were run, and keep the folders' },
      { ...DATABASE, help: 'their source' },
    ],
    needs: 'service',
    example: 'svc migrate delete --version 1700000000000 --yes',
    load: async () => (await import('../run/migrate-files.ts')).runMigrateDelete,
  },
  {
    path: ['migrate', 'verify'],
    summary: 'try whether down undoes up',
    details:
      'Tries up, down and up again of each pending migration in a transaction of the source that is rolled back, and compares the schema after each step. Meanwhile the tables that they change are locked. Migrations that cannot run in a transaction are not tried.',
    options: [DATABASE],
    needs: 'service',
    example: 'svc migrate verify',
    load: async () => (await import('../run/migrate-files.ts')).runMigrateVerify,
  },
  {
    path: ['seed', 'create'],
    summary: 'make a seed file',
    arguments: [{ name: 'name', help: 'what it holds', required: true }],
    options: [
      { flags: '--from-table <table>', help: 'with the rows of this table, [schema.]name', many: true },
      { flags: '--upsert', help: 'let rows that are there already be updated' },
      { flags: '--sql-from-file <file>', help: 'file that becomes its content' },
      { ...DATABASE, help: 'its source' },
    ],
    needs: 'sometimes a service',
    example: 'svc seed create roles --from-table public.role --upsert',
    load: async () => (await import('../run/seed.ts')).runSeedCreate,
  },
  {
    path: ['seed', 'apply'],
    summary: 'run seed files, in the order of their paths, in one transaction for each source',
    options: [
      { flags: '-f, --file <file>', help: 'only this file, below the folder of the source', many: true },
      { flags: '--once', help: 'run each file once, and write that down in the source' },
      DATABASE,
      { flags: '--all-databases', help: 'all sources that have a folder' },
      ...RUN,
    ],
    needs: 'service',
    example: 'svc seed apply --once',
    load: async () => (await import('../run/seed.ts')).runSeedApply,
  },
  {
    path: ['plan'],
    summary: 'tell what a deployment would do, without doing it',
    details:
      'Runs pending migrations in a transaction of each source that is rolled back, and builds the metadata on what they make: migrations that fail, with file and line; changes of the metadata; who gains or loses access; what clients of each role would notice; what would be inconsistent. Data is changed until the rollback, locks are held meanwhile, and sequences advance.',
    options: [
      { flags: '--no-try', help: 'run no SQL' },
      { flags: '--out <file>', help: 'write the plan as JSON, for svc deploy --plan' },
      { flags: '--detailed-exit-code', help: 'end with 3 where a deployment would do something' },
      { flags: '--statement-timeout <seconds>', help: 'how long a statement may take (60)' },
      { flags: '--lock-timeout-sql <seconds>', help: 'how long a statement may wait for a lock (5)' },
      { flags: '--timeout <seconds>', help: 'how long the trial may take in all, up to 3600 (300)' },
    ],
    needs: 'service',
    example: 'svc plan --out plan.json && svc deploy --plan plan.json',
    load: async () => (await import('../run/plan.ts')).runPlan,
  },
  {
    path: ['deploy'],
    summary: 'bring a service up to the project: migrations, metadata, seeds',
    details:
      'Adds the sources that the service does not have, runs what is pending in all of them, applies the metadata at once and strictly, and runs seeds with --with-seeds. What fails is told with what was done before and what was not.',
    options: [
      { flags: '--plan <file>', help: 'only if it is still what svc plan --out wrote to this file' },
      { flags: '--with-seeds', help: 'run the seeds too' },
      { flags: '--once', help: 'of --with-seeds: each file once' },
      { flags: '--no-transaction', help: 'run the statements of migrations one by one' },
      { flags: '--allow-inconsistent', help: 'apply metadata of which parts are inconsistent' },
      { flags: '--allow-changed', help: 'go on though applied migrations have changed since' },
      ...RUN,
    ],
    needs: 'service',
    example: 'svc deploy --json',
    load: async () => (await import('../run/deploy.ts')).runDeploy,
  },
];
