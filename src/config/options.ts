/**
 * The table of options: flags, environment variables, defaults, validation, `--help` and the reference page come from it. A new option is
 * one row in its group. All durations in `Config` are in milliseconds.
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

/** Complete and validated settings of the process. Durations are in milliseconds. */
export type Config = { readonly [K in OptionName]: (typeof options)[K] extends Option<infer T> ? T : never };

/** Rows in the order of help and documentation. */
export const optionRows = Object.entries(options) as readonly (readonly [OptionName, Option<unknown>])[];
