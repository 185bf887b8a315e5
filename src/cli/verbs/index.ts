/** All commands of projects, and the groups that they stand in. */
import { metadataGroups, metadataVerbs } from './metadata.ts';
import type { Verb, VerbGroup } from './verb.ts';

export const verbGroups: readonly VerbGroup[] = [...metadataGroups];
export const verbs: readonly Verb[] = [...metadataVerbs];
