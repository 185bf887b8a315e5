import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { hrefOf } from '../../browser/place.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { tableSteps } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** Columns and keys as the database has them, and the names that the API gives them. */
export function Structure({ table, info }: { readonly table: TableOverview; readonly info: TableInfo }) {
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const [typeName, setTypeName] = useState<string>();
  const [isEnum, setEnum] = useState<boolean>();
  /** The names as they were stored when the draft began. */
  const [began, setBegan] = useState<Json>();
  const begin = (): void => {
    if (began === undefined) setBegan(namesIn(info.entry));
  };
  const [failure, setFailure] = useState<Failure>();
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  const configuration: JsonObject = isObject(info.entry?.['configuration']) ? info.entry['configuration'] : {};
  const columnConfig: JsonObject = isObject(configuration['column_config']) ? configuration['column_config'] : {};
  const customOf = (column: string): string => {
    const each = columnConfig[column];
    return isObject(each) && typeof each['custom_name'] === 'string' ? each['custom_name'] : '';
  };
  const currentType = typeof configuration['custom_name'] === 'string' ? configuration['custom_name'] : '';
  const isChanged =
    Object.entries(names).some(([column, name]) => name !== customOf(column)) ||
    (typeName !== undefined && typeName !== currentType) ||
    (isEnum !== undefined && isEnum !== table.isEnum);
  const apply = async (): Promise<void> => {
    setFailure(undefined);
    try {
      const changed = (entry: JsonObject): JsonObject => ({
        ...entry,
        configuration: changedConfiguration(entry),
        ...(isEnum === undefined ? {} : { is_enum: isEnum }),
      });
      const done = await makeChange({
        title: `Names of ${tableId(table)}`,
        tables: [address],
        draft: {
          before: began ?? namesIn(info.entry),
          now: ([entry]) => namesIn(entry),
          after: ([entry]) => namesIn(changed(entry ?? {})),
        },
        steps: ([entry]) => {
          if (entry === null || entry === undefined) throw new Error('the table is no longer tracked');
          return tableSteps(address, entry, changed(entry));
        },
      });
      if (done !== null) reset();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const reset = (): void => {
    setNames({});
    setTypeName(undefined);
    setEnum(undefined);
    setBegan(undefined);
  };
  const changedConfiguration = (entry: JsonObject): JsonObject => {
    const before: JsonObject = isObject(entry['configuration']) ? entry['configuration'] : {};
    const columns: Record<string, JsonObject> = {};
    for (const [column, each] of Object.entries(isObject(before['column_config']) ? before['column_config'] : {}))
      if (isObject(each)) columns[column] = each;
    for (const [column, name] of Object.entries(names)) {
      const { custom_name: _, ...rest } = columns[column] ?? {};
      columns[column] = name.trim() === '' ? rest : { ...rest, custom_name: name.trim() };
    }
    const { custom_name: given, custom_column_names: _, ...others } = before;
    const custom = typeName === undefined ? given : typeName.trim();
    return {
      ...others,
      column_config: columns,
      ...(custom === undefined || custom === null || custom === '' ? {} : { custom_name: custom }),
    };
  };
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <section class="card">
        <header>
          <h2 class="grow">Columns</h2>
          <a class="button button-small" href={hrefOf(['sql'], { source: table.source, sql: `alter table ${quoted(table)} add column ` })}>
            Change with SQL
          </a>
        </header>
        <ListTable name="Columns" columns={['Column', 'Type', 'Null', 'Default', 'Name in the API']}>
          {info.columns.map((column) => (
            <tr key={column.name}>
              <td>
                <strong>{column.name}</strong> {info.primaryKey.includes(column.name) && <span class="badge badge-accent">key</span>}
                {column.description !== undefined && <p class="muted small">{column.description}</p>}
              </td>
              <td class="mono">{column.type}</td>
              <td>{column.isNullable ? 'yes' : <span class="muted">no</span>}</td>
              <td class="mono small">{column.default ?? ''}</td>
              <td>
                <input
                  class="input input-small"
                  aria-label={`Name of ${column.name} in the API`}
                  placeholder={info.columnNames.get(column.name) ?? column.name}
                  value={names[column.name] ?? customOf(column.name)}
                  spellcheck={false}
                  onInput={(event) => {
                    begin();
                    setNames({ ...names, [column.name]: event.currentTarget.value });
                  }}
                />
              </td>
            </tr>
          ))}
        </ListTable>
      </section>
      <section class="card">
        <header>
          <h2>In the API</h2>
        </header>
        <div class="stack">
          <Field
            label="Name of the table"
            hint={
              info.names === undefined
                ? 'GraphQL does not have it under its own name.'
                : `Its type is ${info.names.type}; it is read by ${info.names.select}.`
            }
          >
            {(id) => (
              <input
                id={id}
                class="input narrow-input"
                placeholder={info.names?.type ?? ''}
                value={typeName ?? currentType}
                spellcheck={false}
                onInput={(event) => {
                  begin();
                  setTypeName(event.currentTarget.value);
                }}
              />
            )}
          </Field>
          <Check
            label="Its rows are the values of an enum"
            checked={isEnum ?? table.isEnum}
            onChange={(on) => {
              begin();
              setEnum(on);
            }}
          />
          <div class="row">
            <Button
              kind="primary"
              title={`${table.kind}_set_table_customization`}
              refusal={isReadOnly ? READ_ONLY_REASON : isChanged ? undefined : 'Nothing is changed'}
              onClick={() => void apply()}
            >
              Save names
            </Button>
            <Button refusal={isChanged ? undefined : 'Nothing is changed'} onClick={reset}>
              Reset
            </Button>
          </div>
        </div>
      </section>
      <section class="card">
        <header>
          <h2>Foreign keys</h2>
        </header>
        {info.foreignKeys.length === 0 ? (
          <p class="muted">None.</p>
        ) : (
          <ul class="stack-tight">
            {info.foreignKeys.map((key) => (
              <li key={key.constraint}>
                <span class="mono">{key.columns.map(([column]) => column).join(', ')}</span> →{' '}
                <a href={hrefOf(['data', table.source, labelOf(key.table)])}>{labelOf(key.table)}</a>{' '}
                <span class="mono">{key.columns.map(([, to]) => to).join(', ')}</span> <span class="muted small">{key.constraint}</span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

/** Part of a table's entry that the form edits. */
function namesIn(entry: JsonObject | null | undefined): Json {
  return { configuration: entry?.['configuration'] ?? {}, is_enum: entry?.['is_enum'] === true };
}

function quoted({ schema, name }: TableOverview): string {
  const part = (text: string): string => (/^[a-z_][a-z0-9_]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`);
  return schema === '' ? part(name) : `${part(schema)}.${part(name)}`;
}
