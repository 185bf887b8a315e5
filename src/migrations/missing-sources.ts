/** Folders of migrations whose source is not in the metadata of the project. */
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { KindCodecs, Kinds } from '../metadata/kinds.ts';
import { SOURCES_FILE } from '../project/directory/sections.ts';
import type { Problem } from '../project/failure.ts';
import { newSource } from '../project/new-source.ts';
import type { Project } from '../project/project.ts';
import { migratedSources } from './migration-files.ts';

export interface MissingSource {
  /** File that the source belongs in. */
  readonly file: string;
  readonly cause: string;
  /** The lines to add, or what to delete. */
  readonly remedy: string;
}

/** Returns the sources that have a folder of migrations and are not among the known ones. */
export function missingSources(project: Project, known: readonly string[], kinds: Kinds<KindCodecs>): readonly MissingSource[] {
  return migratedSources(project.migrationsFolder)
    .filter((name) => !known.includes(name))
    .map((name) => missingSource(project, name, kinds));
}

/** Returns the report about a source that is not in the metadata of the project. */
export function missingSource({ files, metadata, migrationsFolder }: Project, name: string, kinds: Kinds<KindCodecs>): MissingSource {
  const file = files.show(metadata.file ?? join(metadata.folder, SOURCES_FILE));
  const folder = files.show(join(migrationsFolder, name));
  const lines = stringify([newSource(name, kinds)]).trimEnd();
  const place = metadata.file === undefined ? file : `the sources in ${file}`;
  return {
    file,
    cause: `${folder} has migrations, but the metadata has no source "${name}"`,
    remedy: `add it to ${place}, or delete ${folder}:\n\n${lines}\n`,
  };
}

/** Returns a problem for each folder of migrations without a source. */
export function missingSourceProblems(project: Project, known: readonly string[], kinds: Kinds<KindCodecs>): readonly Problem[] {
  return missingSources(project, known, kinds).map(({ file, cause, remedy }) => ({
    code: 'no-source',
    message: `${cause}: ${remedy}`,
    file,
  }));
}
