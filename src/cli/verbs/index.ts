/** All commands of projects, and the groups that they stand in. */
import { importVerbs } from './import.ts';
import { metadataGroups, metadataVerbs } from './metadata.ts';
import { migrateGroups, migrateVerbs } from './migrate.ts';
import { toolGroups, toolVerbs } from './tools.ts';
import type { Verb, VerbGroup } from './verb.ts';

export const verbGroups: readonly VerbGroup[] = [...metadataGroups, ...migrateGroups, ...toolGroups];
export const verbs: readonly Verb[] = [...metadataVerbs, ...migrateVerbs, ...importVerbs, ...toolVerbs];
