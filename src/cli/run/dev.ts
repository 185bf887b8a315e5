/** `svc dev`: a service that follows the files of a project and its databases. */
import { loadConfig } from '../../config/load-config.ts';
import { adminSecretsOf } from '../../config/access.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { printProblem, reasonOf } from '../../project/failure.ts';
import { listInconsistencies, problemsOf } from '../../project/project-metadata.ts';
import { openProject, type Project } from '../../project/project.ts';
import { serverClient } from '../../project/server-client.ts';
import { OWN_PATHS } from '../deploy-at-start.ts';
import { startService } from '../start-service.ts';
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { deploy } from './deploy.ts';
import { followCatalogs } from './follow-catalogs.ts';
import { followFiles } from './follow-files.ts';
import { createDevSync } from './dev-sync.ts';
import { runOptions } from './run-options.ts';

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
  const port = textOption(context, 'port');
  const argv = ['serve', ...(port === undefined ? [] : ['--server-port', port])];
  const config = loadConfig({ argv, environment: first.environment });
  const running = await startService({ ...config, sampleData: false, project: null, metadataDir: null, migrationsDir: null });
  const [adminSecret = null] = adminSecretsOf(config);
  const server = serverClient({ ...first.settings, endpoint: running.url, adminSecret, paths: OWN_PATHS });
  const kinds = await context.kinds();
  const sync = createDevSync(server, kinds, context.progress);
  const deployAll = async (project: Project): Promise<string> => {
    const outcome = await deploy({
      project,
      server,
      kinds,
      options: { ...runOptions({ ...context, options: {} }), report: context.progress },
      withSeeds: flagOption(context, 'withSeeds'),
      once: true,
      allowInconsistent: false,
      allowChanged: false,
      progress: context.progress,
      warn: context.progress,
      apply: () => sync.apply(project),
    });
    return [outcome.text ?? '', ...(outcome.problems ?? []).map(printProblem)].join('\n').trim();
  };
  // Reactions to changes run one after another.
  let last: Promise<void> = Promise.resolve();
  const enqueue = (run: () => Promise<string>): Promise<void> => {
    const attempt = async (): Promise<void> => {
      try {
        const report = await run();
        if (report !== '') context.progress(report);
      } catch (thrown) {
        // The service continues with its previous metadata.
        context.progress(reasonOf(thrown));
      }
    };
    last = last.then(attempt);
    return last;
  };
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
    context.progress,
  );
  const attempt = (update: (project: Project) => Promise<string>): Promise<void> =>
    enqueue(async () => {
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
    if (isQueued) return;
    isQueued = true;
    void enqueue(() => {
      isQueued = false;
      return sync.run(reopened());
    });
  });
  const withMigrations = flagOption(context, 'migrate');
  const metadata = [first.metadata.file ?? first.metadata.folder, ...(first.metadata.overlays ?? [])];
  if (withMigrations) followFiles(first.files, [...metadata, first.migrationsFolder], () => attempt(deployAll), context.progress);
  else {
    followFiles(first.files, metadata, () => attempt((project) => sync.run(project)), context.progress);
    const remind = async (): Promise<void> =>
      context.progress(
        `migrations have changed: run them with svc migrate apply --endpoint ${running.url}, or start svc dev with --migrate`,
      );
    followFiles(first.files, [first.migrationsFolder], remind, context.progress);
  }
  await deployed;
  return { running: true, text: `${running.url} follows ${first.root} and its databases; stop it with Ctrl-C` };
}
