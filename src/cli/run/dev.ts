/** `svc dev`: a service for the project of the working directory, which follows its files and its databases. */
import { loadConfig } from '../../config/load-config.ts';
import { adminSecretsOf } from '../../config/access.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { printProblem, reasonOf } from '../../project/failure.ts';
import { listInconsistencies, problemsOf } from '../../project/project-metadata.ts';
import { openProject, type Project } from '../../project/project.ts';
import { serverClient } from '../../project/server-client.ts';
import { OWN_PATHS } from '../deploy-at-start.ts';
import { startService } from '../start-service.ts';
import { type Call, flagOption, type Outcome, textOption } from '../call.ts';
import { deploy } from './deploy.ts';
import { followCatalogs } from './follow-catalogs.ts';
import { followFiles } from './follow-files.ts';
import { keepInStep } from './keep-in-step.ts';
import { runOptions } from './run-options.ts';

/** `svc dev` */
export async function runDev(call: Call): Promise<Outcome> {
  const first = await call.project();
  // Metadata refers to variables by name, and those may come from the file as well.
  Object.assign(process.env, first.environment);
  /** Read anew: files have changed. */
  const reopened = (): Project =>
    openProject(call.cwd, { project: first.root, env: textOption(call, 'env'), envfile: textOption(call, 'envfile') }, call.environment);
  const port = textOption(call, 'port');
  const argv = ['serve', ...(port === undefined ? [] : ['--server-port', port])];
  const config = loadConfig({ argv, environment: first.environment });
  const running = await startService({ ...config, sampleData: false, project: null, metadataDir: null, migrationsDir: null });
  const [adminSecret = null] = adminSecretsOf(config);
  const server = serverClient({ ...first.settings, endpoint: running.url, adminSecret, paths: OWN_PATHS });
  const kinds = await call.kinds();
  const inStep = keepInStep(server, kinds, call.tell);
  const deployAll = async (project: Project): Promise<string> => {
    const outcome = await deploy({
      project,
      server,
      kinds,
      options: { ...runOptions({ ...call, options: {} }), tell: call.tell },
      withSeeds: flagOption(call, 'withSeeds'),
      once: true,
      allowInconsistent: false,
      allowChanged: false,
      tell: call.tell,
      warn: call.tell,
      apply: () => inStep.apply(project),
    });
    return [outcome.text ?? '', ...(outcome.problems ?? []).map(printProblem)].join('\n').trim();
  };
  // One thing at a time, whatever has changed.
  let turn: Promise<void> = Promise.resolve();
  const inTurn = (run: () => Promise<string>): Promise<void> => {
    const attempt = async (): Promise<void> => {
      try {
        const told = await run();
        if (told !== '') call.tell(told);
      } catch (thrown) {
        // Whatever it is: the service goes on with what it had.
        call.tell(reasonOf(thrown));
      }
    };
    turn = turn.then(attempt);
    return turn;
  };
  const reload = async (sources: readonly string[]): Promise<string> => {
    await server.metadata('reload_metadata', { reload_sources: sources, reload_remote_schemas: false });
    const read = readMetadata(reopened().metadata);
    const inconsistencies = await listInconsistencies(server, read);
    return [`the schema of ${sources.join(', ')} has changed: read again`, ...problemsOf(inconsistencies).map(printProblem)].join('\n');
  };
  const migrated = new Set(kinds.all.flatMap(({ kind, migrations }) => (migrations === undefined ? [] : [kind])));
  const catalogs = followCatalogs(
    () => running.readCatalogs(migrated),
    (sources) => inTurn(() => reload(sources)),
    call.tell,
  );
  const attempt = (bringUp: (project: Project) => Promise<string>): Promise<void> =>
    inTurn(async () => {
      try {
        return await bringUp(reopened());
      } finally {
        await catalogs.settle();
      }
    });
  // What is edited while it deploys waits behind it, and is not missed.
  const deployed = attempt(deployAll);
  let isKeeping = false;
  // What is clicked in the console of the service; what the files have brought is known by then.
  running.onMetadata(() => {
    if (isKeeping) return;
    isKeeping = true;
    void inTurn(() => {
      isKeeping = false;
      return inStep.keep(reopened());
    });
  });
  const withMigrations = flagOption(call, 'migrate');
  const metadata = [first.metadata.file ?? first.metadata.folder, ...(first.metadata.overlays ?? [])];
  if (withMigrations) followFiles(first.files, [...metadata, first.migrationsFolder], () => attempt(deployAll), call.tell);
  else {
    followFiles(first.files, metadata, () => attempt((project) => inStep.keep(project)), call.tell);
    const remind = async (): Promise<void> =>
      call.tell(
        `migrations have changed: svc migrate apply --endpoint ${running.url} runs what is pending, svc dev --migrate does so by itself`,
      );
    followFiles(first.files, [first.migrationsFolder], remind, call.tell);
  }
  await deployed;
  return { running: true, text: `${running.url} follows ${first.root} and its databases; Ctrl-C ends it` };
}
