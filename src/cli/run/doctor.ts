/** `svc doctor`: looks for what goes wrong, and says what to do. */
import { join } from 'node:path';
import type { Backend } from '../../backend/backend.ts';
import type { DiagnosedSource, Finding } from '../../backend/diagnostics.ts';
import { serviceVersion } from '../../config/version.ts';
import { readMetadata, type ReadMetadata } from '../../project/directory/read-metadata.ts';
import { orphansOf } from '../../project/directory/write-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { EXIT, printProblem, ProjectFailure } from '../../project/failure.ts';
import { lintMetadata } from '../../project/lint.ts';
import { migratedSources, readMigrations } from '../../migrations/migration-files.ts';
import { announce } from '../../migrations/implicit-extension.ts';
import { cellOf, type ListedSource, rowsOf, sourcesOf } from '../../migrations/sources.ts';
import { exportFrom, listInconsistencies, problemsOf } from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import { type ServerClient, serverClient } from '../../project/server-client.ts';
import type { Call, Outcome } from '../call.ts';
import type { Kinds } from '../../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { type Add, printFindings, rankFindings } from './doctor-findings.ts';
import { versionsDiffer } from './about.ts';
import { isFailing } from './findings.ts';
import { knownMigrations } from './migrate.ts';

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
  const [server, kinds] = [await call.server(), await call.kinds()];
  await attempt('endpoint', 'look at endpoint and admin secret, in config.yaml, .env or the environment', async () => {
    const version = await server.version();
    if (version !== serviceVersion()) add('version', 'warning', versionsDiffer(version, serviceVersion()), 'use the same version of both');
    await checkAccess(project, add);
    for (const problem of problemsOf(await listInconsistencies(server, read)))
      add(NOT_SET.test(problem.message) ? 'environment' : 'inconsistent', 'error', printProblem(problem), remedyOf(problem.message, kinds));
    const options = await checkSettings(server, project, add);
    // With the other prefix beside ours, its SQL reads what it expects.
    const hasAliases = String(options.get('session-prefix-aliases') ?? '') !== '';
    const told: Add = (id, ...others) => (id === 'old-session-names' && hasAliases ? undefined : add(id, ...others));
    const sources = sourcesOf((await exportFrom(server)).metadata, kinds);
    for (const source of sources)
      await checkSource(
        project,
        server,
        source,
        sources.filter((other) => other !== source),
        told,
        attempt,
      );
  });
  const ranked = rankFindings(findings);
  return {
    exit: isFailing(
      call,
      findings.map(({ severity }) => severity),
    )
      ? EXIT.failed
      : EXIT.done,
    text: printFindings(ranked),
    data: { findings: ranked.map((finding) => ({ ...finding })) },
  };
}

/** How inconsistencies are worded that a variable of the environment makes. */
const NOT_SET = /environment variables? /i;

function remedyOf(reason: string, kinds: Kinds<Backend>): string {
  if (NOT_SET.test(reason)) return 'set the variable where the service runs, and start it again';
  for (const { diagnostics } of kinds.all) {
    const known = diagnostics?.remedyOf?.(reason);
    if (known !== undefined) return known;
  }
  return 'mend the metadata or the database, then svc metadata reload';
}

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

async function checkSource(
  project: Project,
  server: ServerClient,
  source: ListedSource,
  others: readonly ListedSource[],
  add: Add,
  attempt: Attempt,
): Promise<void> {
  const dialect = source.backend?.migrations;
  if (dialect !== undefined && migratedSources(project.migrationsFolder).includes(source.name)) {
    await attempt('migrations', 'svc migrate status', async () => {
      const known = await knownMigrations(project, server, source);
      const pending = known.flatMap(({ status, migration }) => (status === 'pending' ? [migration?.up ?? ''] : []));
      const needed = await dialect.neededExtension?.(source.entry, pending, cellOf(server, source));
      if (needed !== undefined)
        add(
          'implicit-extension',
          'warning',
          `svc deploy creates ${announce(needed, source.name)}`,
          `where the role of the source may not create it, run as the owner of the database or a superuser: ${needed.sql};`,
        );
      for (const { status, version, name } of known)
        if (status !== 'applied')
          add(
            'migrations',
            status === 'pending' ? 'warning' : 'error',
            `${join('migrations', source.name)} ${version} ${name} is ${status}`,
            status === 'pending' ? 'svc deploy' : 'see docs/migrations.md',
          );
    });
  }
  const folder = join(project.migrationsFolder, source.name);
  const inspect = source.backend?.diagnostics?.inspect;
  if (inspect !== undefined)
    await attempt('source', 'look at the database', async () => {
      const findings = await inspect({
        ...diagnosed(server, source),
        others: others.filter(({ kind }) => kind === source.kind).map((other) => diagnosed(server, other)),
        migrations: readMigrations(project.files, folder).flatMap(({ up }) => up ?? []),
      });
      for (const { id, severity, cause, remedy } of findings) add(id, severity, cause, remedy);
    });
}

function diagnosed(server: ServerClient, source: ListedSource): DiagnosedSource {
  return { name: source.name, entry: source.entry, query: rowsOf(server, source) };
}

/** What the service says of how it is set up; nothing where it does not answer. @returns its options, by their flags */
async function checkSettings(server: ServerClient, project: Project, add: Add): Promise<ReadonlyMap<Json | undefined, Json | undefined>> {
  const { status, body } = await server.send(`${project.settings.paths.config}?options=true`);
  if (status !== 200 || !isJsonObject(body)) return new Map();
  const options = new Map(
    (isJsonArray(body['options']) ? body['options'] : []).filter(isJsonObject).map((option) => [option['flag'], option['value']]),
  );
  const isOn = (flag: string): boolean => String(options.get(flag)) === 'true';
  if (isOn('dev-mode'))
    add(
      'dev-mode',
      'warning',
      'the service tells everybody internal details of errors',
      'SVC_GRAPHQL_DEV_MODE=false where others reach it',
    );
  if (String(options.get('cors-domain')) === '*' && !isOn('disable-cors') && body['is_auth_hook_set'] === true)
    add(
      'cors',
      'warning',
      'pages of any origin may send requests with cookies, which the authentication webhook gets',
      'name the origins in SVC_GRAPHQL_CORS_DOMAIN',
    );
  if (Array.isArray(body['enabled_apis']) && !body['enabled_apis'].includes('metadata'))
    add('metadata-api', 'error', 'the service does not offer the API of metadata', 'SVC_GRAPHQL_ENABLED_APIS has to hold metadata');
  return options;
}
