/** Seeds of any layout as those of this project. */
import type { Account } from './account.ts';
import { readsSessionNames, withoutGuards } from './adapt-sql.ts';
import { type Input, namesBelow } from './read-input.ts';
import type { SqlReader } from './sql-reader.ts';

export interface ImportedSeeds {
  /** Paths in the new project to texts. */
  readonly texts: ReadonlyMap<string, string>;
  /** Files whose SQL reads session variables of the other engine. */
  readonly readsSession: readonly string[];
}

/**
 * Reads the seeds. Those of a source that is left out, and in version 3 those of no source, go to `unsupported/`.
 * @param sources sources of the new project
 * @param isLeft whether a source does not come along
 * @param gone sources of the metadata that do not come along, which are reported elsewhere
 * @param hasMigrations whether other files of the project are run
 */
export function importSeeds(
  input: Input,
  sources: readonly string[],
  isLeft: (source: string) => boolean,
  gone: ReadonlySet<string>,
  account: Account,
  reader: SqlReader,
  hasMigrations: boolean,
): ImportedSeeds {
  const texts = new Map<string, string>();
  const readsSession: string[] = [];
  const strange = new Set<string>();
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
    // Before version 3 all are of the one source, in any folder.
    const isOfSource = folder !== undefined && (sources.includes(folder) || input.layout === 'version 3');
    const path = isOfSource ? name : `${sources[0] ?? 'default'}/${name}`;
    if (isOfSource && isLeft(folder)) {
      texts.set(`unsupported/seeds/${path}`, text);
      if (!gone.has(folder)) strange.add(folder);
      continue;
    }
    texts.set(`seeds/${path}`, withoutGuards(text, `seeds/${path}`, account, reader));
    if (readsSessionNames(text)) readsSession.push(`seeds/${path}`);
  }
  const hasOthers = hasMigrations || [...texts.keys()].some((path) => path.startsWith('seeds/'));
  for (const source of strange)
    account.remark({
      id: `seeds.${source}`,
      bucket: hasOthers ? 'ignored' : 'needs-you',
      place: `seeds/${source}`,
      message: 'the metadata has no such source, so that the other engine does not run them either: kept in unsupported/',
    });
  if (unplaced.length > 0)
    account.remark({
      id: 'seeds:root',
      bucket: hasOthers ? 'ignored' : 'needs-you',
      place: unplaced.join(', '),
      message: 'are in the folder of no source, so that the other engine does not run them either: kept in unsupported/',
    });
  if (unread.length > 0)
    account.remark({ id: 'seeds:unread', bucket: 'ignored', place: unread.join(', '), message: 'are not SQL and are never run' });
  return { texts, readsSession };
}
