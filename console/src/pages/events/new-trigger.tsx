import { DEFAULT_KIND } from '../../model/kinds.generated.ts';
import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { hasOperation } from '../../api/operation-names.ts';
import { overview } from '../../api/overview.ts';
import { go } from '../../browser/place.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import type { JsonObject } from '../../model/json.ts';
import { allTables, tableId, tableJson } from '../../model/overview.ts';
import { Combobox } from '../../parts/combobox.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { WebhookField } from './call-fields.tsx';

const OPERATIONS = ['insert', 'update', 'delete'] as const;

/** Form for a new event trigger on a table. */
export function NewTrigger({ onClose }: { onClose(): void }) {
  const data = overview.value;
  const tables = (data === undefined ? [] : allTables(data)).filter(
    ({ kind, isView }) => !isView && hasOperation(kind, 'create_event_trigger'),
  );
  const [chosen, setChosen] = useState('');
  const [name, setName] = useState('');
  const [webhook, setWebhook] = useState('');
  const [operations, setOperations] = useState<ReadonlySet<string>>(new Set(['insert']));
  const [manual, setManual] = useState(true);
  const [retries, setRetries] = useState('3');
  const idOf = (table: (typeof tables)[number]): string => `${table.source}: ${tableId(table)}`;
  const table = tables.find((each) => idOf(each) === chosen);
  const missing =
    table === undefined
      ? 'Select a table'
      : name.trim() === ''
        ? 'Enter a name'
        : webhook.trim() === ''
          ? 'Enter a webhook URL'
          : undefined;
  const create = async (): Promise<boolean> => {
    if (table === undefined) return false;
    const { source, kind } = table;
    const captured: JsonObject = Object.fromEntries([...operations].map((operation) => [operation, { columns: '*' }]));
    const done = await makeChange({
      title: `Create event trigger ${name.trim()}`,
      steps: () => [
        {
          type: `${kind}_create_event_trigger`,
          args: {
            source,
            name: name.trim(),
            table: tableJson(table),
            webhook: webhook.trim(),
            ...captured,
            enable_manual: manual,
            retry_conf: { num_retries: Number(retries) || 0, interval_sec: 10, timeout_sec: 60 },
          },
        },
      ],
      inverse: [{ type: `${kind}_delete_event_trigger`, args: { source, name: name.trim() } }],
    });
    if (done === null) return false;
    go(['events', 'triggers', source, name.trim()]);
    return true;
  };
  return (
    <FormDialog
      title="New event trigger"
      action="Create"
      operation={`${table?.kind ?? DEFAULT_KIND}_create_event_trigger`}
      refusal={missing}
      onClose={onClose}
      onSave={create}
    >
      <div class="field">
        <span class="label">Table</span>
        <Combobox name="Table" value={chosen} strict options={tables.map((each) => ({ value: idOf(each) }))} onChange={setChosen} />
      </div>
      <TextField label="Name" value={name} onInput={setName} />
      <WebhookField value={webhook} placeholder="{{HOOKS}}/on-order" onInput={setWebhook} />
      <fieldset class="plain-fieldset">
        <legend class="label">Operations</legend>
        <div class="row">
          {OPERATIONS.map((operation) => (
            <Check
              key={operation}
              label={operation}
              checked={operations.has(operation)}
              onChange={(on) => {
                const next = new Set(operations);
                if (on) next.add(operation);
                else next.delete(operation);
                setOperations(next);
              }}
            />
          ))}
          <Check label="manual" checked={manual} onChange={setManual} />
        </div>
      </fieldset>
      <Field label="Retries" hint="10 seconds apart. Each attempt times out after 60 seconds.">
        {(id) => (
          <input
            id={id}
            class="input"
            type="number"
            min="0"
            max="100"
            value={retries}
            onInput={(event) => setRetries(event.currentTarget.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
