import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { readTableInfo, type TableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import type { JsonObject } from '../../model/json.ts';
import { findTable, type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { ComboboxField } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { shownError } from '../../parts/shown-error.ts';
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
  const [failure, setFailure] = useState<Failure>();
  const tables = data.sources.find(({ name: each }) => each === table.source)?.tables ?? [];
  const found = findTable(data, table.source, target);
  const { value: columns } = useResource(
    async (signal) => (found === undefined ? [] : (await readTableInfo(found, signal)).columns),
    `${target}`,
  );
  const apply = async (): Promise<void> => {
    if (found === undefined) return;
    try {
      await create(table, form, name, { remote_table: tableJson(found), column_mapping: { [from]: to } });
      onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <Dialog
      title={`New relationship of ${tableId(table)}`}
      onClose={onClose}
      onSubmit={() => void apply()}
      footer={
        <Button
          kind="primary"
          refusal={name === '' || found === undefined || from === '' || to === '' ? 'Fill in all fields' : undefined}
          onClick={() => void apply()}
        >
          Create
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
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
    </Dialog>
  );
}

/** @throws Failure */
async function create(table: TableOverview, form: 'object' | 'array', name: string, manual: JsonObject): Promise<void> {
  const { source, kind } = table;
  const place = { source, table: tableJson(table) };
  await makeChange({
    title: `Create relationship ${name}`,
    steps: () => [{ type: `${kind}_create_${form}_relationship`, args: { ...place, name, using: { manual_configuration: manual } } }],
    inverse: [{ type: `${kind}_drop_relationship`, args: { ...place, relationship: name } }],
  });
}
