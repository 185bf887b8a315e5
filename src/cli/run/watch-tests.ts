/** `svc permissions test --watch`: runs the tests again after each change of the files. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sourcesOf } from '../../migrations/sources.ts';
import { migratedSources } from '../../migrations/migration-files.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { EXIT, printProblem, ProjectFailure, reasonOf } from '../../project/failure.ts';
import { exportFrom, isApplied } from '../../project/project-metadata.ts';
import { cancelledBy } from '../../project/server-client.ts';
import type { CommandContext, CommandOutcome } from '../context.ts';
import { printableMessage } from '../printable.ts';
import { followFiles } from './follow-files.ts';
import type { Interruption } from './interruption.ts';
import { knownMigrations } from './migrate.ts';

/** Maximum time for `svc dev` or a deployment to apply changed metadata and migrations. */
const DEPLOY_MS = 5_000;
const POLL_MS = 200;
/** Interval after that time. */
const LATE_POLL_MS = 2_000;

/**
 * Runs the tests now and after each change, until the process is interrupted.
 * @param paths files or folders of tests
 */
export async function watchTests(
  context: CommandContext,
  paths: readonly string[],
  interruption: Interruption,
  run: () => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const { files, metadata, migrationsFolder } = await context.project();
  const isStopped = (): boolean => interruption.reason !== undefined;
  // Runs follow one another.
  let last: Promise<void> = Promise.resolve();
  const enqueue = (prepare: () => Promise<void>): Promise<void> => {
    last = last.then(async () => {
      try {
        if (!isStopped()) await prepare();
        if (!isStopped()) report(context, await run());
      } catch (thrown) {
        const messages = thrown instanceof ProjectFailure ? thrown.problems.map(printProblem) : [reasonOf(thrown)];
        for (const message of messages) printError(context, message);
      }
      if (!isStopped()) context.progress('waiting for changes of tests, metadata and migrations; stop with Ctrl-C');
    });
    return last;
  };
  const awaitDeployment = deploymentAwaiter(context, interruption, () => enqueue(async () => undefined));
  const deployed = [metadata.file ?? metadata.folder, ...(metadata.overlays ?? []), migrationsFolder];
  // Both read the state of the files before the first run, so that no change is lost.
  const following = [
    followFiles(files, paths, () => enqueue(async () => undefined), context.progress),
    followFiles(files, deployed, () => enqueue(awaitDeployment), context.progress),
  ];
  void enqueue(async () => undefined);
  await interruption.arrival;
  await Promise.all([last, ...following.map((each) => each.stop())]);
  return { exit: EXIT.done };
}

function report(context: CommandContext, { text, problems = [] }: CommandOutcome): void {
  if (text !== undefined) context.print(text);
  for (const problem of problems) printError(context, printProblem(problem));
}

const printError = (context: CommandContext, message: string): void => context.print(`error: ${printableMessage(message)}`);

/**
 * Returns a function that delays a run until changed files are deployed, such as by `svc dev`. If that takes long, the tests run before and
 * after it.
 */
function deploymentAwaiter(context: CommandContext, interruption: Interruption, runAgain: () => Promise<void>): () => Promise<void> {
  let changes = 0;
  return async () => {
    changes += 1;
    const change = changes;
    const isCurrent = (): boolean => interruption.reason === undefined && change === changes;
    const end = performance.now() + DEPLOY_MS;
    while (!(await isDeployed(context, interruption.forTests))) {
      if (!isCurrent()) return;
      if (performance.now() > end) {
        context.progress(
          'the service does not have the metadata and migrations of the files: run svc deploy, or let svc dev --migrate follow the files. The tests run now, and again once it has them',
        );
        void runLater();
        return;
      }
      await sleep(POLL_MS);
    }
    async function runLater(): Promise<void> {
      while (isCurrent()) {
        await sleep(LATE_POLL_MS);
        // Invalid files are reported after their next change, an unreachable service by the next run.
        if (isCurrent() && (await isDeployed(context, interruption.forTests).catch(() => false))) return runAgain();
      }
    }
  };
}

/** @throws ProjectFailure if the files are invalid or the service cannot be reached */
async function isDeployed(context: CommandContext, signal: AbortSignal): Promise<boolean> {
  const [project, kinds] = [await context.project(), await context.kinds()];
  const server = cancelledBy(signal, await context.server());
  const { metadata } = await exportFrom(server);
  if (!isApplied(readMetadata(project.metadata).document, metadata, kinds)) return false;
  const names = migratedSources(project.migrationsFolder);
  for (const source of sourcesOf(metadata, kinds).filter(({ name }) => names.includes(name)))
    if ((await knownMigrations(project, server, source)).some(({ status }) => status === 'pending')) return false;
  return true;
}
