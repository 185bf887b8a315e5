import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { isObject } from '../../model/json.ts';
import { missingInOneOff, type OneOffDraft, oneOffDraft, timeOf, oneOffJson } from '../../model/one-off-draft.ts';
import { TextField } from '../../parts/text-field.tsx';
import { Field } from '../../parts/field.tsx';
import { CallFields, WebhookField } from './call-fields.tsx';

const HOUR_MS = 3_600_000;

export function OneOffForm({ onClose }: { onClose(): void }) {
  const [draft, setDraft] = useState<OneOffDraft>(() => oneOffDraft(new Date(Date.now() + HOUR_MS)));
  const set = (changes: Partial<OneOffDraft>): void => setDraft({ ...draft, ...changes });
  const time = timeOf(draft.at);
  const save = async (): Promise<boolean> => {
    const args = oneOffJson(draft);
    const done = await makeChange({
      title: `Schedule event for ${String(args['webhook'])}`,
      steps: () => [{ type: 'create_scheduled_event', args }],
      inverse: (_, response) =>
        isObject(response) ? [{ type: 'delete_scheduled_event', args: { type: 'one_off', event_id: String(response['event_id']) } }] : [],
    });
    return done !== null;
  };
  return (
    <FormDialog
      title="New one-off event"
      kind="wide"
      action="Schedule"
      operation="create_scheduled_event"
      refusal={missingInOneOff(draft)}
      onClose={onClose}
      onSave={save}
    >
      <WebhookField value={draft.webhook} placeholder="{{HOOKS}}/remind" onInput={(webhook) => set({ webhook })} />
      <div class="row fields">
        <Field label="Time" hint={time === undefined ? 'Local time' : `Local time. UTC: ${time.toISOString().replace(':00.000Z', 'Z')}`}>
          {(id) => (
            <input
              id={id}
              class="input"
              type="datetime-local"
              value={draft.at}
              onInput={(event) => set({ at: event.currentTarget.value })}
            />
          )}
        </Field>
        <TextField label="Comment" hint="Sent with the call." value={draft.comment} onInput={(comment) => set({ comment })} />
      </div>
      <CallFields call={draft} onChange={set} />
    </FormDialog>
  );
}
