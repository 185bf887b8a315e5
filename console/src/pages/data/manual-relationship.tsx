import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { readTableInfo, type TableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import type { JsonObject } from '../../model/json.ts';
import { findTable, type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { ComboboxField } from '../../parts/combobox.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';

interface ManualRelationshipProps {
  readonly data: Overview;
  readonly table: TableOverview;
  readonly info: TableInfo;
  onClose(): void;
}

/** A relationship by equal columns, for views and other tables without a foreign key. */
export function ManualRelationship({ data, table, info, onClose }: ManualRelationshipProps) {
  const [name, setName] = useState('');
  const [form, setForm] = useState<'object' | 'array'>('object');
  const [target, setTarget] = useState('');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const tables = data.sources.find(({ name: each }) => each === table.source)?.tables ?? [];
  const found = findTable(data, table.source, target);
  const { value: columns } = useResource(
    async (signal) => (found === undefined ? [] : (await readTableInfo(found, signal)).columns),
    `${target}`,
  );
  return (
    <FormDialog
      title={`New relationship of ${tableId(table)}`}
      action="Create"
      operation={`${table.kind}_create_${form}_relationship`}
      refusal={name === '' || found === undefined || from === '' || to === '' ? 'Fill in all fields' : undefined}
      onClose={onClose}
      onSave={async () =>
        found !== undefined && (await create(table, form, name, { remote_table: tableJson(found), column_mapping: { [from]: to } }))
      }
    >
      <p class="muted">Joins rows by equal columns without a foreign key, for example for views.</p>
      <Segments
        name="Relationship type"
        options={[
          ['object', 'Object (one row)'],
          ['array', 'Array (many rows)'],
        ]}
        chosen={form}
        onChoose={setForm}
      />
      <TextField label="Name" value={name} onInput={setName} />
      <ComboboxField label="Table" value={target} options={tables.map((each) => ({ value: tableId(each) }))} strict onChange={setTarget} />
      <div class="row">
        <ComboboxField
          label="From column"
          value={from}
          options={info.columns.map((each) => ({ value: each.name, note: each.type }))}
          strict
          onChange={setFrom}
        />
        <ComboboxField
          label="To column"
          value={to}
          options={(columns ?? []).map((each) => ({ value: each.name, note: each.type }))}
          strict
          onChange={setTo}
        />
      </div>
    </FormDialog>
  );
}

/** @returns false if the review was discarded @throws Failure */
async function create(table: TableOverview, form: 'object' | 'array', name: string, manual: JsonObject): Promise<boolean> {
  const { source, kind } = table;
  const place = { source, table: tableJson(table) };
  const done = await makeChange({
    title: `Create relationship ${name}`,
    steps: () => [{ type: `${kind}_create_${form}_relationship`, args: { ...place, name, using: { manual_configuration: manual } } }],
    inverse: [{ type: `${kind}_drop_relationship`, args: { ...place, relationship: name } }],
  });
  return done !== null;
}
