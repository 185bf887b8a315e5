/** `svc dev`: a service for the project of the working directory, which follows its files. */
import { loadConfig } from '../../config/load-config.ts';
import { adminSecretsOf } from '../../config/access.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { printProblem, ProjectFailure, reasonOf } from '../../project/failure.ts';
import { applyMetadata, problemOf } from '../../project/project-metadata.ts';
import { openProject, type Project } from '../../project/project.ts';
import { serverClient } from '../../project/server-client.ts';
import { OWN_PATHS } from '../deploy-at-start.ts';
import { startService } from '../start-service.ts';
import { type Call, flagOption, type Outcome, textOption } from '../call.ts';
import { deploy } from './deploy.ts';
import { followFiles } from './follow-files.ts';
import { runOptions } from './run-options.ts';

/** `svc dev` */
export async function runDev(call: Call): Promise<Outcome> {
  const first = await call.project();
  // Metadata refers to variables by name, and those may come from the file as well.
  Object.assign(process.env, first.environment);
  const port = textOption(call, 'port');
  const argv = ['serve', ...(port === undefined ? [] : ['--server-port', port])];
  const config = loadConfig({ argv, environment: first.environment });
  const running = await startService({ ...config, sampleData: false, project: null, metadataDir: null, migrationsDir: null });
  const [adminSecret = null] = adminSecretsOf(config);
  const server = serverClient({ ...first.settings, endpoint: running.url, adminSecret, paths: OWN_PATHS });
  const kinds = await call.kinds();
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
    });
    return [outcome.text ?? '', ...(outcome.problems ?? []).map(printProblem)].join('\n').trim();
  };
  const applyOnly = async (project: Project): Promise<string> => {
    const read = readMetadata(project.metadata);
    const problems = shapeProblems(read, kinds);
    if (problems.length > 0) throw new ProjectFailure(problems);
    const { sent, changes, inconsistencies } = await applyMetadata(read, server, kinds, { allowInconsistent: false });
    return [
      `metadata: ${sent ? `${changes.length} changes` : 'the service has it already'}`,
      ...inconsistencies.map((each) => printProblem(problemOf(each))),
    ].join('\n');
  };
  const attempt = async (bringUp: (project: Project) => Promise<string>): Promise<void> => {
    try {
      // Read anew: files have changed.
      call.tell(await bringUp(openProject(call.cwd, { project: first.root }, call.environment)));
    } catch (thrown) {
      // Whatever it is: the service goes on with what it had.
      call.tell(reasonOf(thrown));
    }
  };
  await attempt(deployAll);
  const withMigrations = flagOption(call, 'migrate');
  const metadata = [first.metadata.file ?? first.metadata.folder, ...(first.metadata.overlays ?? [])];
  if (withMigrations) followFiles(first.files, [...metadata, first.migrationsFolder], () => attempt(deployAll), call.tell);
  else {
    followFiles(first.files, metadata, () => attempt(applyOnly), call.tell);
    const remind = async (): Promise<void> =>
      call.tell(
        `migrations have changed: svc migrate apply --endpoint ${running.url} runs what is pending, svc dev --migrate does so by itself`,
      );
    followFiles(first.files, [first.migrationsFolder], remind, call.tell);
  }
  return { running: true, text: `${running.url} follows ${first.root}; Ctrl-C ends it` };
}
