/** Imports seeds of any layout. */
import type { ImportAccount } from './account.ts';
import { readsSessionNames, withoutRestrictLines } from './adapt-sql.ts';
import { type Input, namesBelow } from './read-input.ts';
import type { SqlReader } from './sql-reader.ts';

export interface ImportedSeeds {
  /** Texts by path in the new project. */
  readonly texts: ReadonlyMap<string, string>;
  /** Files whose SQL reads session variables of the other engine. */
  readonly readsSession: readonly string[];
}

/**
 * Reads the seeds. Seeds of a source that is not imported, and in version 3 seeds of no source, go to `unsupported/`.
 * @param sources sources of the new project
 * @param isExcluded returns whether a source is not imported
 * @param unsupportedSources sources of the metadata that are not imported, which are reported separately
 * @param hasMigrations the project has migrations
 */
export function importSeeds(
  input: Input,
  sources: readonly string[],
  isExcluded: (source: string) => boolean,
  unsupportedSources: ReadonlySet<string>,
  account: ImportAccount,
  reader: SqlReader,
  hasMigrations: boolean,
): ImportedSeeds {
  const texts = new Map<string, string>();
  const readsSession: string[] = [];
  const unknownSources = new Set<string>();
  const unplaced: string[] = [];
  const unread: string[] = [];
  for (const [name, file] of namesBelow(input.files, input.seedsFolder)) {
    if (!name.endsWith('.sql')) {
      unread.push(`seeds/${name}`);
      continue;
    }
    const text = input.files.read(file) ?? '';
    const folder = name.includes('/') ? (name.split('/', 1)[0] as string) : undefined;
    if (input.layout === 'version 3' && folder === undefined) {
      texts.set(`unsupported/seeds/${name}`, text);
      unplaced.push(`seeds/${name}`);
      continue;
    }
    // Before version 3 all seeds belong to the one source, in any folder.
    const isOfSource = folder !== undefined && (sources.includes(folder) || input.layout === 'version 3');
    const path = isOfSource ? name : `${sources[0] ?? 'default'}/${name}`;
    if (isOfSource && isExcluded(folder)) {
      texts.set(`unsupported/seeds/${path}`, text);
      if (!unsupportedSources.has(folder)) unknownSources.add(folder);
      continue;
    }
    texts.set(`seeds/${path}`, withoutRestrictLines(text, `seeds/${path}`, account, reader));
    if (readsSessionNames(text)) readsSession.push(`seeds/${path}`);
  }
  const hasOthers = hasMigrations || [...texts.keys()].some((path) => path.startsWith('seeds/'));
  for (const source of unknownSources)
    account.addRemark({
      id: `seeds.${source}`,
      bucket: hasOthers ? 'ignored' : 'needs-you',
      place: `seeds/${source}`,
      message: 'the metadata has no such source, so the other engine does not run them either: stored in unsupported/',
    });
  if (unplaced.length > 0)
    account.addRemark({
      id: 'seeds:root',
      bucket: hasOthers ? 'ignored' : 'needs-you',
      place: unplaced.join(', '),
      message: 'are in no folder of a source, so the other engine does not run them either: stored in unsupported/',
    });
  if (unread.length > 0)
    account.addRemark({ id: 'seeds:unread', bucket: 'ignored', place: unread.join(', '), message: 'are not SQL, and are never run' });
  return { texts, readsSession };
}
