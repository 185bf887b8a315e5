import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { overview } from '../api/overview.ts';
import { Icon } from '../parts/icon.tsx';
import { matchingEntries, type PaletteEntry, paletteEntries } from './palette-entries.ts';

/** Command palette: finds pages, tables, roles, actions and commands by parts of their names. */
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
  const found = matchingEntries(
    useMemo(() => paletteEntries(data), [data]),
    typed,
  );
  const choose = (entry: PaletteEntry | undefined): void => {
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
        aria-label="Go to a page, table, role or action, or run a command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${active}` : undefined}
        placeholder="Go to a page, table or role, or run a command …"
        spellcheck={false}
        autocomplete="off"
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
      />
      <ResultList found={found} active={active} onActive={setActive} onChoose={choose} />
    </dialog>
  );
}

function ResultList({
  found,
  active,
  onActive,
  onChoose,
}: {
  readonly found: readonly PaletteEntry[];
  /** Index of the highlighted entry. */
  readonly active: number;
  onActive(index: number): void;
  onChoose(entry: PaletteEntry): void;
}) {
  return (
    <ul id="palette-list" role="listbox" aria-label="Results">
      {found.map((entry, index) => (
        <li
          key={`${entry.note} ${entry.label}`}
          id={`palette-${index}`}
          ref={index === active ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
          class="option"
          role="option"
          aria-selected={index === active}
          onMouseMove={() => onActive(index)}
          onClick={() => onChoose(entry)}
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
  );
}
