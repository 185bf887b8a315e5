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
  const [own, setOwn] = useState('');
  const [other, setOther] = useState('');
  const [failure, setFailure] = useState<Failure>();
  const tables = data.sources.find(({ name: each }) => each === table.source)?.tables ?? [];
  const found = findTable(data, table.source, target);
  const { value: columns } = useResource(
    async (signal) => (found === undefined ? [] : (await readTableInfo(found, signal)).columns),
    `${target}`,
  );
  const apply = async (): Promise<void> => {
    if (found === undefined) return;
    const using = { manual_configuration: { remote_table: tableJson(found), column_mapping: { [own]: other } } };
    try {
      await makeChange({
        title: `Relationship ${name}`,
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
      title={`Relationship of ${tableId(table)}`}
      onClose={onClose}
      onSubmit={() => void apply()}
      footer={
        <Button
          kind="primary"
          refusal={name === '' || found === undefined || own === '' || other === '' ? 'Fill in all of it' : undefined}
          onClick={() => void apply()}
        >
          Make it
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <p class="muted">By columns that are equal, where no foreign key says so: for views, say.</p>
      <Segments
        name="Leads to"
        options={[
          ['object', 'One row'],
          ['array', 'Many rows'],
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
        <Field label="Column here">
          {(id) => (
            <Combobox
              id={id}
              name="Column here"
              value={own}
              options={info.columns.map((each) => ({ value: each.name, note: each.type }))}
              strict
              onChange={setOwn}
            />
          )}
        </Field>
        <Field label="Column there">
          {(id) => (
            <Combobox
              id={id}
              name="Column there"
              value={other}
              options={(columns ?? []).map((each) => ({ value: each.name, note: each.type }))}
              strict
              onChange={setOther}
            />
          )}
        </Field>
      </div>
    </Dialog>
  );
}
