import { nearest } from '../util/nearest.ts';
import { VARIABLE_PREFIX } from './option.ts';
import { optionRows } from './options.ts';

/**
 * A sentence for each environment variable that looks like one of an option and is none. Variables that only the
 * metadata refers to may have such names too, so this is a warning.
 * @param environment joined with the file `.env`
 */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set(optionRows.flatMap(([, { env, olderEnv }]) => [env, olderEnv].filter((name) => name !== undefined)));
  const names = Object.keys(environment).filter((name) => name.toUpperCase().startsWith(VARIABLE_PREFIX) && !known.has(name));
  return names.sort().map((name) => {
    // The prefix is long and common to all: only the rest tells names apart.
    const meant = nearest(
      name.slice(VARIABLE_PREFIX.length),
      [...known].map((each) => each.slice(VARIABLE_PREFIX.length)),
    );
    const guess = meant === undefined ? '' : `, did you mean ${VARIABLE_PREFIX}${meant}?`;
    return `no option has the environment variable ${name}${guess}`;
  });
}
