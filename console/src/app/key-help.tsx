import { allKeys, setSingleKeys, singleKeys } from '../browser/keys.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Check } from '../parts/field.tsx';
import { ListTable } from '../parts/list-table.tsx';

const CONTROL_KEYS = [
  ['Arrows, Home, End, PgUp, PgDn', 'move in a table'],
  ['Shift+Arrows', 'select cells'],
  ['Ctrl+C', 'copy cells for a spreadsheet'],
  ['Enter', 'open a row or cell'],
  ['F2', 'edit a cell'],
  ['Ctrl+Enter', 'run, or submit a dialog'],
  ['Enter', 'submit a dialog with one field'],
  ['Arrows, Enter', 'move and open in the tree of tables, resize and fold at the edge of a sidebar'],
  ['Ctrl+Space', 'autocomplete in an editor'],
  ['Esc', 'close suggestions or the dialog'],
  ['Esc, then Tab', 'leave an editor'],
] as const;

const shown = (keys: string): readonly string[] => keys.replace('mod+', 'Ctrl+').split(' ');

export function KeyHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <ListTable name="Keyboard shortcuts" columns={['Keys', 'Action']}>
        {allKeys().map(({ keys, does }) => (
          <tr key={keys}>
            <td class="nowrap">
              {shown(keys).map((key) => (
                <>
                  <kbd>{key}</kbd>{' '}
                </>
              ))}
            </td>
            <td>{does}</td>
          </tr>
        ))}
        {CONTROL_KEYS.map(([keys, does]) => (
          <tr key={does}>
            <td class="nowrap">
              <kbd>{keys}</kbd>
            </td>
            <td>{does}</td>
          </tr>
        ))}
      </ListTable>
      <Check label="Use single-letter shortcuts" checked={singleKeys.value} onChange={setSingleKeys} />
    </Dialog>
  );
}
