/** `svc doctor`: checks a project and its service, and gives a remedy for each finding. */
import { join } from 'node:path';
import type { Backend } from '../../backend/backend.ts';
import type { DiagnosedSource, Finding } from '../../backend/diagnostics.ts';
import { serviceVersion } from '../../config/version.ts';
import { checkMetadata } from '../../deployment/metadata-check.ts';
import { compareSources } from '../../deployment/source-histories.ts';
import { readMetadata, type ReadMetadata } from '../../project/directory/read-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { EXIT, type Problem, printProblem, ProjectFailure } from '../../project/failure.ts';
import { lintMetadata } from '../../project/lint/lint.ts';
import { isEmptySql, type Migration, migratedSources, readMigrations, shownFile } from '../../migrations/migration-files.ts';
import { privilegeProblems } from '../../migrations/plan-sources.ts';
import { missingSources } from '../../migrations/missing-sources.ts';
import { describeDrift, DRIFT_REMEDY, schemaDrift } from '../../migrations/schema-drift.ts';
import { describeExtension } from '../../migrations/implicit-extension.ts';
import { cellOf, type ListedSource, rowsOf, sourceNames, sourcesOf } from '../../migrations/sources.ts';
import {
  changesOf,
  exportFrom,
  isApplied,
  listInconsistencies,
  type LocatedInconsistency,
  problemsOf,
  titleOf,
} from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import { type ServerClient, serverClient } from '../../project/server-client.ts';
import { type CommandContext, type CommandOutcome, textOption } from '../context.ts';
import { isAboutVariables, SET_VARIABLES } from '../../metadata/environment-template.ts';
import type { Kinds } from '../../metadata/kinds.ts';
import { isJsonObject, type Json, type JsonObject, objectsIn } from '../../util/json.ts';
import { type Add, printFindings, rankFindings } from './doctor-findings.ts';
import { versionMismatch } from './about.ts';
import { isFailing } from './findings.ts';
import { knownMigrations } from './migrate.ts';

export async function runDoctor(context: CommandContext): Promise<CommandOutcome> {
  const findings: Finding[] = [];
  const add = (id: string, severity: Finding['severity'], cause: string, remedy: string): void => {
    findings.push({ id, severity, cause, remedy });
  };
  const attempt = async (id: string, remedy: string, run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (thrown) {
      if (thrown instanceof SyntaxError) add(id, 'error', `the service returned a value that is not JSON: ${thrown.message}`, remedy);
      else if (!(thrown instanceof ProjectFailure)) throw thrown;
      else for (const problem of thrown.problems) add(id, 'error', printProblem(problem), remedy);
    }
  };
  const project = await context.project();
  for (const warning of project.warnings) add('config', 'warning', warning, 'correct config.yaml or .env');
  const read = await checkFiles(context, project, add, attempt);
  const [server, kinds] = [await context.server(), await context.kinds()];
  await attempt(
    'endpoint',
    'start the service with svc dev or svc serve, or correct the endpoint or the admin secret in config.yaml, .env or the environment',
    () => checkService({ project, server, kinds, read, findings, add, attempt }),
  );
  const ranked = rankFindings(findings.map((finding) => ({ ...finding, remedy: withEnvironment(context, finding.remedy) })));
  return {
    exit: isFailing(
      context,
      findings.map(({ severity }) => severity),
    )
      ? EXIT.failed
      : EXIT.done,
    text: printFindings(ranked),
    data: { findings: ranked.map((finding) => ({ ...finding })) },
  };
}

/** Adds the chosen environment to the commands of a remedy, which otherwise reach the default one. */
function withEnvironment(context: CommandContext, remedy: string): string {
  const name = textOption(context, 'env');
  if (name === undefined) return remedy;
  const commands = context.commands.map((words) => words.join(' ')).filter((words) => !OWN_COMMANDS.has(words));
  const longestFirst = commands.sort((a, b) => b.length - a.length).join('|');
  return remedy.replace(new RegExp(`\\bsvc (${longestFirst})\\b`, 'g'), `svc $1 --env ${name}`);
}

/** Commands that do not send to a service. */
const OWN_COMMANDS: ReadonlySet<string> = new Set(['init', 'dev', 'serve', 'import', 'metadata', 'migrate']);

interface ServiceCheck {
  readonly project: Project;
  readonly server: ServerClient;
  readonly kinds: Kinds<Backend>;
  /** Metadata of the project; `null` if it cannot be read. */
  readonly read: ReadMetadata | null;
  readonly findings: readonly Finding[];
  readonly add: Add;
  readonly attempt: Attempt;
}

/** Checks the service and compares the project with it. @throws ProjectFailure if the service cannot be reached */
async function checkService({ project, server, kinds, read, findings, add, attempt }: ServiceCheck): Promise<void> {
  const version = await server.version();
  if (version !== serviceVersion())
    add('version', 'warning', versionMismatch(version, serviceVersion()), 'use the same version of the service and the command');
  await checkAccess(project, add);
  const inconsistent = await listInconsistencies(server, read);
  for (const problem of problemsOf(inconsistent)) addInconsistency(problem, kinds, add);
  const options = await checkSettings(server, project, add);
  // With aliases of the session prefix, SQL that reads the old names works.
  const hasAliases = String(options.get('session-prefix-aliases') ?? '') !== '';
  const addToSource: Add = (id, ...others) => (id === 'old-session-names' && hasAliases ? undefined : add(id, ...others));
  const { metadata } = await exportFrom(server);
  const sources = sourcesOf(metadata, kinds);
  // A project that lacks a source cannot be deployed.
  const isDeployable = !findings.some(({ id }) => id === 'no-source');
  if (read !== null && isDeployable) compareWithService(read.document, metadata, kinds, add);
  const declared = read === null ? undefined : sourceNames(read.document);
  for (const name of declared ?? [])
    if (!sources.some((source) => source.name === name))
      add('not-deployed', 'warning', `the service does not have the source "${name}" of the project yet`, 'run svc deploy');
  const failed = new Set(inconsistent.flatMap(({ type, definition }) => (type === 'source' ? [String(definition)] : [])));
  for (const source of sources.filter(({ name }) => !failed.has(name))) {
    await attempt('migrations', 'run svc migrate status', () => checkMigrations(project, server, source, declared, addToSource));
    const others = sources.filter((other) => other !== source);
    await attempt('source', 'check the database', () => inspectSource(project, server, source, others, addToSource));
  }
  if (read === null || !isDeployable) return;
  const isPending = findings.some(({ id }) => id === 'migrations' || id === 'not-deployed');
  await checkDeployment({ server, read, metadata, kinds, project, known: inconsistent, isPending }, add);
}

/** Maximum number of differences that are named. */
const MAX_NAMED = 5;

const PLACES = { added: 'only in the files', removed: 'only in the service', changed: 'different' } as const;

/** Compares the files with the metadata of the service. Sources that the service does not have are a finding of their own. */
function compareWithService(document: JsonObject, metadata: JsonObject, kinds: Kinds<Backend>, add: Add): void {
  if (isApplied(document, metadata, kinds)) return;
  const existing = sourceNames(metadata);
  const differences = changesOf(metadata, document, kinds).filter(
    ({ kind, noun, source }) => !(kind === 'added' && noun === 'source') && (source === undefined || existing.includes(source)),
  );
  if (differences.length === 0) return;
  const named = differences.map(({ kind, object }) => `${object} (${PLACES[kind]})`);
  add(
    'not-applied',
    'warning',
    `the metadata of the files and of the service differ: ${namedUpTo(named)}`,
    'run svc deploy to change the service, or svc metadata export to change the files; svc metadata diff shows all differences',
  );
}

function addInconsistency(problem: Problem, kinds: Kinds<Backend>, add: Add): void {
  add(
    isAboutVariables(problem.message) ? 'environment' : 'inconsistent',
    problem.severity ?? 'error',
    printProblem(problem).replace(`. ${SET_VARIABLES}`, ''),
    remedyOf(problem.message, kinds),
  );
}

interface DeploymentInput {
  readonly server: ServerClient;
  readonly project: Project;
  readonly read: ReadMetadata;
  /** Metadata of the service. */
  readonly metadata: JsonObject;
  readonly kinds: Kinds<Backend>;
  /** Inconsistencies that the service has already. */
  readonly known: readonly LocatedInconsistency[];
  /** True if migrations are pending: objects that need tables may be consistent once they have run. */
  readonly isPending: boolean;
}

/** Types of inconsistent objects that no migration makes consistent. */
const WITHOUT_TABLES: ReadonlySet<string> = new Set(['source', 'cron_trigger', 'opentelemetry']);

function namedUpTo(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Finds objects for which a deployment of the files would be rejected. */
async function checkDeployment({ server, project, read, metadata, kinds, known, isPending }: DeploymentInput, add: Add): Promise<void> {
  if (isApplied(read.document, metadata, kinds)) return;
  const { added, moved } = compareSources(project, read.document, metadata, kinds);
  const reported = new Set(problemsOf(known).map(printProblem));
  const all = await checkMetadata(server, read, [...added, ...moved]);
  const isKnown = ({ type, reason }: LocatedInconsistency): boolean => !isPending || WITHOUT_TABLES.has(type) || isAboutVariables(reason);
  const existing = new Set(known.map(titleOf));
  const omitted = all.filter((each) => !isKnown(each) && !existing.has(titleOf(each))).map(titleOf);
  if (omitted.length > 0)
    add(
      'not-checked',
      'warning',
      `objects that pending migrations may make consistent are not checked: ${namedUpTo(omitted)}`,
      'run svc plan, which tries the migrations',
    );
  for (const problem of problemsOf(all.filter(isKnown))) if (!reported.has(printProblem(problem))) addInconsistency(problem, kinds, add);
}

function remedyOf(reason: string, kinds: Kinds<Backend>): string {
  if (isAboutVariables(reason)) return SET_VARIABLES;
  for (const { diagnostics } of kinds.all) {
    const known = diagnostics?.remedyOf?.(reason);
    if (known !== undefined) return known;
  }
  return 'correct the metadata or the database, then run svc metadata reload';
}

type Attempt = (id: string, remedy: string, run: () => Promise<void>) => Promise<void>;

async function checkFiles(context: CommandContext, project: Project, add: Add, attempt: Attempt): Promise<ReadMetadata | null> {
  let read: ReadMetadata | null = null;
  await attempt('files', 'correct the files', async () => {
    const found = readMetadata(project.metadata);
    read = found;
    for (const problem of shapeProblems(found, await context.kinds())) add('shape', 'error', printProblem(problem), 'correct the file');
    for (const { file, cause, remedy } of missingSources(project, sourceNames(found.document), await context.kinds()))
      add('no-source', 'error', printProblem({ code: 'no-source', message: cause, file }), remedy);
    for (const drifted of schemaDrift({ ...project, document: found.document, kinds: await context.kinds() }))
      add('schema-drift', 'warning', describeDrift(drifted), DRIFT_REMEDY);
    for (const problem of lintMetadata(project.metadata, found).problems)
      if (problem.code === 'orphan') add('orphan', 'warning', printProblem(problem), 'remove it, or run svc metadata export --prune');
      else
        add(
          `lint:${problem.code}`,
          problem.severity ?? 'error',
          printProblem(problem),
          problem.severity === undefined ? 'correct the comment' : 'check whether this is intended',
        );
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
        'the service has no admin secret: every request has full access',
        'set SVC_GRAPHQL_ADMIN_SECRET in the environment of the service; svc dev reads it from .env',
      );
    const introspection = await open.send(project.settings.paths.graphql, {
      body: { query: '{ __schema { queryType { name } } }' },
      // As other clients than the command line, which is answered before the deployment.
      headers: { 'x-svc-client-name': 'svc-doctor' },
    });
    if (introspection.status === 503)
      add(
        'unavailable',
        'error',
        'the service answers 503 to its clients, for example because svc dev could not deploy the project',
        'run svc plan, which says what is wrong',
      );
    if (status !== 200 && introspection.status === 200 && !JSON.stringify(introspection.body).includes('"errors"'))
      add(
        'open-introspection',
        'warning',
        'clients without credentials can introspect the schema',
        'disable introspection for their role, or start the service with --disable-introspection',
      );
  } finally {
    await open.close();
  }
}

/** @param declared names of the sources in the metadata of the project; `undefined` if that cannot be read */
async function checkMigrations(
  project: Project,
  server: ServerClient,
  source: ListedSource,
  declared: readonly string[] | undefined,
  add: Add,
): Promise<void> {
  const dialect = source.backend?.migrations;
  if (dialect === undefined || !migratedSources(project.migrationsFolder).includes(source.name)) return;
  const known = await knownMigrations(project, server, source);
  const pending = known.flatMap(({ status, migration }) => (status === 'pending' ? [migration?.up ?? ''] : []));
  const needed = await dialect.neededExtension?.(source.entry, pending, cellOf(server, source));
  if (needed !== undefined)
    add(
      'implicit-extension',
      'warning',
      `svc deploy creates ${describeExtension(needed, source.name)}`,
      `if the role of the source is not allowed to create it, run as the owner of the database or a superuser: ${needed.sql};`,
    );
  if (pending.length > 0)
    for (const { message } of await privilegeProblems(source, cellOf(server, source)))
      add('privileges', 'error', message, 'run that statement, then svc deploy');
  for (const { status, version, name, migration } of known)
    if (status !== 'applied')
      add(
        'migrations',
        status === 'pending' ? 'warning' : 'error',
        `${join('migrations', source.name)} ${version} ${name} is ${status}`,
        status !== 'pending'
          ? MIGRATION_REMEDIES[status]
          : declared?.includes(source.name) !== false
            ? pendingRemedy(migration)
            : `add the source ${source.name} to the metadata first, as described under no-source`,
      );
}

/** Remedies for migrations that are not as the history of the source has them. */
const MIGRATION_REMEDIES = {
  changed: 'restore the file and write a new migration for the change, or accept the file with svc deploy --allow-changed',
  missing: 'restore its folder from version control, or remove it from the history with svc migrate delete --server --version <version>',
  dirty: 'check the database, then clear the mark with svc migrate delete --server --version <version>',
} as const;

function pendingRemedy(migration: Migration | undefined): string {
  if (migration === undefined || migration.up === null || !isEmptySql(migration.up)) return 'run svc deploy';
  return `write the SQL of ${shownFile(migration, 'up')}, then run svc deploy`;
}

async function inspectSource(
  project: Project,
  server: ServerClient,
  source: ListedSource,
  others: readonly ListedSource[],
  add: Add,
): Promise<void> {
  const folder = join(project.migrationsFolder, source.name);
  const findings = await source.backend?.diagnostics?.inspect?.({
    ...diagnosed(server, source),
    others: others.filter(({ kind }) => kind === source.kind).map((other) => diagnosed(server, other)),
    migrations: readMigrations(project.files, folder).flatMap(({ up }) => up ?? []),
  });
  for (const { id, severity, cause, remedy } of findings ?? []) add(id, severity, cause, remedy);
}

function diagnosed(server: ServerClient, source: ListedSource): DiagnosedSource {
  return { name: source.name, entry: source.entry, query: rowsOf(server, source) };
}

/** Checks the settings that the service reports, if it reports any. @returns its options by flag */
async function checkSettings(server: ServerClient, project: Project, add: Add): Promise<ReadonlyMap<Json | undefined, Json | undefined>> {
  const { status, body } = await server.send(`${project.settings.paths.config}?options=true`);
  if (status !== 200 || !isJsonObject(body)) return new Map();
  const options = new Map(objectsIn(body['options']).map((option) => [option['flag'], option['value']]));
  const isOn = (flag: string): boolean => String(options.get(flag)) === 'true';
  if (isOn('dev-mode'))
    add(
      'dev-mode',
      'warning',
      'dev mode is on: every client sees internal details of errors',
      'set SVC_GRAPHQL_DEV_MODE=false in production',
    );
  if (String(options.get('cors-domain')) === '*' && !isOn('disable-cors') && body['is_auth_hook_set'] === true)
    add(
      'cors',
      'warning',
      'pages of any origin can send requests with cookies, which are passed to the authentication webhook',
      'list the permitted origins in SVC_GRAPHQL_CORS_DOMAIN',
    );
  if (Array.isArray(body['enabled_apis']) && !body['enabled_apis'].includes('metadata'))
    add('metadata-api', 'error', 'the metadata API of the service is disabled', 'add metadata to SVC_GRAPHQL_ENABLED_APIS');
  return options;
}
