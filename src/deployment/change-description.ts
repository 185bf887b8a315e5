/**
 * Reads the descriptions that graphql-js gives of changes. It names the types and members of a change nowhere else, and its codes do not
 * tell an enum of columns from another one. Nothing else reads these texts.
 */
import { PLACEHOLDER_FIELD } from '../schema/fields/placeholder.ts';

export type ChangeVerb = 'added' | 'removed' | 'changed';

/** Part of a schema that a change is about. */
export interface ChangePlace {
  readonly verb: ChangeVerb;
  readonly type: string;
  /** Field or enum value; `undefined` for a change of the whole type. */
  readonly member?: string;
  readonly argument?: string;
}

const PATTERNS: readonly RegExp[] = [
  /^(?<type>\w+) was (?<verb>added|removed)\.$/,
  /^(?<type>\w+)\.(?<member>\w+) was (?<verb>added|removed)\.$/,
  /^(?<type>\w+)\.(?<member>\w+) (?<verb>changed) type from /,
  /^(?<member>\w+) was (?<verb>added to|removed from) enum type (?<type>\w+)\.$/,
  /^An? (?:optional|required) field (?<member>\w+) on input type (?<type>\w+) was (?<verb>added)\.$/,
  /^An? (?:optional|required) arg (?<argument>\w+) on (?<type>\w+)\.(?<member>\w+) was (?<verb>added)\.$/,
  /^(?<type>\w+)\.(?<member>\w+) arg (?<argument>\w+) was (?<verb>removed)\.$/,
  /^(?<type>\w+)\.(?<member>\w+) arg (?<argument>\w+) has (?<verb>changed) type from /,
];

/** Returns the place of a change; `undefined` if it is about none of these parts, as for directives and interfaces. */
export function changePlace(description: string): ChangePlace | undefined {
  for (const pattern of PATTERNS) {
    const { type, member, argument, verb = '' } = pattern.exec(description)?.groups ?? {};
    if (type === undefined) continue;
    return {
      verb: verb.split(' ')[0] as ChangeVerb,
      type,
      ...(member === undefined ? {} : { member }),
      ...(argument === undefined ? {} : { argument }),
    };
  }
  return undefined;
}

/** Returns whether a change is about a field or type that only GraphQL itself or gateways need. */
export function isArtificial(description: string): boolean {
  return description.includes(`.${PLACEHOLDER_FIELD} was `) || description.endsWith(' was added to union type _Entity.');
}

/** Returns whether a scalar of the GraphQL specification was removed. */
export function isOfStandardScalar(description: string): boolean {
  return description.startsWith('Standard scalar ');
}

/** Returns the description of the change in the other direction. */
export function asAddition(removal: string): string {
  return removal.replace('was removed', 'was added');
}

/** Short forms of descriptions. */
const BRIEF: readonly (readonly [RegExp, string])[] = [
  [/^(\w+) was removed from enum type (\w+)\.$/, '`$2.$1` removed'],
  [/^(\w+(?:\.\w+)?) was removed\.$/, '`$1` removed'],
  [/^(\w+\.\w+) changed type from (.+) to (.+)\.$/, '`$1` changed from `$2` to `$3`'],
  [/^(\w+\.\w+) arg (\w+) was removed\.$/, '`$1($2)` removed'],
  [/^(\w+\.\w+) arg (\w+) has changed type from (.+) to (.+)\.$/, '`$1($2)` changed from `$3` to `$4`'],
  [/^A required field (\w+) on input type (\w+) was added\.$/, 'required `$2.$1` added'],
  [/^A required arg (\w+) on (\w+\.\w+) was added\.$/, 'required `$2($1)` added'],
];

/** Returns ``` `task.title` removed ``` for `task.title was removed.` */
export function briefDescription(description: string): string {
  const [pattern, text] = BRIEF.find(([each]) => each.test(description)) ?? [/\.$/, ''];
  return description.replace(pattern, text);
}
