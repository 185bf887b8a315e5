import { countLeft, type ImportResult, leftRows } from '../../api/import-rows.ts';
import { download } from '../../browser/clipboard.ts';
import { cellText } from '../../model/cell-text.ts';
import { csvOf } from '../../model/delimited.ts';
import { type ImportTable, unitOf } from '../../model/import-text.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { shownError } from '../../parts/shown-error.ts';
import type { ImportFlow, ImportMode } from './use-import.ts';

/** Returns such as `1 row` or `5,000 rows`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Maximum number of entries in the list; the download has all. */
const MAX_LISTED = 1000;

/** Says how the import ended, if not after the last row. */
function endOf(table: ImportTable, { end, rejected, uncertain }: ImportResult, mode: ImportMode): string | undefined {
  const rest = mode === 'valid' ? ' The other rows were not sent.' : '';
  switch (end) {
    case 'done':
      return undefined;
    case 'limit':
      return `Stopped after ${counted(rejected.length, 'rejected row')}.${rest}`;
    case 'stopped':
      return `Stopped.${rest}`;
    case 'failed':
      return 'The service did not accept the request. The other rows were not inserted.';
    case 'unknown': {
      const places = placesOf(table, uncertain[0], uncertain.at(-1));
      const unit = `${unitOf(table)}${uncertain.length === 1 ? '' : 's'}`;
      return `${unit} ${places} may or may not have been inserted. Check before you import them again.${rest}`;
    }
  }
}

/** Returns the lines of rows, such as `2–501`. */
function placesOf({ lines }: ImportTable, first: number | undefined, last: number | undefined): string {
  if (first === undefined || last === undefined) return 'unknown';
  const [start, end] = [lines[first] ?? first + 1, lines[last] ?? last + 1];
  return first === last ? String(start) : `${start}–${end}`;
}

/** Says how many rows were inserted, as far as that is certain. */
function insertedText({ inserted, end, rejected }: ImportResult, left: number, mode: ImportMode) {
  const isCertain = end !== 'unknown';
  return (
    <p role="status">
      {(isCertain || inserted > 0) && <strong>{counted(inserted, 'row')} inserted</strong>}
      {left > 0 && `${isCertain || inserted > 0 ? ', ' : ''}${counted(left, 'row')} not inserted`}
      {!isCertain && inserted === 0 && left === 0 && <strong>It is not known whether rows were inserted</strong>}
      {mode === 'all' &&
        isCertain &&
        inserted === 0 &&
        `. No row was inserted${rejected.length > 0 ? ', because some were rejected' : ''}.`}
    </p>
  );
}

/** Result of an import, with every row that was not inserted and why. */
export function ImportReport({
  flow,
  result,
  mode,
}: {
  readonly flow: ImportFlow;
  readonly result: ImportResult;
  readonly mode: ImportMode;
}) {
  const { table } = flow;
  if (table === undefined) return null;
  const left = leftRows(flow.plan?.problems ?? [], result);
  const end = endOf(table, result, mode);
  const save = (): void => {
    const rows = left.flatMap(({ first, last, reason }) => {
      if (first === undefined || last === undefined) return [];
      return table.rows.slice(first, last + 1).map((cells) => [...cells.map(cellText), reason]);
    });
    const names = flow.mapping.map((target, index) => table.columns[index] || (target ?? `column ${index + 1}`));
    download('rejected-rows.csv', csvOf([[...names, 'error'], ...rows]), 'text/csv');
  };
  return (
    <>
      {insertedText(result, countLeft(left), mode)}
      {result.failure !== undefined && <ErrorBox error={shownError(result.failure)} />}
      {end !== undefined && <p>{end}</p>}
      {left.length > 0 && (
        <>
          <div class="import-problems" role="region" aria-label="Rows with errors" tabIndex={0}>
            <ListTable name="Rows that were not inserted" columns={[unitOf(table), 'Reason']}>
              {left.slice(0, MAX_LISTED).map(({ first, last, reason }) => (
                <tr key={first ?? 'unknown'}>
                  <td class="number nowrap">{placesOf(table, first, last)}</td>
                  <td>{reason}</td>
                </tr>
              ))}
            </ListTable>
            {left.length > MAX_LISTED && (
              <p class="muted small">
                {(left.length - MAX_LISTED).toLocaleString('en')} more are not listed. The download has all of them.
              </p>
            )}
          </div>
          <div>
            <Button icon="download" onClick={save}>
              Download these rows
            </Button>
          </div>
        </>
      )}
    </>
  );
}
