import type { ReadableTable } from '../../api/rows.ts';
import { type ColumnLayout, PLAIN_LAYOUT, WIDTH, widthOf, withToggled, withWidth } from '../../model/column-layout.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Check } from '../../parts/field.tsx';
import { ListTable } from '../../parts/list-table.tsx';

interface ColumnsDialogProps {
  readonly columns: ReadableTable['columns'];
  readonly layout: ColumnLayout;
  onLayout(layout: ColumnLayout): void;
  onClose(): void;
}

/** Hides, pins and sizes columns; also by keyboard, unlike the edges of the headings. */
export function ColumnsDialog({ columns, layout, onLayout, onClose }: ColumnsDialogProps) {
  const { hidden, pinned } = layout;
  return (
    <Dialog
      title="Columns"
      onClose={onClose}
      onSubmit={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="quiet"
            onClick={() => onLayout({ ...layout, hidden: hidden.length > 0 ? [] : columns.slice(1).map(({ name }) => name) })}
          >
            {hidden.length > 0 ? 'Show all' : 'Hide all but the first'}
          </Button>
          <Button kind="quiet" onClick={() => onLayout(PLAIN_LAYOUT)}>
            Reset
          </Button>
        </>
      }
    >
      <ListTable name="Columns" columns={['Visible', 'Pinned', 'Width in pixels']}>
        {columns.map(({ name }) => (
          <tr key={name}>
            <td>
              <Check
                label={name}
                checked={!hidden.includes(name)}
                onChange={() => onLayout({ ...layout, hidden: withToggled(hidden, name) })}
              />
            </td>
            <td>
              <Button
                small
                kind="quiet"
                icon="pin"
                name={`Pin ${name}`}
                pressed={pinned.includes(name)}
                onClick={() => onLayout({ ...layout, pinned: withToggled(pinned, name) })}
              />
            </td>
            <td>
              <input
                class="input input-small number-input"
                type="number"
                min={WIDTH.min}
                max={WIDTH.max}
                step={10}
                aria-label={`Width of ${name}`}
                placeholder="auto"
                value={widthOf(layout, name) ?? ''}
                onChange={(event) => {
                  const { value } = event.currentTarget;
                  onLayout(withWidth(layout, name, value === '' ? undefined : Number(value)));
                }}
              />
            </td>
          </tr>
        ))}
      </ListTable>
    </Dialog>
  );
}
