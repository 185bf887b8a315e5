import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { readTableInfo, type TableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { findTable, type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { Combobox } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';

/** A relationship by equal columns, for views and other tables without a foreign key. */
export function ManualRelationship({
  data,
  table,
  info,
  onClose,
}: {
  readonly data: Overview;
  readonly table: TableOverview;
  readonly info: TableInfo;
  onClose(): void;
}) {
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
    const using = { manual_configuration: { remote_table: tableJson(found), column_mapping: { [from]: to } } };
    try {
      await makeChange({
        title: `Create relationship ${name}`,
        steps: () => [
          { type: `${table.kind}_create_${form}_relationship`, args: { source: table.source, table: tableJson(table), name, using } },
        ],
        inverse: [{ type: `${table.kind}_drop_relationship`, args: { source: table.source, table: tableJson(table), relationship: name } }],
      });
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
      <Field label="Name">
        {(id) => <input id={id} class="input" value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />}
      </Field>
      <Field label="Table">
        {(id) => (
          <Combobox
            id={id}
            name="Table"
            value={target}
            options={tables.map((each) => ({ value: tableId(each) }))}
            strict
            onChange={setTarget}
          />
        )}
      </Field>
      <div class="row">
        <Field label="From column">
          {(id) => (
            <Combobox
              id={id}
              name="From column"
              value={from}
              options={info.columns.map((each) => ({ value: each.name, note: each.type }))}
              strict
              onChange={setFrom}
            />
          )}
        </Field>
        <Field label="To column">
          {(id) => (
            <Combobox
              id={id}
              name="To column"
              value={to}
              options={(columns ?? []).map((each) => ({ value: each.name, note: each.type }))}
              strict
              onChange={setTo}
            />
          )}
        </Field>
      </div>
    </Dialog>
  );
}
