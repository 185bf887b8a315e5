#!/usr/bin/env node
/** Loads no more than the command needs: help has to be there at once. */
import { describeFailure } from '../errors/describe-failure.ts';
import { asksForCommands, complaintOf, isServiceCommand, withHelpBehind } from './service-command.ts';

const USAGE = 2;

/** Comes back when a pipe has taken all that was written, or nobody reads it any more. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });
}

function ignoreReaderGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

const argv = withHelpBehind(process.argv.slice(2));
try {
  const complaint = complaintOf(argv);
  if (asksForCommands(argv)) {
    const { commandsHelp } = await import('./commands-help.ts');
    process.stdout.write(commandsHelp());
  } else if (complaint !== undefined) {
    process.stderr.write(`error: ${complaint}\n`);
    process.exitCode = USAGE;
  } else if (isServiceCommand(argv)) {
    const { runCommand } = await import('./run-command.ts');
    await runCommand(argv);
  } else {
    // `svc … | head` is no failure.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreReaderGone);
    const { runVerb } = await import('./program.ts');
    // What an ended command leaves open, such as a watcher, is not waited for; but whoever reads what it prints is.
    if (!(await runVerb(argv))) {
      await Promise.all([written(process.stdout), written(process.stderr)]);
      process.exit();
    }
  }
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
}
