import { readFileSync } from 'node:fs';
import { parseCommandLine } from '../config/command-line.ts';
import { helpText } from '../config/help.ts';
import { loadConfig, mergedEnvironment } from '../config/load-config.ts';
import type { Config } from '../config/options.ts';
import { unknownVariables } from '../config/unknown-variables.ts';
import { serviceVersion } from '../config/version.ts';
import { commandsHelp } from './commands-help.ts';
import type { RunningService } from './start-service.ts';

/**
 * Runs the command of the arguments. `serve` resolves when the service is listening, and ends the process on a signal; other commands
 * print their result and resolve with `null`.
 * @throws Error whose message is for the user
 */
export async function runCommand(argv: readonly string[]): Promise<RunningService | null> {
  const { command, confirmed, help } = parseCommandLine(argv);
  switch (command) {
    case 'help':
      process.stdout.write(help === 'commands' ? commandsHelp() : helpText(help));
      return null;
    case 'version':
      process.stdout.write(`svc ${serviceVersion()}\n`);
      return null;
    case 'serve':
      // Loaded on demand, so that help prints at once.
      return (await import('./start-service.ts')).startService(configOf(argv));
    case 'export':
      await (await import('./catalog-commands.ts')).exportCommand(withWarnings(configOf(argv)));
      return null;
    case 'clean':
      await (await import('./catalog-commands.ts')).cleanCommand(withWarnings(configOf(argv)), confirmed);
      return null;
  }
}

function configOf(argv: readonly string[]): Config {
  // Variables that metadata refers to (`from_env`) may come from .env too.
  Object.assign(process.env, mergedEnvironment(process.env, readDotEnv()));
  return loadConfig({ argv, environment: process.env });
}

/** Prints warnings that `serve` writes to its log. */
function withWarnings(config: Config): Config {
  for (const warning of unknownVariables(process.env)) process.stderr.write(`warning: ${warning}\n`);
  return config;
}

function readDotEnv(): string | undefined {
  try {
    return readFileSync('.env', 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`the file .env cannot be read: ${(error as Error).message}`);
  }
}
