/** `svc dev`: a service for the project of the working directory, which follows its files. */
import { existsSync, watch } from 'node:fs';
import { loadConfig } from '../../config/load-config.ts';
import { adminSecretsOf } from '../../config/access.ts';
import { printProblem, ProjectFailure } from '../../project/failure.ts';
import { openProject } from '../../project/project.ts';
import { serverClient } from '../../project/server-client.ts';
import { startService } from '../start-service.ts';
import { type Call, flagOption, type Outcome, textOption } from '../call.ts';
import { deploy } from './deploy.ts';
import { runOptions } from './run-options.ts';

const PAUSE_MS = 200;

export async function runDev(call: Call): Promise<Outcome> {
  const first = await call.project();
  // Metadata refers to variables by name, and those may come from the file as well.
  Object.assign(process.env, first.environment);
  const port = textOption(call, 'port');
  const argv = ['serve', ...(port === undefined ? [] : ['--server-port', port])];
  const config = loadConfig({ argv, environment: first.environment });
  const running = await startService({ ...config, sampleData: false, project: null });
  const [adminSecret = null] = adminSecretsOf(config);
  const server = serverClient({ ...first.settings, endpoint: running.url, adminSecret });
  const kinds = await call.kinds();
  const attempt = async (): Promise<void> => {
    try {
      // Read anew: files have changed.
      const project = openProject(call.cwd, { project: first.root }, call.environment);
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
      call.tell([outcome.text ?? '', ...(outcome.problems ?? []).map(printProblem)].join('\n').trim());
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure)) throw thrown;
      call.tell(thrown.message);
    }
  };
  await attempt();
  let queue: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      queue = queue.then(attempt);
    }, PAUSE_MS);
  };
  for (const folder of [first.metadata.file ?? first.metadata.folder, ...(flagOption(call, 'migrate') ? [first.migrationsFolder] : [])])
    if (existsSync(folder)) watch(folder, { recursive: true }, changed);
  return { running: true, text: `${running.url} follows ${first.root}; Ctrl-C ends it` };
}
