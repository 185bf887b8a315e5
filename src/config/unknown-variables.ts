import { nearest } from '../util/nearest.ts';
import { VARIABLE_PREFIX } from './option.ts';
import { optionRows } from './options.ts';
import { PROJECT_VARIABLES } from './project-variables.ts';

/**
 * A sentence for each environment variable that looks like one of an option, or of the commands of projects, and is none. Variables that
 * only the metadata refers to may have such names too, so this is a warning.
 * @param environment joined with the file `.env`
 */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const ofOptions = optionRows.flatMap(([, { env, olderEnv }]) => [env, olderEnv].filter((name) => name !== undefined));
  const known = new Set([...ofOptions, ...PROJECT_VARIABLES]);
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
