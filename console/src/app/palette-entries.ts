/** Destinations of the command palette, and the search among them. */
import { choosePersona } from '../api/persona.ts';
import { docsHref, hrefOf } from '../browser/place.ts';
import { allTables, type Overview, tableId } from '../model/overview.ts';
import type { IconName } from '../parts/icon.tsx';
import { PAGES } from './routes.ts';

export interface PaletteEntry {
  readonly label: string;
  readonly note: string;
  readonly icon: IconName;
  readonly search: string;
  run(): void;
}

const MAX_RESULTS = 30;

/** @param data undefined until the overview is loaded: then there are only pages and their documentation */
export function paletteEntries(data: Overview | undefined): readonly PaletteEntry[] {
  return [...pageEntries(), ...(data === undefined ? [] : overviewEntries(data)), ...documentationEntries()];
}

function pageEntries(): readonly PaletteEntry[] {
  return PAGES.map((page) => ({
    label: page.title,
    note: 'page',
    icon: page.icon,
    search: `${page.title} ${page.words}`.toLowerCase(),
    run: opening([page.path]),
  }));
}

function documentationEntries(): readonly PaletteEntry[] {
  return PAGES.map((page) => ({
    label: `Documentation: ${page.title}`,
    note: 'opens a tab',
    icon: 'book',
    search: `documentation help ${page.title}`.toLowerCase(),
    run: () => void open(docsHref(page.docs), '_blank', 'noreferrer'),
  }));
}

function overviewEntries(data: Overview): readonly PaletteEntry[] {
  const tables = allTables(data).map(
    (table): PaletteEntry => ({
      label: tableId(table),
      note: `table in ${table.source}`,
      icon: 'table',
      search: tableId(table).toLowerCase(),
      run: opening(['data', table.source, tableId(table)]),
    }),
  );
  const roles = data.roles.map(
    (role): PaletteEntry => ({
      label: `Act as ${role}`,
      note: 'role',
      icon: 'user',
      search: `act as role ${role}`.toLowerCase(),
      run: () => choosePersona({ role, variables: {} }),
    }),
  );
  return [
    ...tables,
    ...roles,
    ...data.actions.map((name) => namedEntry(name, 'action', 'actions', 'actions')),
    ...data.remoteSchemas.map((name) => namedEntry(name, 'remote schema', 'remote', 'remote-schemas')),
    ...data.triggers.map((name) => namedEntry(name, 'event trigger', 'events', 'events')),
  ];
}

function namedEntry(name: string, note: string, icon: IconName, page: string): PaletteEntry {
  return { label: name, note, icon, search: `${note} ${name}`.toLowerCase(), run: opening([page, name]) };
}

function opening(path: readonly string[]): () => void {
  return () => {
    location.hash = hrefOf(path, {});
  };
}

/** Returns the entries with all words of a text. Labels that start with the first word come first. */
export function matchingEntries(entries: readonly PaletteEntry[], typed: string): readonly PaletteEntry[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const matching = entries.filter(({ search }) => words.every((word) => search.includes(word)));
  const [first = ''] = words;
  const isFirst = ({ label }: PaletteEntry): boolean => label.toLowerCase().startsWith(first);
  return [...matching.filter(isFirst), ...matching.filter((entry) => !isFirst(entry))].slice(0, MAX_RESULTS);
}
