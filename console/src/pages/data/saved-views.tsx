import { useState } from 'preact/hooks';
import { place, setQuery } from '../../browser/place.ts';
import { remember, remembered } from '../../browser/storage.ts';
import type { ColumnLayout } from '../../model/column-layout.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Menu } from '../../parts/menu.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { showToast } from '../../parts/toast.tsx';

/** Parameters of the address that a view consists of, besides the layout of the columns. */
const PARAMETERS = ['where', 'order', 'size'] as const;

interface SavedView {
  readonly name: string;
  readonly query: Readonly<Partial<Record<(typeof PARAMETERS)[number], string>>>;
  readonly layout: ColumnLayout;
}

interface SavedViewsProps {
  readonly table: TableOverview;
  readonly layout: ColumnLayout;
  onLayout(layout: ColumnLayout): void;
}

/** Menu of the views of a table, which the browser keeps: filter, order, page size and columns. */
export function SavedViews({ table, layout, onLayout }: SavedViewsProps) {
  const key = `views:${table.source}:${tableId(table)}`;
  const [views, setViews] = useState<readonly SavedView[]>(() => remembered(key, []));
  const [isSaving, setSaving] = useState(false);
  const change = (next: readonly SavedView[]): void => {
    remember(key, next);
    setViews(next);
  };
  const open = ({ query, layout: saved }: SavedView): void => {
    setQuery({ ...Object.fromEntries(PARAMETERS.map((each) => [each, query[each]])), offset: undefined });
    onLayout(saved);
  };
  const save = (name: string): void => {
    const { query } = place.peek();
    const saved = Object.fromEntries(PARAMETERS.flatMap((each) => (query.has(each) ? [[each, query.get(each) ?? '']] : [])));
    change([...views.filter((view) => view.name !== name), { name, query: saved, layout }]);
    setSaving(false);
    showToast(`View ${name} saved in this browser`);
  };
  return (
    <>
      <Menu
        small
        kind="quiet"
        icon="star"
        items={[
          ...views.map((view) => ({ label: view.name, run: () => open(view) })),
          { label: 'Save view …', icon: 'plus' as const, run: () => setSaving(true) },
          ...views.map((view) => ({
            label: `Delete ${view.name}`,
            icon: 'trash' as const,
            danger: true,
            run: () => change(views.filter((each) => each !== view)),
          })),
        ]}
      >
        Views
      </Menu>
      {isSaving && <SaveDialog names={views.map(({ name }) => name)} onClose={() => setSaving(false)} onSave={save} />}
    </>
  );
}

function SaveDialog({ names, onClose, onSave }: { readonly names: readonly string[]; onClose(): void; onSave(name: string): void }) {
  const [text, setText] = useState('');
  const name = text.trim();
  const save = (): void => {
    if (name !== '') onSave(name);
  };
  return (
    <Dialog
      title="Save view"
      onClose={onClose}
      onSubmit={save}
      footer={(close) => (
        <>
          <Button kind="primary" refusal={name === '' ? 'A view needs a name' : undefined} onClick={save}>
            {names.includes(name) ? 'Replace' : 'Save'}
          </Button>
          <Button onClick={close}>Cancel</Button>
        </>
      )}
    >
      <TextField label="Name" hint="Keeps the filter, the order, the page size and the columns." value={text} onInput={setText} />
    </Dialog>
  );
}
