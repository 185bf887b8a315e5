/** All commands of projects, and their groups. */
import { documentGroups, documentVerbs } from './documents.ts';
import { importVerbs } from './import.ts';
import { metadataGroups, metadataVerbs } from './metadata.ts';
import { migrateGroups, migrateVerbs } from './migrate.ts';
import { toolGroups, toolVerbs } from './tools.ts';
import type { Verb, VerbGroup } from './verb.ts';

export const verbGroups: readonly VerbGroup[] = [...metadataGroups, ...migrateGroups, ...documentGroups, ...toolGroups];
export const verbs: readonly Verb[] = [...metadataVerbs, ...migrateVerbs, ...documentVerbs, ...importVerbs, ...toolVerbs];
