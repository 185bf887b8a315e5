import { useState } from 'preact/hooks';
import { remember, remembered } from '../../browser/storage.ts';
import { type ColumnLayout, PLAIN_LAYOUT } from '../../model/column-layout.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';

/** The layout of a table's columns, kept in the browser. */
export function useColumnLayout(table: TableOverview): readonly [layout: ColumnLayout, set: (layout: ColumnLayout) => void] {
  const key = `columns:${table.source}:${tableId(table)}`;
  const [layout, setLayout] = useState<ColumnLayout>(() => ({ ...PLAIN_LAYOUT, ...remembered<Partial<ColumnLayout>>(key, {}) }));
  return [
    layout,
    (next) => {
      remember(key, next);
      setLayout(next);
    },
  ];
}
