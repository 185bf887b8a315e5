import type { ImportResult } from '../../api/import-rows.ts';
import { download } from '../../browser/clipboard.ts';
import { csvOf } from '../../model/delimited.ts';
import { printJson } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { shownError } from '../../parts/shown-error.ts';
import type { ImportFlow, ImportMode } from './use-import.ts';

/** Returns such as `1 row` or `5,000 rows`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

interface Left {
  readonly row: number | undefined;
  readonly reason: string;
}

/** Rows that were not inserted, each with its reasons, in the order of the import. */
function leftRows({ plan }: ImportFlow, { rejected }: ImportResult): readonly Left[] {
  const skipped = Map.groupBy(plan?.problems ?? [], ({ row }) => row);
  const local = [...skipped].map(([row, problems]) => ({
    row,
    reason: problems.map(({ column, reason }) => (column === undefined ? reason : `${column}: ${reason}`)).join('; '),
  }));
  return [...local, ...rejected].toSorted((a, b) => (a.row ?? -1) - (b.row ?? -1));
}

const ENDS = {
  done: undefined,
  limit: 'Stopped after too many rejected rows. The other rows were not sent.',
  stopped: 'Stopped. The other rows were not sent.',
  failed: 'The service did not accept the request. The other rows were not inserted.',
} as const;

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
  const left = leftRows(flow, result);
  const unit = table?.format === 'JSON' ? 'Item' : 'Line';
  const end = ENDS[result.end];
  const save = (): void => {
    if (table === undefined) return;
    const rows = left.flatMap(({ row, reason }) => {
      if (row === undefined) return [];
      return [
        [
          ...(table.rows[row] ?? []).map((cell) =>
            cell === null || cell === undefined ? null : typeof cell === 'string' ? cell : printJson(cell),
          ),
          reason,
        ],
      ];
    });
    const names = flow.mapping.map((target, index) => table.columns[index] || (target ?? `column ${index + 1}`));
    download('rejected-rows.csv', csvOf([[...names, 'error'], ...rows]), 'text/csv');
  };
  return (
    <>
      <p role="status">
        <strong>{counted(result.inserted, 'row')} inserted</strong>
        {left.length > 0 && `, ${counted(left.length, 'row')} not inserted`}
        {mode === 'all' && result.inserted === 0 && '. No row was inserted, because some were rejected.'}
      </p>
      {result.failure !== undefined && <ErrorBox error={shownError(result.failure)} />}
      {end !== undefined && <p>{end}</p>}
      {left.length > 0 && (
        <>
          <div class="import-problems" role="region" aria-label="Rows with errors" tabIndex={0}>
            <ListTable name="Rows that were not inserted" columns={[unit, 'Reason']}>
              {left.map(({ row, reason }) => (
                <tr key={row ?? 'unknown'}>
                  <td class="number nowrap">{row === undefined ? 'unknown' : table?.lines[row]}</td>
                  <td>{reason}</td>
                </tr>
              ))}
            </ListTable>
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
