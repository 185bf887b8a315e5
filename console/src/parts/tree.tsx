import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { lineHeight } from '../browser/density.ts';
import { scrollToRow, useWindow } from './virtual-list.tsx';

export interface TreeItem {
  readonly key: string;
  readonly label: string;
  /** 1 for the outermost items. */
  readonly level: number;
  /** Undefined for an item that cannot be unfolded. */
  readonly isOpen: boolean | undefined;
  readonly isCurrent: boolean;
  readonly class: string;
  readonly title: string;
}

interface TreeProps {
  readonly name: string;
  readonly items: readonly TreeItem[];
  /** Content of an item. Its link, if it has one, is opened by Enter. */
  content(index: number): ComponentChildren;
  onToggle(index: number): void;
}

/** A virtualised tree with the ARIA pattern: one Tab stop, arrow keys move, fold and unfold, and Enter opens. */
export function Tree(props: TreeProps) {
  const { name, items, content } = props;
  const height = lineHeight.value;
  const { frame, first, end, active, setActive, keyDown } = useTreeFocus(props);
  const places = useMemo(() => placesOf(items), [items]);
  return (
    <div
      ref={frame}
      class="virtual-list"
      role="tree"
      aria-label={name}
      tabIndex={items.length === 0 ? 0 : undefined}
      onKeyDown={keyDown}
      onFocusIn={({ target }) => {
        const index = indexOf(target);
        if (index !== undefined) setActive(index);
      }}
    >
      <div style={{ height: `${first * height}px` }} />
      {items.slice(first, end).map((item, offset) => {
        const index = first + offset;
        return (
          <div
            key={item.key}
            class={`tree-row ${item.class}`}
            role="treeitem"
            tabIndex={index === active ? 0 : -1}
            data-index={index}
            title={item.title}
            aria-label={item.label}
            aria-level={item.level}
            aria-setsize={places[index]?.of}
            aria-posinset={places[index]?.at}
            aria-expanded={item.isOpen}
            aria-selected={item.isCurrent}
          >
            {content(index)}
          </div>
        );
      })}
      <div style={{ height: `${Math.max(0, items.length - end) * height}px` }} />
    </div>
  );
}

/** Returns the place of each item among its siblings, which need not all be drawn. */
function placesOf(items: readonly TreeItem[]): readonly { readonly at: number; readonly of: number }[] {
  /** Siblings of the last item of each level. */
  const sets: { count: number }[] = [];
  return items
    .map(({ level }) => {
      sets.length = level;
      sets[level - 1] ??= { count: 0 };
      const set = sets[level - 1] ?? { count: 0 };
      set.count += 1;
      return { at: set.count, set };
    })
    .map(({ at, set }) => ({ at, of: set.count }));
}

/** The drawn items, the one that Tab reaches, and the keys that move to others. */
function useTreeFocus({ items, onToggle }: TreeProps) {
  const height = lineHeight.value;
  const { frame, window } = useWindow(items.length, height);
  const { first, end } = window;
  const current = items.findIndex(({ isCurrent }) => isCurrent);
  const [chosen, setActive] = useState<number>();
  useEffect(() => {
    // While the tree has the focus, folding moves the current item, not the stop of Tab.
    if (frame.current?.contains(document.activeElement) !== true) setActive(undefined);
  }, [current]);
  const wanted = chosen ?? Math.max(0, current);
  // An item that is scrolled away cannot have the focus.
  const active = wanted >= first && wanted < end ? wanted : first;
  const latest = useRef(0);
  const move = (to: number): void => {
    const index = Math.max(0, Math.min(items.length - 1, to));
    latest.current = index;
    setActive(index);
    if (frame.current === null) return;
    scrollToRow(frame.current, index, height);
    focusOnceDrawn(frame.current, index, () => latest.current === index);
  };
  const keyDown = (event: KeyboardEvent): void => {
    const index = indexOf(event.target);
    const item = index === undefined ? undefined : items[index];
    if (index === undefined || item === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Enter' || event.key === ' ') open(event.target, item, () => onToggle(index));
    else if (event.key === (item.isOpen === true ? 'ArrowLeft' : 'ArrowRight') && item.isOpen !== undefined) onToggle(index);
    else {
      const page = Math.max(1, Math.floor((frame.current?.clientHeight ?? 0) / height) - 1);
      const to = targetOf(event.key, items, index, page);
      if (to === undefined) return;
      move(to);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return { frame, first, end, active, setActive, keyDown };
}

/** Returns the item that a key moves to, undefined for other keys. */
function targetOf(key: string, items: readonly TreeItem[], index: number, page: number): number | undefined {
  const level = items[index]?.level ?? 1;
  switch (key) {
    case 'ArrowDown':
      return index + 1;
    case 'ArrowUp':
      return index - 1;
    case 'PageDown':
      return index + page;
    case 'PageUp':
      return index - page;
    case 'Home':
      return 0;
    case 'End':
      return items.length - 1;
    case 'ArrowRight':
      return (items[index + 1]?.level ?? 0) > level ? index + 1 : index;
    case 'ArrowLeft': {
      const parent = items.slice(0, index).findLastIndex((each) => each.level < level);
      return parent < 0 ? index : parent;
    }
    default:
      return undefined;
  }
}

/** Opens the link of an item; one without a link is folded or unfolded. */
function open(target: EventTarget | null, { isOpen }: TreeItem, toggle: () => void): void {
  const link = target instanceof HTMLElement ? target.querySelector('a') : null;
  if (link !== null) link.click();
  else if (isOpen !== undefined) toggle();
}

function focusOnceDrawn(frame: HTMLElement, index: number, isLatest: () => boolean): void {
  const focus = (): void => frame.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true });
  // At once if it is drawn, so that quick keys follow each other.
  focus();
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (isLatest()) focus();
    }),
  );
}

function indexOf(target: EventTarget | null): number | undefined {
  const index = target instanceof HTMLElement ? target.dataset['index'] : undefined;
  return index === undefined ? undefined : Number(index);
}
