import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { overview } from '../../api/overview.ts';
import { isReadOnly } from '../../api/settings.ts';
import { readTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { HeadersForm } from '../../features/headers-form.tsx';
import { equalJson } from '../../model/json.ts';
import { allTables, tableJson } from '../../model/overview.ts';
import {
  CAPTURED,
  type Captured,
  type CapturedDraft,
  type ColumnChoice,
  DOCUMENT_KEYS,
  DOCUMENTS,
  missingOfTrigger,
  type TriggerDraft,
  triggerDraft,
  wrongOfDocument,
  writtenTrigger,
} from '../../model/trigger-draft.ts';
import { Check } from '../../parts/field.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { WebhookField } from './call-fields.tsx';
import { changeOfTrigger, type TableTrigger } from './trigger-change.ts';

const WORDS: Readonly<Record<Captured, string>> = { insert: 'Inserted', update: 'Updated', delete: 'Deleted' };

/** Which changes of a table are told, whom, with what of them, and what becomes of a call that fails. */
export function TriggerForm({ of, onClose }: { readonly of: TableTrigger; onClose(): void }) {
  const { address, trigger } = of;
  const name = String(trigger['name']);
  const [draft, setDraft] = useState<TriggerDraft>(() => triggerDraft(trigger));
  const set = (changes: Partial<TriggerDraft>): void => setDraft({ ...draft, ...changes });
  const data = overview.value;
  const table = (data === undefined ? [] : allTables(data)).find(
    (each) => each.source === address.source && equalJson(tableJson(each), address.table),
  );
  const { value: columns = [] } = useResource(
    async (signal) => (table === undefined ? [] : (await readTableInfo(table, signal)).columns.map((column) => column.name)),
    `${address.source} ${table?.schema} ${table?.name}`,
  );
  const save = async (): Promise<boolean> => {
    const next = writtenTrigger(draft, trigger);
    const { source, kind } = address;
    return (await makeChange(await changeOfTrigger(source, kind, name, `Event trigger ${name}`, next, trigger))) !== null;
  };
  return (
    <FormDialog
      title={`Event trigger ${name}`}
      kind="wide"
      action="Save"
      operation={`${address.kind}_create_event_trigger`}
      refusal={
        missingOfTrigger(draft) ?? (JSON.stringify(draft) === JSON.stringify(triggerDraft(trigger)) ? 'Nothing is changed' : undefined)
      }
      onClose={onClose}
      onSave={save}
    >
      {CAPTURED.map((operation) => (
        <CapturedFields
          key={operation}
          operation={operation}
          columns={columns}
          captured={draft.operations[operation]}
          onChange={(captured) => set({ operations: { ...draft.operations, [operation]: captured } })}
        />
      ))}
      <Check
        label="Administrators may send events by hand"
        checked={draft.isManual}
        disabled={isReadOnly}
        onChange={(isManual) => set({ isManual })}
      />
      <Segments
        name="Where the webhook is"
        options={[
          ['url', 'A URL'],
          ['variable', 'In a variable of the environment'],
        ]}
        chosen={draft.isFromEnvironment ? 'variable' : 'url'}
        onChoose={(chosen) => set({ isFromEnvironment: chosen === 'variable' })}
      />
      {draft.isFromEnvironment ? (
        <TextField label="Variable" value={draft.webhook} placeholder="ORDER_HOOK" onInput={(webhook) => set({ webhook })} />
      ) : (
        <WebhookField value={draft.webhook} placeholder="{{HOOKS}}/on-order" onInput={(webhook) => set({ webhook })} />
      )}
      <HeadersForm headers={draft.headers} onChange={(headers) => set({ headers })} />
      <div class="row fields">
        <TextField label="Calls after a failed one" kind="number" value={draft.retries} onInput={(retries) => set({ retries })} />
        <TextField label="Seconds between them" kind="number" value={draft.interval} onInput={(interval) => set({ interval })} />
        <TextField label="Time limit of a call, seconds" kind="number" value={draft.timeout} onInput={(timeout) => set({ timeout })} />
      </div>
      {DOCUMENT_KEYS.map((key) => (
        <TextField
          key={key}
          label={`${DOCUMENTS[key]}, JSON`}
          hint={
            <>
              <code>{key}</code>; empty: there is none.
            </>
          }
          class="mono"
          rows={draft.documents[key] === '' ? 1 : 5}
          value={draft.documents[key]}
          wrong={wrongOfDocument(draft.documents[key])}
          readOnly={isReadOnly}
          onInput={(text) => set({ documents: { ...draft.documents, [key]: text } })}
        />
      ))}
    </FormDialog>
  );
}

function CapturedFields({
  operation,
  columns,
  captured,
  onChange,
}: {
  readonly operation: Captured;
  readonly columns: readonly string[];
  readonly captured: CapturedDraft;
  onChange(captured: CapturedDraft): void;
}) {
  const word = WORDS[operation];
  return (
    <div class="stack-tight" role="group" aria-label={`${word} rows`}>
      <Check
        label={`${word} rows are told`}
        checked={captured.isOn}
        disabled={isReadOnly}
        onChange={(isOn) => onChange({ ...captured, isOn })}
      />
      {captured.isOn && operation === 'update' && (
        <ColumnTicks
          name="When one of these columns changes"
          columns={columns}
          chosen={captured.columns}
          onChange={(chosen) => onChange({ ...captured, columns: chosen })}
        />
      )}
      {captured.isOn && (
        <ColumnTicks
          name={`Columns that are told of ${word.toLowerCase()} rows`}
          columns={columns}
          chosen={captured.payload}
          onChange={(payload) => onChange({ ...captured, payload })}
        />
      )}
    </div>
  );
}

/** All columns, those that are added later too, or some of them. */
function ColumnTicks({
  name,
  columns,
  chosen,
  onChange,
}: {
  readonly name: string;
  readonly columns: readonly string[];
  readonly chosen: ColumnChoice;
  onChange(chosen: ColumnChoice): void;
}) {
  // Those too that the table has no longer: what is ticked can be seen, and taken away.
  const shown = [...new Set([...columns, ...(chosen ?? [])])];
  return (
    <fieldset class="plain-fieldset">
      <legend class="label">{name}</legend>
      <div class="row">
        <Check
          label="all"
          checked={chosen === null}
          disabled={isReadOnly || columns.length === 0}
          onChange={(all) => onChange(all ? null : columns)}
        />
        {chosen !== null &&
          shown.map((column) => (
            <Check
              key={column}
              label={column}
              checked={chosen.includes(column)}
              disabled={isReadOnly}
              onChange={(on) => onChange(shown.filter((each) => (each === column ? on : chosen.includes(each))))}
            />
          ))}
      </div>
    </fieldset>
  );
}
