/** Destinations and commands of the command palette, and the search among them. */
import { sessionChanges } from '../api/changes.ts';
import { choosePersona } from '../api/persona.ts';
import { hasSecret } from '../api/session.ts';
import { navigation, tableTree } from '../browser/layout.ts';
import { docsHref, go, hrefOf, place } from '../browser/place.ts';
import { attempt } from '../features/attempt.ts';
import { undoChange } from '../features/change-review/change-review.tsx';
import type { JsonObject } from '../model/json.ts';
import { allTables, type Overview, tableId } from '../model/overview.ts';
import { ADMIN } from '../model/persona.ts';
import type { IconName } from '../parts/icon.tsx';
import { appearances } from './appearance.ts';
import { leave } from './leave.ts';
import { type Opened, opened } from './opened.ts';
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
  return [...pageEntries(), ...commands(data), ...(data === undefined ? [] : overviewEntries(data)), ...documentationEntries()];
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

/** Tabs that have an address, by their page. */
const TABS: readonly (readonly [label: string, page: string, tab: string])[] = [
  ['Options', 'settings', 'options'],
  ['Roles', 'settings', 'roles'],
  ['Allow-list', 'settings', 'allow-list'],
  ['REST endpoints', 'settings', 'rest'],
  ['API limits', 'settings', 'limits'],
  ['TLS and introspection', 'settings', 'outside'],
  ['Inconsistent objects', 'metadata', 'inconsistent'],
  ['Run a metadata operation', 'metadata', 'operation'],
  ['Custom types', 'actions', 'types'],
];
const TABLE_TABS = ['browse', 'structure', 'relationships', 'permissions', 'fields', 'json'];

/** Commands of the page, the session and the appearance. */
function commands(data: Overview | undefined): readonly PaletteEntry[] {
  const [, source, table] = place.peek().path[0] === 'data' ? place.peek().path : [];
  const last = sessionChanges.peek().findLast(({ undo }) => undo !== undefined);
  const reload = (title: string, args: JsonObject): PaletteEntry =>
    command(title, 'reload', () => void attempt({ title, steps: () => [{ type: 'reload_metadata', args }] }));
  return [
    ...(table === undefined || source === undefined
      ? []
      : TABLE_TABS.map((tab) => command(`${table}: ${tab}`, 'table', () => go(['data', source, table], { tab })))),
    ...(last === undefined ? [] : [command(`Undo: ${last.title}`, 'undo', () => void undoChange(last))]),
    command('Connect a database', 'plus', opening(['data', '+'])),
    command('New action', 'plus', opening(['actions', '+'])),
    ...TABS.map(([label, page, tab]) => command(label, 'right', () => go([page], { tab }))),
    reload('Reload metadata', {}),
    ...(data?.sources ?? []).map(({ name }) => reload(`Reload ${name}`, { reload_sources: [name] })),
    command('Changes in this session', 'history', show('changes')),
    command('Keyboard shortcuts', 'help', show('keys')),
    ...appearances().map(({ label, run }) => command(label, 'eye', run)),
    ...[navigation, tableTree].map((sidebar, index) => {
      const { isFolded } = sidebar.state.peek();
      const name = index === 0 ? 'navigation' : 'list of tables';
      return command(`${isFolded ? 'Unfold' : 'Fold'} ${name}`, 'menu', () => sidebar.change({ isFolded: !isFolded }));
    }),
    command('Act as admin', 'user', () => choosePersona(ADMIN)),
    ...(hasSecret.peek() ? [command('Sign out', 'out', leave)] : []),
  ];
}

function command(label: string, icon: IconName, run: () => void): PaletteEntry {
  return { label, note: 'command', icon, search: `command ${label}`.toLowerCase(), run };
}

function show(what: Opened): () => void {
  return () => {
    opened.value = what;
  };
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
