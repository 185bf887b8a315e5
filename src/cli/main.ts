#!/usr/bin/env node
import { runCommand } from './run-command.ts';

try {
  await runCommand(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
