import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { overview } from '../../api/overview.ts';
import { isReadOnly } from '../../api/settings.ts';
import { readTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { HeadersForm } from '../../features/headers-form.tsx';
import { SigningSecret } from '../../features/signing-secret.tsx';
import { equalJson } from '../../model/json.ts';
import { allTables, tableJson } from '../../model/overview.ts';
import {
  CAPTURED,
  type Captured,
  type CapturedDraft,
  type ColumnChoice,
  DOCUMENT_KEYS,
  DOCUMENTS,
  missingInTrigger,
  type TriggerDraft,
  triggerDraft,
  documentError,
  triggerJson,
} from '../../model/trigger-draft.ts';
import { Check } from '../../parts/field.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { RetryFields, WebhookField } from './call-fields.tsx';
import { changeOfTrigger, type TableTrigger } from './trigger-change.ts';

const LABELS: Readonly<Record<Captured, string>> = { insert: 'Insert', update: 'Update', delete: 'Delete' };

/** Form of an event trigger: operations, columns, webhook, retries, order and transforms. */
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
    const next = triggerJson(draft, trigger);
    const { source, kind } = address;
    return (await makeChange(await changeOfTrigger(source, kind, name, `Event trigger ${name}`, next, trigger))) !== null;
  };
  return (
    <FormDialog
      title={`Event trigger ${name}`}
      kind="wide"
      action="Save"
      operation={`${address.kind}_create_event_trigger`}
      refusal={missingInTrigger(draft) ?? (JSON.stringify(draft) === JSON.stringify(triggerDraft(trigger)) ? 'No changes' : undefined)}
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
      <Check label="Allow manual invocation" checked={draft.isManual} disabled={isReadOnly} onChange={(isManual) => set({ isManual })} />
      <Webhook draft={draft} onChange={set} />
      <HeadersForm headers={draft.headers} onChange={(headers) => set({ headers })} />
      <SigningSecret value={draft.secretVariable} placeholder="HOOK_SECRET" onInput={(secretVariable) => set({ secretVariable })} />
      <div class="row fields">
        <RetryFields draft={draft} onChange={set} />
      </div>
      <DeliveryFields draft={draft} columns={columns} onChange={set} />
      <Transforms draft={draft} onChange={set} />
    </FormDialog>
  );
}

interface DraftProps {
  readonly draft: TriggerDraft;
  onChange(changes: Partial<TriggerDraft>): void;
}

function Webhook({ draft, onChange }: DraftProps) {
  return (
    <>
      <Segments
        name="Webhook from"
        options={[
          ['url', 'URL'],
          ['variable', 'Environment variable'],
        ]}
        chosen={draft.isFromEnvironment ? 'variable' : 'url'}
        onChoose={(chosen) => onChange({ isFromEnvironment: chosen === 'variable' })}
      />
      {draft.isFromEnvironment ? (
        <TextField
          label="Environment variable"
          value={draft.webhook}
          placeholder="ORDER_HOOK"
          onInput={(webhook) => onChange({ webhook })}
        />
      ) : (
        <WebhookField value={draft.webhook} placeholder="{{HOOKS}}/on-order" onInput={(webhook) => onChange({ webhook })} />
      )}
    </>
  );
}

/** Order and limit of deliveries, and rows of replication. */
function DeliveryFields({ draft, columns, onChange }: DraftProps & { readonly columns: readonly string[] }) {
  return (
    <>
      <div class="stack-tight">
        <span class="label">Order of the events</span>
        <Segments
          name="Order of the events"
          options={[
            ['any', 'Any'],
            ['row', 'Per row'],
            ['columns', 'Per value of columns'],
          ]}
          chosen={draft.order}
          onChoose={(order) => onChange({ order })}
        />
      </div>
      {draft.order === 'columns' && (
        <ColumnTicks
          name="Events with the same values in these columns are delivered one after another"
          columns={columns}
          chosen={draft.orderColumns}
          hasAll={false}
          onChange={(chosen) => onChange({ orderColumns: chosen ?? [] })}
        />
      )}
      <TextField
        label="Maximum concurrent deliveries"
        kind="number"
        hint="Across all instances. Leave empty for no limit."
        value={draft.maxConcurrency}
        readOnly={isReadOnly}
        onInput={(maxConcurrency) => onChange({ maxConcurrency })}
      />
      <div class="stack-tight">
        <span class="label">Events for rows that replication writes</span>
        <Segments
          name="Events for rows that replication writes"
          options={[
            ['default', 'Default'],
            ['yes', 'Yes'],
            ['no', 'No'],
          ]}
          chosen={draft.onReplication}
          onChoose={(onReplication) => onChange({ onReplication })}
        />
      </div>
    </>
  );
}

function Transforms({ draft, onChange }: DraftProps) {
  return (
    <>
      {DOCUMENT_KEYS.map((key) => (
        <TextField
          key={key}
          label={`${DOCUMENTS[key]} (JSON)`}
          hint={
            <>
              <code>{key}</code>. Leave empty for none.
            </>
          }
          class="mono"
          rows={draft.documents[key] === '' ? 1 : 5}
          value={draft.documents[key]}
          error={documentError(draft.documents[key])}
          readOnly={isReadOnly}
          onInput={(text) => onChange({ documents: { ...draft.documents, [key]: text } })}
        />
      ))}
    </>
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
  const word = LABELS[operation];
  return (
    <div class="stack-tight" role="group" aria-label={`${word} events`}>
      <Check label={`${word} events`} checked={captured.isOn} disabled={isReadOnly} onChange={(isOn) => onChange({ ...captured, isOn })} />
      {captured.isOn && operation === 'update' && (
        <ColumnTicks
          name="Trigger when these columns change"
          columns={columns}
          chosen={captured.columns}
          onChange={(chosen) => onChange({ ...captured, columns: chosen })}
        />
      )}
      {captured.isOn && (
        <ColumnTicks
          name={`Payload columns of ${word.toLowerCase()} events`}
          columns={columns}
          chosen={captured.payload}
          onChange={(payload) => onChange({ ...captured, payload })}
        />
      )}
    </div>
  );
}

/** Choice of all columns, including future ones, or of some. */
function ColumnTicks({
  name,
  columns,
  chosen,
  hasAll = true,
  onChange,
}: {
  readonly name: string;
  readonly columns: readonly string[];
  readonly chosen: ColumnChoice;
  /** False if a choice of all columns has no meaning. */
  readonly hasAll?: boolean;
  onChange(chosen: ColumnChoice): void;
}) {
  // Selected columns that the table no longer has are listed too, so that they can be removed.
  const shown = [...new Set([...columns, ...(chosen ?? [])])];
  return (
    <fieldset class="plain-fieldset">
      <legend class="label">{name}</legend>
      <div class="row">
        {hasAll && (
          <Check
            label="all"
            checked={chosen === null}
            disabled={isReadOnly || columns.length === 0}
            onChange={(all) => onChange(all ? null : columns)}
          />
        )}
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
