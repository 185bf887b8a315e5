import type { OptionType } from './option-types.ts';

export interface Option<T> {
  /** Name without the dashes. */
  readonly flag: string;
  readonly short?: string;
  /** Environment variable, if there is one. */
  readonly env?: string;
  /** Read if `env` is not set. */
  readonly olderEnv?: string;
  readonly type: OptionType<T>;
  readonly default: T;
  readonly group: OptionGroup;
  readonly help: string;
  /** Values of a list that are accepted but have no effect yet, each with the condition under which it will have one. */
  readonly withoutEffect?: ReadonlyMap<string, string>;
}

export type OptionGroup = 'Databases' | 'HTTP' | 'Access' | 'Behaviour' | 'Events' | 'Console' | 'Limits' | 'Logging';

interface Details extends Pick<Option<unknown>, 'withoutEffect'> {
  readonly short?: string;
  /** Replaces the upper-case flag in the name of the variable; `null` for no variable. */
  readonly env?: string | null;
  readonly olderEnv?: string;
}

export const VARIABLE_PREFIX = 'SVC_GRAPHQL_';

/** Returns a function that makes the rows of a group. */
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
