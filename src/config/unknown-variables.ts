import { nearest } from '../model/nearest.ts';
import { VARIABLE_PREFIX } from './option.ts';
import { optionRows } from './options.ts';
import { PROJECT_VARIABLES } from './project-variables.ts';

/**
 * Returns a warning for each environment variable that has our prefix but belongs to no option. This is not an error, because metadata
 * may refer to such variables.
 * @param environment including the file `.env`
 */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const optionVariables = optionRows.flatMap(([, { env, olderEnv }]) => [env, olderEnv].filter((name) => name !== undefined));
  const known = new Set([...optionVariables, ...PROJECT_VARIABLES]);
  const names = Object.keys(environment).filter((name) => name.toUpperCase().startsWith(VARIABLE_PREFIX) && !known.has(name));
  return names.sort().map((name) => {
    // Compared without the long prefix that all names share.
    const meant = nearest(
      name.slice(VARIABLE_PREFIX.length),
      [...known].map((each) => each.slice(VARIABLE_PREFIX.length)),
    );
    const guess = meant === undefined ? '' : `, did you mean ${VARIABLE_PREFIX}${meant}?`;
    return `no option has the environment variable ${name}${guess}`;
  });
}
