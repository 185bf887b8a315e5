import { parse as parseDotEnv } from 'dotenv';
import { checkAccess } from './access.ts';
import { parseCommandLine } from './command-line.ts';
import { ConfigError, EnvironmentError } from './config-error.ts';
import { databaseUrlOfParts } from './database-parts.ts';
import type { Option } from './option.ts';
import { type Config, type OptionName, optionRows } from './options.ts';

export interface ConfigSources {
  /** Arguments without node and script. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Content of the file `.env`, if there is one; the real environment wins over it. */
  readonly dotEnvText?: string;
}

/**
 * Flags before environment before `.env` before defaults.
 * @throws ConfigError
 */
export function loadConfig({ argv, environment, dotEnvText }: ConfigSources): Config {
  const { given } = parseCommandLine(argv);
  const merged = mergedEnvironment(environment, dotEnvText);
  const values: Partial<Record<OptionName, unknown>> = {};
  for (const [name, option] of optionRows) values[name] = chooseValue(option, given.get(name), merged);
  const config = values as Config;
  checkAccess(config);
  return Object.freeze({ ...config, databaseUrl: databaseUrlOfParts(config) ?? config.databaseUrl });
}

/** The environment joined with `.env`; what metadata refers to by `from_env` is looked up here too. */
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

/** Every setting as text for the start-up log; secrets and passwords are hidden. */
export function describeConfig(config: Config): Record<string, string> {
  return Object.fromEntries(optionRows.map(([name, option]) => [option.flag.replaceAll('-', '_'), option.type.show(config[name])]));
}
