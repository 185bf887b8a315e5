#!/usr/bin/env node
/** Entry point. Loads only what the command needs, so that help prints at once. */
import { describeFailure } from '../errors/describe-failure.ts';
import { isCommandListRequest, isServiceCommand, unknownCommandMessage, withHelpFlag } from './service-command.ts';

const USAGE = 2;

/** Resolves when a pipe has taken everything that was written, or its reader is gone. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });
}

function ignoreReaderGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

const argv = withHelpFlag(process.argv.slice(2));
try {
  const problem = unknownCommandMessage(argv);
  if (isCommandListRequest(argv)) {
    const { commandsHelp } = await import('./commands-help.ts');
    process.stdout.write(commandsHelp());
  } else if (problem !== undefined) {
    process.stderr.write(`error: ${problem}\n`);
    process.exitCode = USAGE;
  } else if (isServiceCommand(argv)) {
    const { runCommand } = await import('./run-command.ts');
    await runCommand(argv);
  } else {
    // `svc … | head` is not a failure.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreReaderGone);
    const { runVerb } = await import('./program.ts');
    // Exits even if the command leaves something open, such as a watcher, but not before its output has been read.
    if (!(await runVerb(argv))) {
      await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
      process.exit();
    }
  }
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
}
