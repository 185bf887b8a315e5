import { DEFAULT_KIND } from '../../model/kinds.generated.ts';
import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { hasOperation } from '../../api/operation-names.ts';
import { overview } from '../../api/overview.ts';
import { go } from '../../browser/place.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import type { JsonObject } from '../../model/json.ts';
import { allTables, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { Combobox } from '../../parts/combobox.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { WebhookField } from './call-fields.tsx';

const OPERATIONS = ['insert', 'update', 'delete'] as const;

interface NewTriggerDraft {
  readonly name: string;
  readonly webhook: string;
  readonly operations: ReadonlySet<string>;
  readonly isManual: boolean;
  readonly retries: string;
}

const EMPTY: NewTriggerDraft = { name: '', webhook: '', operations: new Set(['insert']), isManual: true, retries: '3' };

/** Form for a new event trigger on a table. @param props.table id of the table to start with, if there is one of that name */
export function NewTrigger({ table: initial, onClose }: { readonly table: string; onClose(): void }) {
  const data = overview.value;
  const tables = (data === undefined ? [] : allTables(data)).filter(
    ({ kind, isView }) => !isView && hasOperation(kind, 'create_event_trigger'),
  );
  const idOf = (table: TableOverview): string => `${table.source}: ${tableId(table)}`;
  const named = tables.filter((each) => tableId(each) === initial);
  const [chosen, setChosen] = useState(named.length === 1 ? named.map(idOf).join('') : '');
  const [draft, setDraft] = useState(EMPTY);
  const { name, webhook, operations, isManual, retries } = draft;
  const set = (changes: Partial<NewTriggerDraft>): void => setDraft({ ...draft, ...changes });
  const table = tables.find((each) => idOf(each) === chosen);
  const missing = name.trim() === '' ? 'Enter a name' : webhook.trim() === '' ? 'Enter a webhook URL' : undefined;
  return (
    <FormDialog
      title="New event trigger"
      action="Create"
      operation={`${table?.kind ?? DEFAULT_KIND}_create_event_trigger`}
      refusal={table === undefined ? 'Select a table' : missing}
      onClose={onClose}
      onSave={async () => table !== undefined && (await createTrigger(table, draft))}
    >
      <div class="field">
        <span class="label">Table</span>
        <Combobox name="Table" value={chosen} strict options={tables.map((each) => ({ value: idOf(each) }))} onChange={setChosen} />
      </div>
      <TextField label="Name" value={name} onInput={(text) => set({ name: text })} />
      <WebhookField value={webhook} placeholder="{{HOOKS}}/on-order" onInput={(text) => set({ webhook: text })} />
      <fieldset class="plain-fieldset">
        <legend class="label">Operations</legend>
        <div class="row">
          {OPERATIONS.map((operation) => (
            <Check
              key={operation}
              label={operation}
              checked={operations.has(operation)}
              onChange={(on) => set({ operations: new Set(OPERATIONS.filter((each) => (each === operation ? on : operations.has(each)))) })}
            />
          ))}
          <Check label="manual" checked={isManual} onChange={(on) => set({ isManual: on })} />
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
            onInput={(event) => set({ retries: event.currentTarget.value })}
          />
        )}
      </Field>
    </FormDialog>
  );
}

/** Returns false if the change was discarded. @throws Failure */
async function createTrigger(
  table: TableOverview,
  { name: typed, webhook, operations, isManual, retries }: NewTriggerDraft,
): Promise<boolean> {
  const { source, kind } = table;
  const name = typed.trim();
  const captured: JsonObject = Object.fromEntries([...operations].map((operation) => [operation, { columns: '*' }]));
  const args: JsonObject = {
    source,
    name,
    table: tableJson(table),
    webhook: webhook.trim(),
    ...captured,
    enable_manual: isManual,
    retry_conf: { num_retries: Number(retries) || 0, interval_sec: 10, timeout_sec: 60 },
  };
  const done = await makeChange({
    title: `Create event trigger ${name}`,
    steps: () => [{ type: `${kind}_create_event_trigger`, args }],
    inverse: [{ type: `${kind}_delete_event_trigger`, args: { source, name } }],
  });
  if (done === null) return false;
  go(['events', 'triggers', source, name]);
  return true;
}
