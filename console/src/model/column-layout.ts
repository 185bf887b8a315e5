/** Columns of a grid that are hidden, pinned to its start, or have a width of their own. */

export interface ColumnLayout {
  readonly hidden: readonly string[];
  readonly pinned: readonly string[];
  /** Widths in pixels. */
  readonly widths: Readonly<Record<string, number>>;
}

export const PLAIN_LAYOUT: ColumnLayout = { hidden: [], pinned: [], widths: {} };

/** Limits of a width, and the default of a pinned column, in pixels. */
export const WIDTH = { min: 48, max: 1200, pinned: 160 } as const;

function boundedWidth(width: number): number {
  return Math.round(Math.min(WIDTH.max, Math.max(WIDTH.min, width)));
}

/** Returns the width of a column; undefined for that of its content. Pinned columns always have one. */
export function widthOf({ widths, pinned }: ColumnLayout, name: string): number | undefined {
  return widths[name] ?? (pinned.includes(name) ? WIDTH.pinned : undefined);
}

/** Returns the visible columns, pinned ones first. Without a visible column all are visible. */
export function arranged<T extends { readonly name: string }>(columns: readonly T[], { hidden, pinned }: ColumnLayout): readonly T[] {
  const visible = columns.filter(({ name }) => !hidden.includes(name));
  const shown = visible.length === 0 ? columns : visible;
  return [...shown.filter(({ name }) => pinned.includes(name)), ...shown.filter(({ name }) => !pinned.includes(name))];
}

export function withToggled(list: readonly string[], name: string): readonly string[] {
  return list.includes(name) ? list.filter((each) => each !== name) : [...list, name];
}

/** Returns the layout with a width, or with the width of the content. */
export function withWidth(layout: ColumnLayout, name: string, width: number | undefined): ColumnLayout {
  const { [name]: _, ...others } = layout.widths;
  return { ...layout, widths: width === undefined ? others : { ...others, [name]: boundedWidth(width) } };
}
