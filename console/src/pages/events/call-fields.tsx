import { isReadOnly } from '../../api/settings.ts';
import { HeadersForm } from '../../features/headers-form.tsx';
import type { ScheduledCall } from '../../model/scheduled-call.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { TextField } from '../../parts/text-field.tsx';

/** Payload, headers and retries of a scheduled call. */
export function CallFields({ call, onChange }: { readonly call: ScheduledCall; onChange(changes: Partial<ScheduledCall>): void }) {
  return (
    <>
      <div class="stack-tight">
        <span class="label">Payload</span>
        <CodeEditor
          name="Payload"
          language="json"
          height="7.5rem"
          value={call.payload}
          hint={'{ "job": "report" }'}
          readOnly={isReadOnly}
          onChange={(payload) => onChange({ payload })}
        />
      </div>
      <HeadersForm headers={call.headers} onChange={(headers) => onChange({ headers })} />
      <div class="row fields">
        <RetryFields draft={call} onChange={onChange} />
        <TextField
          label="Tolerance (seconds)"
          kind="number"
          hint="A call that is later than this is skipped."
          value={call.tolerance}
          onInput={(tolerance) => onChange({ tolerance })}
        />
      </div>
    </>
  );
}

interface RetryDraft {
  readonly retries: string;
  readonly interval: string;
  readonly timeout: string;
}

export function RetryFields({ draft, onChange }: { readonly draft: RetryDraft; onChange(changes: Partial<RetryDraft>): void }) {
  return (
    <>
      <TextField label="Retries" kind="number" value={draft.retries} onInput={(retries) => onChange({ retries })} />
      <TextField label="Retry interval (seconds)" kind="number" value={draft.interval} onInput={(interval) => onChange({ interval })} />
      <TextField label="Timeout (seconds)" kind="number" value={draft.timeout} onInput={(timeout) => onChange({ timeout })} />
    </>
  );
}

export function WebhookField({
  value,
  placeholder,
  onInput,
}: {
  readonly value: string;
  readonly placeholder: string;
  onInput(value: string): void;
}) {
  return (
    <TextField
      label="Webhook"
      hint="URL. May contain environment variables of the service, such as {{HOOKS}}."
      value={value}
      placeholder={placeholder}
      onInput={onInput}
    />
  );
}
