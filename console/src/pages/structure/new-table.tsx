import { useRef, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { failureOf } from '../../api/failure.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { go } from '../../browser/place.ts';
import { canDefine, type ColumnDefinition, type Definition } from '../../model/definitions.ts';
import { type SourceOverview, tableId, tableJson } from '../../model/overview.ts';
import { STRUCTURES } from '../../model/structures.generated.ts';
import { Button } from '../../parts/button.tsx';
import { Check } from '../../parts/field.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { showToast } from '../../parts/toast.tsx';
import { EMPTY_COLUMN } from './column-dialog.tsx';
import { ColumnFields, useEnumNames } from './column-fields.tsx';
import { DefinitionDialog } from './definition-dialog.tsx';

interface RowDraft extends ColumnDefinition {
  readonly key: number;
  readonly isInPrimaryKey: boolean;
}

/** Button that opens the form for a new table; nothing for kinds without it. */
export function NewTableButton({ source }: { readonly source: SourceOverview }) {
  const [isOpen, setOpen] = useState(false);
  if (!canDefine(STRUCTURES[source.kind], 'create-table')) return null;
  return (
    <>
      <Button icon="plus" refusal={readOnlyRefusal} onClick={() => setOpen(true)}>
        New table
      </Button>
      {isOpen && <NewTable source={source} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Creates a table and tracks it. */
function NewTable({ source, onClose }: { readonly source: SourceOverview; onClose(): void }) {
  const types = useEnumNames(source);
  const form = STRUCTURES[source.kind];
  const [schema, setSchema] = useState(source.defaultSchema);
  const [name, setName] = useState('');
  const [comment, setComment] = useState('');
  const [isTracked, setTracked] = useState(true);
  const [rows, setRows] = useState<readonly RowDraft[]>([
    { ...EMPTY_COLUMN, key: 0, name: 'id', type: form?.generated.type ?? '', isGenerated: true, isRequired: true, isInPrimaryKey: true },
    { ...EMPTY_COLUMN, key: 1, isInPrimaryKey: false },
  ]);
  const firstRows = useRef(rows).current;
  if (form === undefined) return null;
  const change = (key: number, changes: Partial<RowDraft>): void =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...changes } : row)));
  // A row without a name is not filled in yet.
  const columns = rows.filter((row) => row.name !== '');
  const table = { schema, name };
  const definition: Definition = {
    ...{ kind: 'create-table', table, columns, comment },
    primaryKey: columns.filter((row) => row.isInPrimaryKey).map((row) => row.name),
  };
  const missing = name === '' ? 'Enter a name' : columns.length === 0 ? 'Add a column' : undefined;
  return (
    <DefinitionDialog
      title="New table"
      action="Create table"
      source={source}
      definitions={[definition]}
      refusal={missing}
      isEdited={rows !== firstRows}
      onClose={onClose}
      onDone={async () => {
        if (isTracked) await track(source, table);
        else go(['data', source.name]);
      }}
    >
      <div class="row fields">
        <TextField label="Name" value={name} onInput={setName} />
        {source.defaultSchema !== '' && <TextField label="Schema" value={schema} onInput={setSchema} />}
        <TextField label="Comment" value={comment} onInput={setComment} />
      </div>
      <h3>Columns</h3>
      {rows.map((row, index) => (
        <fieldset key={row.key} class="stack-tight column-draft">
          <legend>{row.name === '' ? `Column ${index + 1}` : row.name}</legend>
          <ColumnFields form={form} draft={row} types={types} hasComment={false} onChange={(draft) => change(row.key, draft)} />
          <div class="row">
            <Check label="Primary key" checked={row.isInPrimaryKey} onChange={(isInPrimaryKey) => change(row.key, { isInPrimaryKey })} />
            <span class="grow" />
            {rows.length > 1 && (
              <Button
                small
                kind="quiet"
                icon="trash"
                name={`Remove column ${row.name === '' ? index + 1 : row.name}`}
                onClick={() => setRows(rows.filter(({ key }) => key !== row.key))}
              />
            )}
          </div>
        </fieldset>
      ))}
      <div>
        <Button
          small
          icon="plus"
          onClick={() => setRows([...rows, { ...EMPTY_COLUMN, key: Math.max(...rows.map(({ key }) => key)) + 1, isInPrimaryKey: false }])}
        >
          Add column
        </Button>
      </div>
      <Check label="Track the table in the API" checked={isTracked} onChange={setTracked} />
    </DefinitionDialog>
  );
}

/** Tracks a table that was created just now, and opens its page. */
async function track(
  { name: source, kind, defaultSchema }: SourceOverview,
  name: { readonly schema: string; readonly name: string },
): Promise<void> {
  const table = tableJson({ kind, ...name });
  const id = tableId(name);
  try {
    await makeChange({
      title: `Track ${id}`,
      steps: () => [{ type: `${kind}_track_tables`, args: { tables: [{ source, table }] } }],
      inverse: [{ type: `${kind}_untrack_tables`, args: { tables: [{ source, table, cascade: true }] } }],
    });
    go(['data', source, tableId({ ...name, schema: name.schema === '' ? defaultSchema : name.schema })], { tab: 'structure' });
  } catch (error) {
    showToast(`${id} was not tracked: ${failureOf(error).message}`, { isError: true });
  }
}
