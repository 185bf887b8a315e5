import { cellText } from '../../model/cell-text.ts';
import type { RowProblem } from '../../model/import-plan.ts';
import { type ImportCell, unitOf } from '../../model/import-text.ts';
import { Icon } from '../../parts/icon.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { counted } from './import-report.tsx';
import type { ImportFlow } from './use-import.ts';

const MAX_ROWS = 10;
const MAX_PROBLEMS = 200;
const MAX_CHARACTERS = 60;

function cellShown(cell: ImportCell): string {
  const text = cellText(cell) ?? '';
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

/** The columns with their targets, the first rows, and all rows with errors. */
export function ImportPreview({ flow }: { readonly flow: ImportFlow }) {
  const { table, plan, mapping, targets, rows } = flow;
  if (table === undefined || plan === undefined || targets === undefined) return null;
  const wrong = plan.objects.length - rows.length;
  const missing = targets.filter(({ name, isRequired }) => isRequired && !mapping.includes(name));
  const unit = unitOf(table);
  return (
    <>
      <p role="status">
        <strong>{counted(plan.objects.length, 'row')}</strong> of {table.format}, {wrong === 0 ? 'none' : wrong.toLocaleString('en')} with
        errors
      </p>
      {missing.length > 0 && (
        <p class="error-text">
          <Icon name="warn" /> No column for {missing.map(({ name }) => name).join(', ')}, which {missing.length === 1 ? 'is' : 'are'}{' '}
          required
        </p>
      )}
      {plan.problems.length > 0 && <Problems flow={flow} problems={plan.problems} unit={unit} />}
      <div class="grid-frame grid-medium" role="region" aria-label="Preview" tabIndex={0}>
        <table class="grid">
          <caption class="visually-hidden">First rows of the import</caption>
          <thead>
            <tr>
              <th scope="col">{unit}</th>
              {mapping.map((target, index) => (
                <th key={index} scope="col">
                  <label class="row-tight">
                    <span>{table.columns[index] || `Column ${index + 1}`}</span>
                    <Icon name="right" />
                    <select
                      class="select input-small"
                      aria-label={`Target of ${table.columns[index] || `column ${index + 1}`}`}
                      value={target ?? ''}
                      onChange={(event) => flow.map(index, event.currentTarget.value || undefined)}
                    >
                      <option value="">not imported</option>
                      {targets.map(({ name }) => (
                        <option key={name} value={name}>
                          {name}
                        </option>
                      ))}
                    </select>
                  </label>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.slice(0, MAX_ROWS).map((cells, row) => (
              <tr key={row} class={plan.objects[row] === undefined ? 'is-wrong' : ''}>
                <td>{table.lines[row]}</td>
                {mapping.map((_, index) => (
                  <td key={index}>{cellShown(cells[index])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {table.rows.length > MAX_ROWS && <span class="muted small">The first {MAX_ROWS} rows are shown.</span>}
    </>
  );
}

function Problems({
  flow: { table, mapping },
  problems,
  unit,
}: {
  readonly flow: ImportFlow;
  readonly problems: readonly RowProblem[];
  readonly unit: string;
}) {
  return (
    <div class="import-problems" role="region" aria-label="Rows with errors" tabIndex={0}>
      <ListTable name="Rows with errors" columns={[unit, 'Column', 'Error', 'Value']}>
        {problems.slice(0, MAX_PROBLEMS).map(({ row, column, reason }) => (
          <tr key={`${row} ${column}`}>
            <td class="number nowrap">{table?.lines[row]}</td>
            <td>{column}</td>
            <td>{reason}</td>
            <td class="mono">{column === undefined ? '' : cellShown(table?.rows[row]?.[mapping.indexOf(column)])}</td>
          </tr>
        ))}
      </ListTable>
      {problems.length > MAX_PROBLEMS && (
        <p class="muted small">{(problems.length - MAX_PROBLEMS).toLocaleString('en')} more errors are not listed.</p>
      )}
    </div>
  );
}
