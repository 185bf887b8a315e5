import { parse as parseDotEnv } from 'dotenv';
import { checkAccess } from './access.ts';
import { parseCommandLine } from './command-line.ts';
import { ConfigError, EnvironmentError } from './config-error.ts';
import { databaseUrlOfParts } from './database-parts.ts';
import type { Option } from './option.ts';
import { type Config, type OptionName, optionRows } from './options.ts';

export interface ConfigSources {
  /** Arguments, without node and script. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Content of the file `.env`; the environment takes precedence. */
  readonly dotEnvText?: string;
}

/**
 * Reads all options. Flags take precedence over the environment, then `.env`, then defaults.
 * @throws ConfigError
 */
export function loadConfig({ argv, environment, dotEnvText }: ConfigSources): Config {
  const { values: flags } = parseCommandLine(argv);
  const merged = mergedEnvironment(environment, dotEnvText);
  const values: Partial<Record<OptionName, unknown>> = {};
  for (const [name, option] of optionRows) values[name] = chooseValue(option, flags.get(name), merged);
  const config = values as Config;
  if (flags.has('projectEnvironment') && config.project === null)
    throw new ConfigError('--env needs --project: it names an environment of its config.yaml');
  checkAccess(config);
  return Object.freeze({ ...config, databaseUrl: databaseUrlOfParts(config) ?? config.databaseUrl });
}

/** Merges the environment with `.env`; `from_env` in metadata refers to the result. */
export function mergedEnvironment(
  environment: ConfigSources['environment'],
  dotEnvText: string | undefined,
): Readonly<Record<string, string | undefined>> {
  return { ...(dotEnvText === undefined ? {} : parseDotEnv(dotEnvText)), ...environment };
}

function chooseValue(option: Option<unknown>, flag: string | undefined, environment: ConfigSources['environment']): unknown {
  if (flag !== undefined) {
    try {
      return option.type.parse(flag);
    } catch (error) {
      throw new ConfigError(`--${option.flag}: ${(error as Error).message}`);
    }
  }
  const { env, olderEnv } = option;
  if (env === undefined) return option.default;
  const name = olderEnv !== undefined && environment[env] === undefined ? olderEnv : env;
  const variable = environment[name];
  if (variable === undefined || (variable === '' && !option.type.emptyIsValue)) return option.default;
  try {
    return option.type.parse(variable);
  } catch (error) {
    throw new EnvironmentError(name, (error as Error).message);
  }
}

/** All settings as text for the startup log, with secrets and passwords hidden. */
export function describeConfig(config: Config): Record<string, string> {
  return Object.fromEntries(optionRows.map(([name, option]) => [option.flag.replaceAll('-', '_'), option.type.show(config[name])]));
}
