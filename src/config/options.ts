/**
 * Every option of the service, once: flags, environment variables, defaults, validation, `--help`
 * and the documentation page come from this table. A new option is a row of its group, and whoever owns the
 * feature reads it from `Config`. All durations in `Config` are milliseconds.
 */
import type { Option } from './option.ts';
import { accessOptions } from './options/access.ts';
import { behaviourOptions } from './options/behaviour.ts';
import { consoleOptions } from './options/console.ts';
import { databaseOptions } from './options/databases.ts';
import { eventOptions } from './options/events.ts';
import { httpOptions } from './options/http.ts';
import { limitOptions } from './options/limits.ts';
import { loggingOptions } from './options/logging.ts';

/** In the order in which help and documentation show them. */
const options = {
  ...databaseOptions,
  ...httpOptions,
  ...accessOptions,
  ...behaviourOptions,
  ...eventOptions,
  ...consoleOptions,
  ...limitOptions,
  ...loggingOptions,
} as const;

export type OptionName = keyof typeof options;

/** The settings of one process, complete and checked. Durations are milliseconds. */
export type Config = { readonly [K in OptionName]: (typeof options)[K] extends Option<infer T> ? T : never };

/** The rows in the order of the table. */
export const optionRows = Object.entries(options) as readonly (readonly [OptionName, Option<unknown>])[];
