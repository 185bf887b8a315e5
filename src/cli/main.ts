#!/usr/bin/env node
/** Loads no more than the command needs: help has to be there at once. */
import { describeFailure } from '../errors/describe-failure.ts';
import { asksForCommands, complaintOf, isServiceCommand, withHelpBehind } from './service-command.ts';

const USAGE = 2;

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
    const { runVerb } = await import('./program.ts');
    // What an ended command leaves open, such as a watcher, is not waited for.
    if (!(await runVerb(argv))) process.exit();
  }
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
}
