import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { functionPart } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { type Routine, routineId, routineNamed } from '../../api/routines.ts';
import { type FunctionSettings, readFunctionSettings, withFunctionSettings } from '../../model/function-settings.ts';
import { isObject, type Json, type JsonObject, objectOf } from '../../model/json.ts';
import type { SourceOverview } from '../../model/overview.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { ComboboxField } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';

const EXPOSED = [
  ['', 'Default'],
  ['query', 'Query'],
  ['mutation', 'Mutation'],
] as const;

interface FunctionDialogProps {
  readonly source: SourceOverview;
  /** Entry in the metadata; undefined for an untracked function. */
  readonly before: JsonObject | undefined;
  /** Schema and name of the tracked function; empty for an untracked one. */
  readonly id: string;
  readonly routines: readonly Routine[];
  onClose(): void;
}

/** Settings of a function in the API. Tracks a function by its name if it is not tracked yet. */
export function FunctionDialog({ source, before, id, routines, onClose }: FunctionDialogProps) {
  const isTracked = before !== undefined;
  /** Configuration as it was stored when the dialog opened. */
  const [basis] = useState(() => objectOf(before?.['configuration']));
  const [functionId, setFunctionId] = useState(id);
  const [settings, setSettings] = useState(() => readFunctionSettings(basis));
  const [failure, setFailure] = useState<Failure>();
  const missing = functionId.trim() === '' ? 'Enter a function' : undefined;
  const save = async (): Promise<void> => {
    if (missing !== undefined) return;
    setFailure(undefined);
    try {
      if (await (isTracked ? editFunction(source, functionId, settings, basis) : trackFunction(source, functionId, settings))) onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <Dialog
      title={isTracked ? `Function ${id}` : 'Track function'}
      onClose={onClose}
      onSubmit={() => void save()}
      footer={
        <Button
          kind="primary"
          title={`${source.kind}_${isTracked ? 'set_function_customization' : 'track_function'}`}
          refusal={missing}
          onClick={() => void save()}
        >
          {isTracked ? 'Save' : 'Track'}
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {!isTracked && (
        <ComboboxField
          label="Function"
          hint="With its schema, such as public.search_albums."
          value={functionId}
          options={routines.map((each) => ({ value: routineId(each), note: each.returns }))}
          isLive
          onChange={setFunctionId}
        />
      )}
      <SettingsFields settings={settings} routine={routines.find((each) => routineId(each) === functionId)} onChange={setSettings} />
    </Dialog>
  );
}

function SettingsFields({
  settings,
  routine,
  onChange,
}: {
  readonly settings: FunctionSettings;
  /** The function in the database; undefined if it is not known there. */
  readonly routine: Routine | undefined;
  onChange(settings: FunctionSettings): void;
}) {
  const set = (changes: Partial<FunctionSettings>): void => onChange({ ...settings, ...changes });
  return (
    <>
      <div class="field">
        <span class="label">Expose as</span>
        <Segments name="Expose as" options={EXPOSED} chosen={settings.exposed} onChoose={(exposed) => set({ exposed })} />
        <span class="hint">By default, volatile functions are mutations and all others are queries.</span>
      </div>
      <ComboboxField
        label="Session argument"
        hint="Receives the session variables as a JSON object. Not an argument of the field."
        value={settings.session}
        options={(routine?.parameters ?? []).map(({ name, type }) => ({ value: name, note: type }))}
        isLive
        onChange={(session) => set({ session })}
      />
      <Text label="GraphQL name" value={settings.name} onInput={(name) => set({ name })} />
      <div class="row fields">
        <Text label="Root field name" value={settings.field} onInput={(field) => set({ field })} />
        <Text label="Aggregate root field name" value={settings.aggregate} onInput={(aggregate) => set({ aggregate })} />
      </div>
    </>
  );
}

/** Returns false if the change was cancelled. */
async function trackFunction({ name, kind, defaultSchema }: SourceOverview, id: string, settings: FunctionSettings): Promise<boolean> {
  const address = routineNamed(id, defaultSchema);
  const args = { source: name, function: address };
  const done = await makeChange({
    title: `Track function ${id}`,
    parts: [functionPart(name, address)],
    steps: () => [{ type: `${kind}_track_function`, args: { ...args, configuration: withFunctionSettings(undefined, settings) } }],
    inverse: ([was = null]) => [inverseStep(kind, args, was)],
  });
  return done !== null;
}

/** Returns false if the change was cancelled. @param basis configuration as it was stored when the dialog opened */
async function editFunction(
  { name, kind, defaultSchema }: SourceOverview,
  id: string,
  settings: FunctionSettings,
  basis: JsonObject,
): Promise<boolean> {
  const address = routineNamed(id, defaultSchema);
  const args = { source: name, function: address };
  const changed = (now: Json): JsonObject => withFunctionSettings(isObject(now) ? now['configuration'] : undefined, settings);
  const done = await makeChange({
    title: `Edit function ${id}`,
    parts: [functionPart(name, address)],
    steps: (_, [now = null]) => [{ type: `${kind}_set_function_customization`, args: { ...args, configuration: changed(now) } }],
    draft: {
      before: basis,
      now: (_, [now = null]) => (isObject(now) ? (now['configuration'] ?? {}) : null),
      after: (_, [now = null]) => changed(now),
    },
    inverse: ([was = null]) => [inverseStep(kind, args, was)],
  });
  return done !== null;
}

/** @param was entry of the function before the change; `null` if it was not tracked */
function inverseStep(kind: string, args: JsonObject, was: Json): Step {
  return isObject(was)
    ? { type: `${kind}_set_function_customization`, args: { ...args, configuration: was['configuration'] ?? {} } }
    : { type: `${kind}_untrack_function`, args };
}

function Text({ label, value, onInput }: { readonly label: string; readonly value: string; onInput(value: string): void }) {
  return (
    <Field label={label}>
      {(id) => (
        <input
          id={id}
          class="input"
          placeholder="default"
          value={value}
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
