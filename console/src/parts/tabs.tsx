import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface Tab {
  readonly id: string;
  readonly label: ComponentChildren;
}

/** Tabs with the ARIA pattern: arrow keys move and select. The caller renders the panel with `tabPanel`. */
export function Tabs({
  name,
  tabs,
  chosen,
  onChoose,
}: {
  readonly name: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  onChoose(id: string): void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (list.current !== null) showChosen(list.current);
  }, [chosen]);
  return (
    <div
      ref={list}
      class="tabs"
      role="tablist"
      aria-label={name}
      onKeyDown={(event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const at = tabs.findIndex(({ id }) => id === chosen);
        const next = tabs[(at + step + tabs.length) % tabs.length];
        if (next === undefined) return;
        onChoose(next.id);
        document.getElementById(`tab-${next.id}`)?.focus();
      }}
    >
      {tabs.map(({ id, label }) => (
        <button
          key={id}
          type="button"
          id={`tab-${id}`}
          role="tab"
          aria-selected={id === chosen}
          aria-controls={id === chosen ? `panel-${id}` : undefined}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** Scrolls the list to its selected tab, which a narrow page may not show. The page stays where it is. */
function showChosen(list: HTMLElement): void {
  const tab = list.querySelector('[aria-selected="true"]')?.getBoundingClientRect();
  const frame = list.getBoundingClientRect();
  if (tab === undefined) return;
  if (tab.left < frame.left) list.scrollLeft -= frame.left - tab.left;
  else if (tab.right > frame.right) list.scrollLeft += tab.right - frame.right;
}

export function tabPanel(id: string): { readonly id: string; readonly role: 'tabpanel'; readonly 'aria-labelledby': string } {
  return { id: `panel-${id}`, role: 'tabpanel', 'aria-labelledby': `tab-${id}` };
}

/** A segmented control for a few choices. */
export function Segments<T extends string>({
  name,
  options,
  chosen,
  onChoose,
}: {
  readonly name: string;
  readonly options: readonly (readonly [value: T, label: string])[];
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
}) {
  return (
    <span class="segments" role="group" aria-label={name}>
      {options.map(([value, label]) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {label}
        </button>
      ))}
    </span>
  );
}
