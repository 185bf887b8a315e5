#!/usr/bin/env node
import { describeFailure } from '../errors/describe-failure.ts';
import { runCommand } from './run-command.ts';

try {
  await runCommand(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
}
