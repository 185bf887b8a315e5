import { useState } from 'preact/hooks';
import { readOnlyRefusal } from '../../api/settings.ts';
import type { ColumnInfo, TableInfo } from '../../api/table-info.ts';
import { hrefOf } from '../../browser/place.ts';
import { canDefine } from '../../model/definitions.ts';
import type { TableOverview } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { STRUCTURES } from '../../model/structures.generated.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { ColumnForms } from '../structure/column-dialog.tsx';
import { TableStructureView } from '../structure/table-structure.tsx';
import { type TableNames, useTableNames } from './use-table-names.ts';

interface StructureProps {
  readonly table: TableOverview;
  readonly info: TableInfo;
}

interface EditableProps extends StructureProps {
  /** Reads the description of the table again. */
  onDone(): void;
}

/** Columns, keys and indexes of a table in its database, with their names in the API. */
export function Structure({ table, info, onDone }: EditableProps) {
  const names = useTableNames(table, info);
  return (
    <>
      {names.failure !== undefined && <ErrorBox error={shownError(names.failure)} />}
      <Columns table={table} info={info} names={names} onDone={onDone} />
      <ApiNames table={table} info={info} names={names} />
      {STRUCTURES[table.kind] === undefined ? (
        <ForeignKeys table={table} info={info} />
      ) : (
        <TableStructureView table={table} info={info} onDone={onDone} />
      )}
    </>
  );
}

function Columns({ table, info, names, onDone }: EditableProps & { readonly names: TableNames }) {
  const [opened, setOpened] = useState<{ readonly form: 'new' | 'edit' | 'drop'; readonly column?: ColumnInfo } | null>(null);
  const canAdd = !table.isView && canDefine(STRUCTURES[table.kind], 'add-column');
  return (
    <section class="card">
      <header>
        <h2 class="grow">Columns</h2>
        {canAdd && (
          <Button small icon="plus" refusal={readOnlyRefusal} onClick={() => setOpened({ form: 'new' })}>
            Add column
          </Button>
        )}
      </header>
      <ListTable name="Columns" columns={['Column', 'Type', 'Nullable', 'Default', 'GraphQL name', ...(canAdd ? [ACTIONS] : [])]}>
        {info.columns.map((column) => (
          <tr key={column.name}>
            <td>
              <strong>{column.name}</strong> {info.primaryKey.includes(column.name) && <span class="badge badge-accent">primary key</span>}
              {column.description !== undefined && <p class="muted small">{column.description}</p>}
            </td>
            <td class="mono">{column.type}</td>
            <td class="nowrap">{column.isNullable ? 'yes' : <span class="muted">no</span>}</td>
            <td class="mono small">{column.default ?? ''}</td>
            <td>
              <input
                class="input input-small"
                aria-label={`GraphQL name of ${column.name}`}
                placeholder={info.columnNames.get(column.name) ?? column.name}
                value={names.column(column.name)}
                spellcheck={false}
                onInput={(event) => names.setColumn(column.name, event.currentTarget.value)}
              />
            </td>
            {canAdd && (
              <td class="nowrap">
                <Button
                  small
                  kind="quiet"
                  icon="edit"
                  name={`Edit column ${column.name}`}
                  refusal={readOnlyRefusal}
                  onClick={() => setOpened({ form: 'edit', column })}
                />
                <Button
                  small
                  kind="quiet"
                  icon="trash"
                  name={`Drop column ${column.name}`}
                  refusal={readOnlyRefusal}
                  onClick={() => setOpened({ form: 'drop', column })}
                />
              </td>
            )}
          </tr>
        ))}
      </ListTable>
      {opened !== null && <ColumnForms table={table} {...opened} onClose={() => setOpened(null)} onDone={onDone} />}
    </section>
  );
}

function ApiNames({ table, info, names }: StructureProps & { readonly names: TableNames }) {
  return (
    <section class="card">
      <header>
        <h2>GraphQL</h2>
      </header>
      <div class="stack">
        <Field
          label="Custom table name"
          hint={
            info.names === undefined
              ? 'The table name is not a valid GraphQL name.'
              : `Type ${info.names.type}, query field ${info.names.select}.`
          }
        >
          {(id) => (
            <input
              id={id}
              class="input narrow-input"
              placeholder={info.names?.type ?? ''}
              value={names.table}
              spellcheck={false}
              onInput={(event) => names.setTable(event.currentTarget.value)}
            />
          )}
        </Field>
        <Check label="Use rows as enum values" checked={names.isEnum} onChange={names.setEnum} />
        <div class="row">
          <Button kind="primary" title={`${table.kind}_set_table_customization`} refusal={names.refusal} onClick={() => void names.save()}>
            Save
          </Button>
          <Button refusal={names.unchanged} onClick={names.reset}>
            Reset
          </Button>
        </div>
      </div>
    </section>
  );
}

function ForeignKeys({ table, info }: StructureProps) {
  return (
    <section class="card">
      <header>
        <h2>Foreign keys</h2>
      </header>
      {info.foreignKeys.length === 0 ? (
        <p class="muted">No foreign keys</p>
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
  );
}
