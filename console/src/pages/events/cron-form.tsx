import { useEffect, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import type { MetadataPart } from '../../api/entries.ts';
import { readOperation } from '../../api/metadata.ts';
import { isReadOnly } from '../../api/settings.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { type CronDraft, cronDraft, cronTimes, missingInCron, cronJson } from '../../model/cron-draft.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import type { Step } from '../../model/steps.ts';
import { Check } from '../../parts/field.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { CallFields, WebhookField } from './call-fields.tsx';

const NEXT = 5;
const MINUTE_MS = 60_000;

/** Reads all cron triggers, including those that are not part of the metadata. @throws Failure */
export async function readCronTriggers(signal?: AbortSignal): Promise<readonly JsonObject[]> {
  const json = await readOperation('get_cron_triggers', {}, { signal });
  return isObject(json) ? objectsIn(json['cron_triggers']) : [];
}

/** A cron trigger, read from the list, since some are not part of the exported metadata. */
export function cronPart(name: string): MetadataPart {
  return { only: {}, find: async () => (await readCronTriggers()).find((each) => each['name'] === name) ?? null };
}

/** @param before stored trigger; undefined for a new one */
export function CronForm({ before, onClose }: { readonly before: JsonObject | undefined; onClose(): void }) {
  const [draft, setDraft] = useState<CronDraft>(() => cronDraft(before));
  const set = (changes: Partial<CronDraft>): void => setDraft({ ...draft, ...changes });
  const name = draft.name.trim();
  const save = async (): Promise<boolean> => {
    const args = cronJson(draft, before);
    const done = await makeChange({
      title: `Cron trigger ${name}`,
      parts: [cronPart(name)],
      steps: (_, [now = null]) => {
        if (before === undefined && now !== null) throw new Error(`A cron trigger ${name} already exists.`);
        return [{ type: 'create_cron_trigger', args: { ...args, replace: now !== null } }];
      },
      draft: { before: before ?? null, now: (_, [now = null]) => now, after: () => args },
      inverse: ([was = null]): readonly Step[] => [
        isObject(was) ? { type: 'create_cron_trigger', args: { ...was, replace: true } } : { type: 'delete_cron_trigger', args: { name } },
      ],
    });
    return done !== null;
  };
  return (
    <FormDialog
      title={before === undefined ? 'New cron trigger' : `Cron trigger ${name}`}
      kind="wide"
      action={before === undefined ? 'Create' : 'Save'}
      operation="create_cron_trigger"
      refusal={
        missingInCron(draft) ??
        (before !== undefined && JSON.stringify(draft) === JSON.stringify(cronDraft(before)) ? 'No changes' : undefined)
      }
      onClose={onClose}
      onSave={save}
    >
      <div class="row fields">
        <TextField
          label="Name"
          value={draft.name}
          placeholder="nightly"
          readOnly={before !== undefined}
          onInput={(text) => set({ name: text })}
        />
        <TextField label="Comment" hint="Sent with each call." value={draft.comment} onInput={(comment) => set({ comment })} />
      </div>
      <WebhookField value={draft.webhook} placeholder="{{HOOKS}}/nightly" onInput={(webhook) => set({ webhook })} />
      <TextField
        label="Schedule"
        hint="Minute, hour, day of month, month, day of week, in UTC. If both days are restricted, either one matches."
        value={draft.schedule}
        placeholder="0 3 * * *"
        class="narrow-input mono"
        onInput={(schedule) => set({ schedule })}
      />
      <NextTimes schedule={draft.schedule} />
      <CallFields call={draft} onChange={set} />
      <Check
        label="Include in exported metadata"
        checked={draft.isInMetadata}
        disabled={isReadOnly}
        onChange={(isInMetadata) => set({ isInMetadata })}
      />
    </FormDialog>
  );
}

/** Next times of a schedule, or its error. */
function NextTimes({ schedule }: { readonly schedule: string }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const { times, error } = timesOf(schedule, now);
  return (
    <div class="stack-tight" role="status" aria-label="Next times">
      {error !== undefined ? (
        <p class="error-text small">{error}</p>
      ) : times.length === 0 ? (
        <p class="error-text small">This schedule never matches.</p>
      ) : (
        <>
          <span class="label">Next times (local time)</span>
          <ul class="row">
            {times.map((time) => (
              <li key={time.getTime()} class="badge">
                <time dateTime={time.toISOString()} title={time.toISOString()}>
                  {time.toLocaleString()}
                </time>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function timesOf(schedule: string, after: Date): { readonly times: readonly Date[]; readonly error?: string } {
  if (schedule.trim() === '') return { times: [], error: 'Enter a schedule' };
  try {
    return { times: cronTimes(schedule, after, NEXT) };
  } catch (error) {
    return { times: [], error: error instanceof Error ? error.message : String(error) };
  }
}
