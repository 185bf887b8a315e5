/** `svc dev`: a service that follows the files of a project and its databases. */
import { join } from 'node:path';
import { loadConfig } from '../../config/load-config.ts';
import { adminSecretsOf } from '../../config/access.ts';
import { VARIABLE_PREFIX } from '../../config/option.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { EXIT, printProblem, reasonOf } from '../../project/failure.ts';
import { listInconsistencies, problemsOf } from '../../project/project-metadata.ts';
import { CONFIG_FILE, LOOPBACK, openProject, type Project } from '../../project/project.ts';
import { type ServerClient, serverClient } from '../../project/server-client.ts';
import { isEmptySql, migratedSources, readMigrations, shownFile } from '../../migrations/migration-files.ts';
import { readEntries } from '../../migrations/run-migrations.ts';
import { chosenSources, serverSources } from '../../migrations/sources.ts';
import type { Backend } from '../../backend/backend.ts';
import type { Kinds } from '../../metadata/kinds.ts';
import type { SqlRun } from '../../metadata-api/operation.ts';
import { ownEndpoint } from '../deploy-at-start.ts';
import { startService } from '../start-service.ts';
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { deploy } from './deploy.ts';
import { followCatalogs } from './follow-catalogs.ts';
import { followFiles } from './follow-files.ts';
import { createSqlRecorder } from './dev-migrations.ts';
import { createDevSync } from './dev-sync.ts';
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
  /** Opens the project again after its files have changed. */
  const reopened = (): Project =>
    openProject(
      context.cwd,
      { project: first.root, env: textOption(context, 'env'), envfile: textOption(context, 'envfile') },
      context.environment,
    );
  const port = textOption(context, 'port') ?? localPort(first);
  const argv = ['serve', ...(port === undefined ? [] : ['--server-port', port])];
  const config = loadConfig({ argv, environment: { ...DEVELOPMENT, ...first.environment } });
  // Until a deployment has succeeded, edits of the files repeat it, and the service answers only the command line.
  let isDeployed = false;
  const reported = new Set<string>();
  /** Attempts to deploy the project repeat their messages, which are shown once after each edit. */
  const progress = (message: string): void => {
    if (!isDeployed && reported.has(message)) return;
    if (!isDeployed) reported.add(message);
    context.progress(message);
  };
  let onSql: (run: SqlRun) => void = () => undefined;
  const running = await startService(
    { ...config, sampleData: false, project: null, metadataDir: null, migrationsDir: null },
    { isDeployed: () => isDeployed, onSql: (run) => onSql(run) },
  );
  const [adminSecret = null] = adminSecretsOf(config);
  const server = serverClient({ ...first.settings, ...ownEndpoint(running.url, adminSecret) });
  const kinds = await context.kinds();
  const options = { ...runOptions({ ...context, options: {} }), report: progress };
  const sync = createDevSync(server, kinds, progress);
  const deployAll = async (project: Project): Promise<string> => {
    const unwritten = await unwrittenMigration(project, server, kinds);
    if (unwritten !== undefined) {
      progress(`${unwritten} is empty: migrations are run once it has SQL, or a comment if it is to run nothing`);
      return isDeployed ? sync.run(project) : '';
    }
    const outcome = await deploy({
      project,
      server,
      kinds,
      options,
      withSeeds: flagOption(context, 'withSeeds'),
      once: true,
      allowInconsistent: false,
      allowChanged: false,
      progress,
      warn: progress,
      apply: () => sync.apply(project),
    });
    isDeployed ||= (outcome.exit ?? EXIT.done) === EXIT.done;
    return [outcome.text ?? '', ...(outcome.problems ?? []).map(printProblem)].join('\n').trim();
  };
  const enqueue = changeQueue(progress);
  const reload = async (sources: readonly string[]): Promise<string> => {
    await server.metadata('reload_metadata', { reload_sources: sources, reload_remote_schemas: false });
    const read = readMetadata(reopened().metadata);
    const inconsistencies = await listInconsistencies(server, read);
    return [`the schema of ${sources.join(', ')} has changed and was read again`, ...problemsOf(inconsistencies).map(printProblem)].join(
      '\n',
    );
  };
  const migrated = new Set(kinds.all.flatMap(({ kind, migrations }) => (migrations === undefined ? [] : [kind])));
  const catalogs = followCatalogs(
    () => running.readCatalogs(migrated),
    (sources) => enqueue(() => reload(sources)),
    progress,
  );
  const attempt = (update: (project: Project) => Promise<string>, isRepeated = false): Promise<void> =>
    enqueue(async () => {
      if (!isRepeated) reported.clear();
      try {
        return await update(reopened());
      } finally {
        await catalogs.settle();
      }
    });
  // Edits during the deployment are queued behind it.
  const deployed = attempt(deployAll);
  let isQueued = false;
  // Changes made in the service, such as in its console. Changes that come from the files are already known to the sync.
  running.onMetadata(() => {
    if (isQueued || !isDeployed) return;
    isQueued = true;
    void enqueue(() => {
      isQueued = false;
      return sync.run(reopened());
    });
  });
  if (!flagOption(context, 'noMigrations'))
    onSql = createSqlRecorder({ server, kinds, options, project: reopened, ask: context.ask, enqueue, progress });
  const withMigrations = flagOption(context, 'migrate');
  const metadata = [first.metadata.file ?? first.metadata.folder, ...(first.metadata.overlays ?? [])];
  if (withMigrations) followFiles(first.files, [...metadata, first.migrationsFolder], () => attempt(deployAll), progress);
  else {
    const update = (project: Project): Promise<string> => (isDeployed ? sync.run(project) : deployAll(project));
    followFiles(first.files, metadata, () => attempt(update), progress);
    const apply = `svc migrate apply${isEndpoint(first, running.url) ? '' : ` --endpoint ${running.url}`}`;
    const remind = async (project: Project): Promise<string> =>
      isDeployed ? pendingReminder(project, server, kinds, apply) : deployAll(project);
    followFiles(first.files, [first.migrationsFolder], () => attempt(remind), progress);
  }
  await deployed;
  if (!isDeployed) {
    progress('the service answers 503 until the project is deployed, which is tried again every few seconds and after each edit');
    // The cause may lie outside of the files, such as a database that is still starting.
    const retry = async (project: Project): Promise<string> => (isDeployed ? '' : deployAll(project));
    let isRetrying = false;
    const timer = setInterval(() => {
      if (isDeployed) clearInterval(timer);
      if (isDeployed || isRetrying) return;
      isRetrying = true;
      void attempt(retry, true).finally(() => {
        isRetrying = false;
      });
    }, RETRY_MS);
  }
  if (!isEndpoint(first, running.url))
    progress(`other commands send to ${first.settings.endpoint}: add --endpoint ${running.url}, or set endpoint in ${CONFIG_FILE}`);
  const shown = config.enableConsole ? `\nconsole: ${running.url}/console` : '';
  return { running: true, text: `${running.url} follows ${first.root} and its databases; stop it with Ctrl-C${shown}` };
}

/** Returns a function that runs reactions to changes one after another and reports their results. */
function changeQueue(progress: (message: string) => void): (run: () => Promise<string>) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (run) => {
    const attempt = async (): Promise<void> => {
      try {
        const report = await run();
        if (report !== '') progress(report);
      } catch (thrown) {
        // The service continues with its previous metadata.
        progress(reasonOf(thrown));
      }
    };
    last = last.then(attempt);
    return last;
  };
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

/** Port of a local endpoint, to which the other commands of the project send; `undefined` if the environment sets the port. */
function localPort({ environment, settings }: Project): string | undefined {
  if (environment[`${VARIABLE_PREFIX}SERVER_PORT`] !== undefined) return undefined;
  const { hostname, port } = new URL(settings.endpoint);
  return LOOPBACK.test(hostname) && port !== '' ? port : undefined;
}
