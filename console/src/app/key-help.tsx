import { allKeys, setSingleKeys, singleKeys } from '../browser/keys.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Check } from '../parts/field.tsx';
import { ListTable } from '../parts/list-table.tsx';

const IN_PARTS = [
  ['Arrows, Home, End, PgUp, PgDn', 'move in a table'],
  ['Shift+Arrows', 'select cells'],
  ['Ctrl+C', 'copy cells, as a spreadsheet takes them'],
  ['Enter', 'open a row or cell'],
  ['F2', 'edit a cell in its place'],
  ['Ctrl+Enter', 'run, or apply a dialog'],
  ['Ctrl+Space', 'complete what is written in an editor'],
  ['Esc', 'close the list of completions, else the dialog'],
  ['Esc, then Tab', 'leave an editor whose list is closed'],
] as const;

const shown = (keys: string): readonly string[] => keys.replace('mod+', 'Ctrl+').split(' ');

export function KeyHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <ListTable name="Keys" columns={['Keys', 'What they do']}>
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
        {IN_PARTS.map(([keys, does]) => (
          <tr key={keys}>
            <td class="nowrap">
              <kbd>{keys}</kbd>
            </td>
            <td>{does}</td>
          </tr>
        ))}
      </ListTable>
      <Check label="Single letters are keys" checked={singleKeys.value} onChange={setSingleKeys} />
    </Dialog>
  );
}
