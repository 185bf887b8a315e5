import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { overview } from '../api/overview.ts';
import { choosePersona } from '../api/persona.ts';
import { docsHref, hrefOf } from '../browser/place.ts';
import { allTables, tableId } from '../model/overview.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { PAGES } from './routes.ts';

interface Entry {
  readonly label: string;
  readonly note: string;
  readonly icon: IconName;
  readonly search: string;
  run(): void;
}

const MAX_RESULTS = 30;

/** Command palette: finds pages, tables, roles and actions by parts of their names. */
export function Palette({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  useEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  const data = overview.value;
  const entries = useMemo((): readonly Entry[] => {
    const to =
      (path: readonly string[], query: Record<string, string> = {}) =>
      (): void => {
        location.hash = hrefOf(path, query);
      };
    const pages = PAGES.map(
      (page): Entry => ({
        label: page.title,
        note: 'page',
        icon: page.icon,
        search: `${page.title} ${page.words}`.toLowerCase(),
        run: to([page.path]),
      }),
    );
    const docs = PAGES.map(
      (page): Entry => ({
        label: `Documentation: ${page.title}`,
        note: 'opens a tab',
        icon: 'book',
        search: `documentation help ${page.title}`.toLowerCase(),
        run: () => void open(docsHref(page.docs), '_blank', 'noreferrer'),
      }),
    );
    if (data === undefined) return [...pages, ...docs];
    return [
      ...pages,
      ...allTables(data).map(
        (table): Entry => ({
          label: tableId(table),
          note: `table in ${table.source}`,
          icon: 'table',
          search: tableId(table).toLowerCase(),
          run: to(['data', table.source, tableId(table)]),
        }),
      ),
      ...data.roles.map(
        (role): Entry => ({
          label: `Act as ${role}`,
          note: 'role',
          icon: 'user',
          search: `act as role ${role}`.toLowerCase(),
          run: () => choosePersona({ role, variables: {} }),
        }),
      ),
      ...data.actions.map(
        (name): Entry => ({
          label: name,
          note: 'action',
          icon: 'actions',
          search: `action ${name}`.toLowerCase(),
          run: to(['actions', name]),
        }),
      ),
      ...data.remoteSchemas.map(
        (name): Entry => ({
          label: name,
          note: 'remote schema',
          icon: 'remote',
          search: `remote schema ${name}`.toLowerCase(),
          run: to(['remote-schemas', name]),
        }),
      ),
      ...data.triggers.map(
        (name): Entry => ({
          label: name,
          note: 'event trigger',
          icon: 'events',
          search: `event trigger ${name}`.toLowerCase(),
          run: to(['events', name]),
        }),
      ),
      ...docs,
    ];
  }, [data]);
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const matching = entries.filter(({ search }) => words.every((word) => search.includes(word)));
  const [first = ''] = words;
  const isFirst = ({ label }: Entry): boolean => label.toLowerCase().startsWith(first);
  // Labels that start with the first word come first.
  const found = [...matching.filter(isFirst), ...matching.filter((entry) => !isFirst(entry))].slice(0, MAX_RESULTS);
  const choose = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label="Go to"
      onCancel={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') setActive((active + 1) % Math.max(1, found.length));
        else if (event.key === 'ArrowUp') setActive((active + found.length - 1) % Math.max(1, found.length));
        else if (event.key === 'Enter') choose(found[active]);
        else return;
        event.preventDefault();
      }}
    >
      <input
        class="input"
        role="combobox"
        aria-label="Go to a page, table, role or action"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${active}` : undefined}
        placeholder="Go to a page, table, role or action …"
        spellcheck={false}
        autocomplete="off"
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Results">
        {found.map((entry, index) => (
          <li
            key={`${entry.note} ${entry.label}`}
            id={`palette-${index}`}
            ref={index === active ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
            class="option"
            role="option"
            aria-selected={index === active}
            onMouseMove={() => setActive(index)}
            onClick={() => choose(entry)}
          >
            <Icon name={entry.icon} />
            <span class="ellipsis">{entry.label}</span>
            <span class="note">{entry.note}</span>
          </li>
        ))}
        {found.length === 0 && (
          <li class="option muted" role="option" aria-selected="false" aria-disabled="true">
            No matches
          </li>
        )}
      </ul>
    </dialog>
  );
}
