/** `svc doctor`: looks for what goes wrong, and says what to do. */
import { join } from 'node:path';
import { serviceVersion } from '../../config/version.ts';
import { readMetadata, type ReadMetadata } from '../../project/directory/read-metadata.ts';
import { orphansOf } from '../../project/directory/write-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { EXIT, printProblem, ProjectFailure } from '../../project/failure.ts';
import { lintMetadata } from '../../project/lint.ts';
import { migratedSources } from '../../project/migrations/migration-files.ts';
import { bookOf } from '../../project/migrations/book.ts';
import { serverSources } from '../../project/migrations/sources.ts';
import { listInconsistencies, problemOf } from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import { type ServerClient, serverClient, type SqlSource } from '../../project/server-client.ts';
import type { Call, Outcome } from '../call.ts';
import { knownMigrations } from './migrate.ts';

interface Finding {
  readonly id: string;
  readonly severity: 'error' | 'warning';
  readonly cause: string;
  readonly remedy: string;
}

export async function runDoctor(call: Call): Promise<Outcome> {
  const findings: Finding[] = [];
  const add = (id: string, severity: Finding['severity'], cause: string, remedy: string): void => {
    findings.push({ id, severity, cause, remedy });
  };
  const attempt = async (id: string, remedy: string, run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure)) throw thrown;
      for (const problem of thrown.problems) add(id, 'error', printProblem(problem), remedy);
    }
  };
  const project = await call.project();
  for (const warning of project.warnings) add('config', 'warning', warning, 'mend config.yaml or .env');
  const read = await checkFiles(call, project, add, attempt);
  const server = await call.server();
  await attempt('endpoint', 'look at endpoint and admin secret, in config.yaml, .env or the environment', async () => {
    const version = await server.version();
    if (version !== serviceVersion())
      add('version', 'warning', `the service has version ${version}, the command ${serviceVersion()}`, 'use the same version of both');
    await checkAccess(project, add);
    const found = await listInconsistencies(server, read);
    for (const each of found)
      add('inconsistent', 'error', printProblem(problemOf(each)), 'mend the metadata or the database, then svc metadata reload');
    for (const source of await serverSources(server)) await checkSource(project, server, source, add, attempt);
  });
  const errors = findings.filter(({ severity }) => severity === 'error');
  const text =
    findings.length === 0
      ? 'nothing found'
      : findings.map(({ id, severity, cause, remedy }) => `${severity} [${id}] ${cause}\n  -> ${remedy}`).join('\n');
  return { exit: errors.length > 0 ? EXIT.failed : EXIT.done, text, data: { findings: findings.map((finding) => ({ ...finding })) } };
}

type Add = (id: string, severity: Finding['severity'], cause: string, remedy: string) => void;
type Attempt = (id: string, remedy: string, run: () => Promise<void>) => Promise<void>;

async function checkFiles(call: Call, project: Project, add: Add, attempt: Attempt): Promise<ReadMetadata | null> {
  let read: ReadMetadata | null = null;
  await attempt('files', 'mend the files', async () => {
    const found = readMetadata(project.metadata);
    read = found;
    for (const problem of shapeProblems(found, await call.kinds())) add('shape', 'error', printProblem(problem), 'mend the file');
    for (const problem of lintMetadata(found)) add(`lint:${problem.code}`, 'warning', printProblem(problem), 'look whether that is meant');
    if (project.metadata.file === undefined)
      for (const path of orphansOf(project.metadata))
        add('orphan', 'warning', `${project.files.show(path)} is included by nothing`, 'svc metadata export --prune');
  });
  return read;
}

async function checkAccess(project: Project, add: Add): Promise<void> {
  const open = serverClient({ ...project.settings, adminSecret: null });
  try {
    const { status } = await open.send(project.settings.paths.metadata, { body: { type: 'get_catalog_state', args: {} } });
    if (status === 200)
      add(
        'open-access',
        'error',
        'everybody is administrator: the service has no admin secret',
        'set SVC_GRAPHQL_ADMIN_SECRET of the service',
      );
    const introspection = await open.send(project.settings.paths.graphql, { body: { query: '{ __schema { queryType { name } } }' } });
    if (status !== 200 && introspection.status === 200 && !JSON.stringify(introspection.body).includes('"errors"'))
      add(
        'open-introspection',
        'warning',
        'clients without credentials may introspect the schema',
        'disable introspection for their role, or with --disable-introspection',
      );
  } finally {
    await open.close();
  }
}

async function checkSource(project: Project, server: ServerClient, source: SqlSource, add: Add, attempt: Attempt): Promise<void> {
  if (bookOf(source.kind) !== undefined && migratedSources(project.migrationsFolder).includes(source.name)) {
    await attempt('migrations', 'svc migrate status', async () => {
      for (const { status, version, name } of await knownMigrations(project, server, source))
        if (status !== 'applied')
          add(
            'migrations',
            status === 'pending' ? 'warning' : 'error',
            `${join('migrations', source.name)} ${version} ${name} is ${status}`,
            status === 'pending' ? 'svc deploy' : 'see docs/migrations.md',
          );
    });
  }
  if (source.kind !== 'pg') return;
  const list = async (sql: string): Promise<readonly string[]> =>
    (await server.sql(source, sql, { read_only: true })).rows.slice(1).map(([cell]) => String(cell));
  await attempt('source', 'look at the database', async () => {
    for (const name of await list(`select distinct tgname from pg_trigger where tgname like 'notify\\_hasura\\_%' limit 20`))
      add(
        'old-trigger',
        'warning',
        `${source.name} still has the trigger ${name} of another service: changes are captured twice`,
        'svc import --cutover tells when to drop it',
      );
    for (const name of await list(
      `select oid::regprocedure::text from pg_proc where prosrc ilike '%x-hasura-%' or prosrc ilike '%hasura.user%' limit 20`,
    ))
      add(
        'old-session-names',
        'warning',
        `${source.name}: the function ${name} reads session variables of another service`,
        'set SVC_GRAPHQL_SESSION_PREFIX_ALIASES=x-hasura- of the service, or write it anew',
      );
    for (const name of await list(
      `select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'svc_catalog', 'hdb_catalog') and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary) limit 20`,
    ))
      add(
        'no-primary-key',
        'warning',
        `${source.name}: the table ${name} has no primary key`,
        'give it one: fields by key, streams and upserts need it',
      );
  });
}
