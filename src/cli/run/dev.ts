/** `svc dev`: a service that follows the files of a project and its databases. */
import { join } from 'node:path';
import { loadConfig } from '../../config/load-config.ts';
import { adminSecretsOf } from '../../config/access.ts';
import { COMMAND_LINE_CLIENT } from '../../config/command-line-client.ts';
import { VARIABLE_PREFIX } from '../../config/option.ts';
import type { Observation } from '../../observability/observation.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { EXIT, printProblem } from '../../project/failure.ts';
import { listInconsistencies, problemsOf } from '../../project/project-metadata.ts';
import { CONFIG_FILE, dataFolderOf, LOOPBACK, openProject, type Project } from '../../project/project.ts';
import { type ServerClient, serverClient } from '../../project/server-client.ts';
import { isEmptySql, migratedSources, readMigrations, shownFile } from '../../migrations/migration-files.ts';
import { type MigrationOptions, readEntries } from '../../migrations/run-migrations.ts';
import { describeDrift, schemaDrift } from '../../migrations/schema-drift.ts';
import { chosenSources, serverSources } from '../../migrations/sources.ts';
import type { Backend } from '../../backend/backend.ts';
import type { Kinds } from '../../metadata/kinds.ts';
import { ownEndpoint } from '../deploy-at-start.ts';
import { type RunningService, startService } from '../start-service.ts';
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { changeQueue, type ReactionKind } from './change-queue.ts';
import { deploy } from './deploy.ts';
import { followCatalogs } from './follow-catalogs.ts';
import { followFiles } from './follow-files.ts';
import { createSqlRecorder, type SqlRecorder, type SqlRecorderOptions } from './dev-migrations.ts';
import { createDevSync, type DevSync } from './dev-sync.ts';
import { knownMigrations } from './migrate.ts';
import { runOptions } from './run-options.ts';

/** Defaults that differ from those of `svc serve`. */
const DEVELOPMENT = { SVC_GRAPHQL_ENABLE_CONSOLE: 'true', SVC_GRAPHQL_LOG_FORMAT: 'text' };

/** Interval of attempts to deploy a project that could not be deployed at the start. */
const RETRY_MS = 5000;

/** `svc dev` */
export async function runDev(context: CommandContext): Promise<CommandOutcome> {
  const first = await context.project();
  // Metadata may refer to variables of the project's .env file.
  Object.assign(process.env, first.environment);
  const kinds = await context.kinds();
  const port = textOption(context, 'port') ?? localPort(first);
  const argv = ['serve', ...(port === undefined ? [] : ['--server-port', port])];
  const config = loadConfig({
    argv,
    environment: { ...DEVELOPMENT, ...dataFolderOf(first.root), SVC_GRAPHQL_SERVER_HOST: loopbackOf(first), ...first.environment },
  });
  const deployment = new RepeatedDeployment(context, kinds);
  let recorder: SqlRecorder | undefined;
  const running = await startService(
    { ...config, sampleData: false, project: null, metadataDir: null, migrationsDir: null },
    {
      isDeployed: () => deployment.isDone,
      onSql: (run) => recorder?.record(run),
      filter(observation) {
        if (isOwnWork(observation)) return false;
        context.beforeOutput();
        return true;
      },
    },
  );
  const [adminSecret = null] = adminSecretsOf(config);
  const server = serverClient({ ...first.settings, ...ownEndpoint(running.url, adminSecret) });
  const follower = followProject({ context, first, kinds, server, running, deployment, isRecording: () => recorder?.isBusy ?? false });
  if (!flagOption(context, 'noMigrations'))
    recorder = createSqlRecorder({ ...follower, server, kinds, ask: context.ask, options: deployment.options });
  const { reportUnwritten } = recorder ?? {};
  if (reportUnwritten !== undefined) for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, reportUnwritten);
  await follower.deployed;
  if (!isEndpoint(first, running.url))
    context.progress(`other commands send to ${first.settings.endpoint}: add --endpoint ${running.url}, or set endpoint in ${CONFIG_FILE}`);
  const shown = config.enableConsole ? `\nconsole: ${running.url}/console` : '';
  return { running: true, text: `${running.url} follows ${first.root} and its databases; stop it with Ctrl-C${shown}` };
}

/** Returns whether an event is part of the work of the command line, which reports it itself. */
function isOwnWork(observation: Observation): boolean {
  if (observation.kind === 'audit') return observation.error === null;
  return observation.kind === 'http' && observation.clientName === COMMAND_LINE_CLIENT;
}

/** Deployment that is repeated until it succeeds: by edits of the files, and by a timer. */
class RepeatedDeployment {
  readonly options: MigrationOptions;
  readonly #context: CommandContext;
  readonly #kinds: Kinds<Backend>;
  /** Messages since the last edit. */
  readonly #reported = new Set<string>();
  #isDone = false;

  constructor(context: CommandContext, kinds: Kinds<Backend>) {
    this.#context = context;
    this.#kinds = kinds;
    this.options = { ...runOptions({ ...context, options: {} }), report: (message) => this.progress(message) };
  }

  /** True once a deployment has succeeded. Until then, the service answers only the command line. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Reports a message. Until a deployment has succeeded, each message is reported once after each edit. */
  progress(message: string): void {
    if (!this.#isDone && this.#reported.has(message)) return;
    if (!this.#isDone) this.#reported.add(message);
    this.#context.progress(message);
  }

  /** Called after an edit of the files. */
  edited(): void {
    this.#reported.clear();
  }

  /** @returns a report */
  async run(project: Project, server: ServerClient, sync: DevSync): Promise<string> {
    const unwritten = await unwrittenMigration(project, server, this.#kinds);
    if (unwritten !== undefined) {
      this.progress(`${unwritten} is empty: migrations are run once it has SQL, or a comment if it is to run nothing`);
      return this.#isDone ? sync.run(project) : '';
    }
    const progress = (message: string): void => this.progress(message);
    const outcome = await deploy({
      project,
      server,
      kinds: this.#kinds,
      options: this.options,
      withSeeds: flagOption(this.#context, 'withSeeds'),
      once: true,
      allowInconsistent: false,
      allowChanged: false,
      progress,
      warn: progress,
      apply: () => sync.apply(project),
    });
    this.#isDone ||= (outcome.exit ?? EXIT.done) === EXIT.done;
    return [outcome.text ?? '', ...(outcome.problems ?? []).map(printProblem)].join('\n').trim();
  }
}

interface Followed {
  readonly context: CommandContext;
  /** The project at the start. */
  readonly first: Project;
  readonly kinds: Kinds<Backend>;
  readonly server: ServerClient;
  readonly running: RunningService;
  readonly deployment: RepeatedDeployment;
  /** True while SQL that was run is being written as a migration. */
  readonly isRecording: () => boolean;
}

interface Follower extends Pick<SqlRecorderOptions, 'project' | 'enqueue' | 'progress'> {
  /** Resolves after the first attempt to deploy the project. */
  readonly deployed: Promise<void>;
}

/** Reaction to an edit of files. */
type OnEdit = (kind: ReactionKind, update: (project: Project) => Promise<string>) => () => Promise<void>;

/** Deploys the project, and follows its files, the metadata of the service and the catalogs of its databases. */
function followProject(followed: Followed): Follower {
  const { context, first, kinds, server, running, deployment, isRecording } = followed;
  const progress = (message: string): void => deployment.progress(message);
  /** Opens the project again after its files have changed. */
  const project = (): Project =>
    openProject(
      context.cwd,
      { project: first.root, env: textOption(context, 'env'), envfile: textOption(context, 'envfile') },
      context.environment,
    );
  const sync = createDevSync(server, kinds, progress);
  const enqueue = changeQueue(progress);
  // Files that were rejected may fit the changed schema of a database.
  const applyRejected = async (): Promise<void> => {
    if (deployment.isDone) await enqueue('metadata', () => sync.run(project()));
  };
  const migrated = new Set(kinds.all.flatMap(({ kind, migrations }) => (migrations === undefined ? [] : [kind])));
  const catalogs = followCatalogs(
    () => running.readCatalogs(migrated),
    async (sources) => {
      await enqueue('catalogs', () => reloaded(server, project(), sources));
      await applyRejected();
    },
    progress,
  );
  const drift = driftReporter(kinds, isRecording);
  /** Queues an update. Until the project is deployed, each attempt deploys it instead. */
  const attempt = (kind: ReactionKind, update: (project: Project) => Promise<string>, isEdit = false): Promise<void> =>
    enqueue(deployment.isDone ? kind : 'metadata', async () => {
      if (isEdit) deployment.edited();
      try {
        const report = await (deployment.isDone ? update(project()) : deployment.run(project(), server, sync));
        return deployment.isDone ? joined(report, drift(project())) : report;
      } finally {
        // Queued behind this attempt.
        if ((await catalogs.settle()).length > 0) void applyRejected();
      }
    });
  // Edits during the deployment are queued behind it.
  const deployed = attempt('metadata', async () => '').then(() => {
    if (!deployment.isDone) repeat(() => attempt('metadata', async () => ''), deployment);
  });
  let isQueued = false;
  // Changes made in the service, such as in its console. Changes that come from the files are already known to the sync.
  running.onMetadata(() => {
    if (isQueued || !deployment.isDone) return;
    isQueued = true;
    void enqueue('metadata', async () => {
      isQueued = false;
      return joined(await sync.run(project()), drift(project()));
    });
  });
  followEdits(followed, sync, (kind, update) => () => attempt(kind, update, true));
  return { project, enqueue, progress, deployed };
}

function followEdits({ context, first, kinds, server, running, deployment }: Followed, sync: DevSync, onEdit: OnEdit): void {
  const progress = (message: string): void => deployment.progress(message);
  const metadata = [first.metadata.file ?? first.metadata.folder, ...(first.metadata.overlays ?? [])];
  if (flagOption(context, 'migrate')) {
    const deployAll = onEdit('metadata', (edited) => deployment.run(edited, server, sync));
    followFiles(first.files, [...metadata, first.migrationsFolder], deployAll, progress);
    return;
  }
  const apply = `svc migrate apply${isEndpoint(first, running.url) ? '' : ` --endpoint ${running.url}`}`;
  const applyMetadata = onEdit('metadata', (edited) => sync.run(edited));
  const remind = onEdit('migrations', (edited) => pendingReminder(edited, server, kinds, apply));
  followFiles(first.files, metadata, applyMetadata, progress);
  followFiles(first.files, [first.migrationsFolder], remind, progress);
}

function joined(...reports: readonly string[]): string {
  return reports.filter((report) => report !== '').join('\n');
}

/** Returns a function that reports the schema drift of a project, each table once until it is in a migration. */
function driftReporter(kinds: Kinds<Backend>, isRecording: () => boolean): (project: Project) => string {
  let known: ReadonlySet<string> = new Set();
  return (project) => {
    if (isRecording()) return '';
    const { document } = readMetadata(project.metadata);
    const found = schemaDrift({ ...project, document, kinds }).map(describeDrift);
    const news = found.filter((drift) => !known.has(drift));
    known = new Set(found);
    return news.join('\n');
  };
}

/** Repeats a deployment that failed: the cause may lie outside of the files, such as a database that is still starting. */
function repeat(attempt: () => Promise<void>, deployment: RepeatedDeployment): void {
  deployment.progress('the service answers 503 until the project is deployed, which is tried again every few seconds and after each edit');
  const next = async (): Promise<void> => {
    await attempt();
    if (!deployment.isDone) setTimeout(() => void next(), RETRY_MS);
  };
  setTimeout(() => void next(), RETRY_MS);
}

/** Reads sources again whose databases have changed. @returns a report */
async function reloaded(server: ServerClient, project: Project, sources: readonly string[]): Promise<string> {
  await server.metadata('reload_metadata', { reload_sources: sources, reload_remote_schemas: false });
  const inconsistencies = await listInconsistencies(server, readMetadata(project.metadata));
  return [`the schema of ${sources.join(', ')} has changed and was read again`, ...problemsOf(inconsistencies).map(printProblem)].join(
    '\n',
  );
}

/** Asks for pending migrations to be run by the command; the empty string if there are none. */
async function pendingReminder(project: Project, server: ServerClient, kinds: Kinds<Backend>, apply: string): Promise<string> {
  const pending: string[] = [];
  for (const source of await chosenSources(project, server, kinds, project.migrationsFolder, undefined)) {
    for (const { status, version, name } of await knownMigrations(project, server, source))
      if (status === 'pending' || status === 'changed') pending.push(`${version}_${name} is ${status}`);
  }
  if (pending.length === 0) return '';
  return `migrations have changed: ${pending.join(', ')}. Run them with ${apply}, or start svc dev with --migrate`;
}

/** File of the newest migration of a source if it is pending and nothing is written in it yet, as `svc migrate create` leaves it. */
async function unwrittenMigration(project: Project, server: ServerClient, kinds: Kinds<Backend>): Promise<string | undefined> {
  for (const name of migratedSources(project.migrationsFolder)) {
    const newest = readMigrations(project.files, join(project.migrationsFolder, name)).at(-1);
    if (newest === undefined || newest.up === null || !isEmptySql(newest.up)) continue;
    // Read only for an empty file.
    const source = (await serverSources(server, kinds)).find((each) => each.name === name);
    const applied = source?.backend?.migrations === undefined ? [] : await readEntries(server, source);
    if (!applied.some(({ version }) => version === newest.version)) return shownFile(newest, 'up');
  }
  return undefined;
}

/** Returns whether the other commands of the project send to this service. */
function isEndpoint({ settings }: Project, url: string): boolean {
  const { hostname, port } = new URL(settings.endpoint);
  return LOOPBACK.test(hostname) && port === new URL(url).port;
}

/** Address of this machine to listen on: that of the endpoint, if it is a local one. */
function loopbackOf({ settings }: Project): string {
  return new URL(settings.endpoint).hostname === '[::1]' ? '::1' : '127.0.0.1';
}

/** Port of a local endpoint, to which the other commands of the project send; `undefined` if the environment sets the port. */
function localPort({ environment, settings }: Project): string | undefined {
  if (environment[`${VARIABLE_PREFIX}SERVER_PORT`] !== undefined) return undefined;
  const { hostname, port } = new URL(settings.endpoint);
  return LOOPBACK.test(hostname) && port !== '' ? port : undefined;
}
