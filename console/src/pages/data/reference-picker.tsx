import { useState } from 'preact/hooks';
import { persona } from '../../api/persona.ts';
import { type ReadableTable, readableTable, readRows } from '../../api/rows.ts';
import type { NamedTableInfo } from '../../api/table-info.ts';
import { readType } from '../../api/types.ts';
import { useResource } from '../../api/use-resource.ts';
import { scopeOf } from '../../features/filter-builder/scope.ts';
import { cellText } from '../../model/cell-text.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { type Persona, personaLabel } from '../../model/persona.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Search } from '../../parts/field.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import type { Reference } from './references.ts';

const MAX_ROWS = 50;
/** Columns that are shown beside the referenced ones. */
const MAX_OTHERS = 3;
const MAX_CHARACTERS = 80;

interface Target {
  readonly info: NamedTableInfo;
  /** Referenced columns by their names in the GraphQL schema, then others. */
  readonly columns: ReadableTable['columns'];
  /** Comparison that ignores case, if the database has it. */
  readonly like: string;
}

/** Reads the referenced table; undefined if the persona cannot read the referenced columns. @throws Failure */
async function readTarget(as: Persona, table: TableOverview, { columns }: Reference): Promise<Target | undefined> {
  const { info } = await scopeOf(table);
  const { names } = info;
  const readable = names === undefined ? undefined : await readableTable(as, names);
  if (names === undefined || readable === undefined) return undefined;
  const wanted = columns.map(([, to]) => info.columnNames.get(to) ?? to);
  const keys = wanted.flatMap((name) => readable.columns.find((column) => column.name === name) ?? []);
  if (keys.length < wanted.length) return undefined;
  const order = [...info.columnNames.values()];
  const others = readable.columns
    .filter(({ name }) => !wanted.includes(name))
    .toSorted((a, b) => Number(isText(b)) - Number(isText(a)) || order.indexOf(a.name) - order.indexOf(b.name));
  const where = (await readType(as, names.boolExp))?.inputFields.get(others.find(isText)?.name ?? '')?.name;
  const operators = where === undefined ? undefined : (await readType(as, where))?.inputFields;
  return {
    info: { ...info, names },
    columns: [...keys, ...others.slice(0, MAX_OTHERS)],
    like: operators?.has('_ilike') === true ? '_ilike' : '_like',
  };
}

function isText({ type }: ReadableTable['columns'][number]): boolean {
  return /^(?:String|citext|varchar|bpchar|text)!?$/.test(type.text);
}

/** Returns the condition for rows with the searched text in one of the shown columns. */
function searched(query: string, { columns, like }: Target): JsonObject {
  const text = query.trim();
  if (text === '') return {};
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  const tests = columns.flatMap((column): JsonObject[] => {
    if (isText(column)) return [{ [column.name]: { [like]: pattern } }];
    return column.isNumber && /^-?\d{1,15}$/.test(text) ? [{ [column.name]: { _eq: Number(text) } }] : [];
  });
  return { _or: tests };
}

interface PickerProps {
  readonly table: TableOverview;
  readonly reference: Reference;
  onClose(): void;
  /** Called with the values of the own columns. */
  onPick(values: Readonly<Record<string, Json>>): void;
}

/** Finds a row of the referenced table, as the persona. */
export function ReferencePicker({ table, reference, onClose, onPick }: PickerProps) {
  const as = persona.value;
  const [query, setQuery] = useState('');
  const { value: target, failure } = useResource(() => readTarget(as, table, reference).then((found) => ({ found })), tableId(table));
  const name = tableId(table);
  return (
    <Dialog title={`Select a row of ${name}`} kind="wide" onClose={onClose}>
      <Search name={`Search ${name}`} value={query} onInput={setQuery} />
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {target === undefined && failure === undefined && <Loading what="the table" />}
      {target !== undefined && target.found === undefined && (
        <EmptyState icon="shield" title={`${personaLabel(as)} cannot read the referenced columns of ${name}`} />
      )}
      {target?.found !== undefined && <Found target={target.found} query={query} reference={reference} name={name} onPick={onPick} />}
    </Dialog>
  );
}

const PAUSE_MS = 150;

function Found({
  target,
  query,
  reference,
  name,
  onPick,
}: {
  readonly target: Target;
  readonly query: string;
  readonly reference: Reference;
  readonly name: string;
} & Pick<PickerProps, 'onPick'>) {
  const as = persona.value;
  const shown = target.columns.map((column) => column.name);
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => {
      // One request for several letters: the next letter cancels this one.
      if (query !== '') await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      signal.throwIfAborted();
      const order = shown.slice(0, reference.columns.length).map((column) => [column, 'asc'] as const);
      return readRows(as, target.info.names, shown, { where: searched(query, target), order, limit: MAX_ROWS + 1, offset: 0 }, signal);
    },
    query,
    { keeps: true },
  );
  if (failure !== undefined) return <ErrorBox error={shownError(failure)} onRetry={reload} />;
  if (value === undefined) return <Loading what="the rows" />;
  if (value.length === 0) return <EmptyState icon="table" title={isLoading ? 'Searching …' : 'No rows found'} />;
  return (
    <>
      <ListTable name={`Rows of ${name}`} columns={shown}>
        {value.slice(0, MAX_ROWS).map((row) => (
          <tr
            key={shown
              .slice(0, reference.columns.length)
              .map((column) => cellText(row[column]))
              .join(' ')}
          >
            {shown.map((column, index) => {
              const text = (cellText(row[column]) ?? 'null').slice(0, MAX_CHARACTERS);
              if (index > 0) return <td key={column}>{text}</td>;
              return (
                <td key={column}>
                  <button
                    type="button"
                    class="button-link"
                    onClick={() =>
                      onPick(Object.fromEntries(reference.columns.map(([own], place) => [own, row[shown[place] ?? ''] ?? null])))
                    }
                  >
                    {text}
                  </button>
                </td>
              );
            })}
          </tr>
        ))}
      </ListTable>
      {value.length > MAX_ROWS && <p class="muted small">Only the first {MAX_ROWS} rows are shown. Search for others.</p>}
    </>
  );
}
