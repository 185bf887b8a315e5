import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';

/** The first items of a list, and the others on demand. */
export function MoreList<T>({
  items,
  first,
  what,
  item,
}: {
  readonly items: readonly T[];
  /** Number of items shown at first. */
  readonly first: number;
  /** Name of the items, such as `operations`. */
  readonly what: string;
  item(item: T, index: number): ComponentChildren;
}) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? items : items.slice(0, first);
  return (
    <>
      {shown.map(item)}
      {items.length > shown.length && (
        <Button kind="link" onClick={() => setShowsAll(true)}>
          Show all {items.length} {what}
        </Button>
      )}
    </>
  );
}
