/** One option of the service, and how the rows of the table are written. */
import type { OptionType } from './option-types.ts';

export interface Option<T> {
  /** Without the dashes. */
  readonly flag: string;
  readonly short?: string;
  /** Absent: the flag only. */
  readonly env?: string;
  /** Read when the other one is not set. */
  readonly olderEnv?: string;
  readonly type: OptionType<T>;
  readonly default: T;
  readonly group: OptionGroup;
  readonly help: string;
  /** Of a list: values that are accepted, for set-ups name them, although their feature is not there; until what. */
  readonly withoutEffect?: ReadonlyMap<string, string>;
}

export type OptionGroup = 'Databases' | 'HTTP' | 'Access' | 'Behaviour' | 'Events' | 'Console' | 'Limits' | 'Logging';

interface Details extends Pick<Option<unknown>, 'withoutEffect'> {
  readonly short?: string;
  /** Replaces the upper-case flag behind the prefix; null: there is no variable. */
  readonly env?: string | null;
  readonly olderEnv?: string;
}

/** Of the environment variables of all options. */
export const VARIABLE_PREFIX = 'SVC_GRAPHQL_';

/** @returns makes the rows of a group */
export function optionsOf(group: OptionGroup) {
  return <T>(flag: string, type: OptionType<T>, byDefault: NoInfer<T>, help: string, details: Details = {}): Option<T> => ({
    flag,
    ...(details.short === undefined ? {} : { short: details.short }),
    ...(details.env === null ? {} : { env: VARIABLE_PREFIX + (details.env ?? flag.toUpperCase().replaceAll('-', '_')) }),
    ...(details.olderEnv === undefined ? {} : { olderEnv: VARIABLE_PREFIX + details.olderEnv }),
    ...(details.withoutEffect === undefined ? {} : { withoutEffect: details.withoutEffect }),
    type,
    default: byDefault,
    group,
    help,
  });
}
