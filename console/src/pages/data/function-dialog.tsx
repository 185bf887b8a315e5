import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { functionPart } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { type Routine, routineId, routineNamed } from '../../api/routines.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { SourceOverview } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { Combobox } from '../../parts/combobox.tsx';
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

/** Settings of a function in the API. Tracks a function by its name if it is not tracked yet. */
export function FunctionDialog({
  source: { name: source, kind, defaultSchema },
  before,
  id,
  routines,
  onClose,
}: {
  readonly source: SourceOverview;
  /** Entry in the metadata; undefined for an untracked function. */
  readonly before: JsonObject | undefined;
  /** Schema and name of the tracked function; empty for an untracked one. */
  readonly id: string;
  readonly routines: readonly Routine[];
  onClose(): void;
}) {
  const configuration: JsonObject = before !== undefined && isObject(before['configuration']) ? before['configuration'] : {};
  const roots: JsonObject = isObject(configuration['custom_root_fields']) ? configuration['custom_root_fields'] : {};
  const text = (json: Json | undefined): string => (typeof json === 'string' ? json : '');
  /** Configuration as it was stored when the dialog opened. */
  const [basis] = useState(configuration);
  const [functionId, setFunctionId] = useState(id);
  const [exposed, setExposed] = useState<'' | 'query' | 'mutation'>(
    EXPOSED.find(([value]) => value === configuration['exposed_as'])?.[0] ?? '',
  );
  const [session, setSession] = useState(text(configuration['session_argument']));
  const [custom, setCustom] = useState(text(configuration['custom_name']));
  const [field, setField] = useState(text(roots['function']));
  const [aggregate, setAggregate] = useState(text(roots['function_aggregate']));
  const [failure, setFailure] = useState<Failure>();
  const chosen = routines.find((each) => routineId(each) === functionId);
  const missing = functionId.trim() === '' ? 'Enter a function' : undefined;
  const save = async (): Promise<void> => {
    if (missing !== undefined) return;
    setFailure(undefined);
    const address = routineNamed(functionId, defaultSchema);
    const configured = (former: Json | undefined): JsonObject => {
      const old: JsonObject = isObject(former) ? former : {};
      const { exposed_as: _e, session_argument: _s, custom_name: _n, custom_root_fields: oldRoots, ...rest } = old;
      const { function: _f, function_aggregate: _a, ...otherRoots } = isObject(oldRoots) ? oldRoots : ({} as JsonObject);
      const nextRoots = { ...otherRoots, ...optional('function', field), ...optional('function_aggregate', aggregate) };
      return {
        ...rest,
        ...optional('exposed_as', exposed),
        ...optional('session_argument', session),
        ...optional('custom_name', custom),
        ...(Object.keys(nextRoots).length === 0 ? {} : { custom_root_fields: nextRoots }),
      };
    };
    const args = { source, function: address };
    try {
      const done = await makeChange({
        title: `${before === undefined ? 'Track' : 'Edit'} function ${functionId}`,
        parts: [functionPart(source, address)],
        steps: (_, [now = null]) =>
          before === undefined
            ? [{ type: `${kind}_track_function`, args: { ...args, configuration: configured(undefined) } }]
            : [
                {
                  type: `${kind}_set_function_customization`,
                  args: { ...args, configuration: configured(isObject(now) ? now['configuration'] : undefined) },
                },
              ],
        ...(before === undefined
          ? {}
          : {
              draft: {
                before: basis,
                now: (_, [now = null]) => (isObject(now) ? (now['configuration'] ?? {}) : null),
                after: (_, [now = null]) => configured(isObject(now) ? now['configuration'] : undefined),
              },
            }),
        inverse: ([was = null]) => [
          isObject(was)
            ? { type: `${kind}_set_function_customization`, args: { ...args, configuration: was['configuration'] ?? {} } }
            : { type: `${kind}_untrack_function`, args },
        ],
      });
      if (done !== null) onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <Dialog
      title={before === undefined ? 'Track function' : `Function ${id}`}
      onClose={onClose}
      onSubmit={() => void save()}
      footer={
        <Button
          kind="primary"
          title={`${kind}_${before === undefined ? 'track_function' : 'set_function_customization'}`}
          refusal={missing}
          onClick={() => void save()}
        >
          {before === undefined ? 'Track' : 'Save'}
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {before === undefined && (
        <Field label="Function" hint="With its schema, such as public.search_albums.">
          {(inputId) => (
            <Combobox
              id={inputId}
              name="Function"
              value={functionId}
              options={routines.map((each) => ({ value: routineId(each), note: each.returns }))}
              isLive
              onChange={setFunctionId}
            />
          )}
        </Field>
      )}
      <div class="field">
        <span class="label">Expose as</span>
        <Segments name="Expose as" options={EXPOSED} chosen={exposed} onChoose={setExposed} />
        <span class="hint">By default, volatile functions are mutations and all others are queries.</span>
      </div>
      <Field label="Session argument" hint="Receives the session variables as a JSON object. Not an argument of the field.">
        {(inputId) => (
          <Combobox
            id={inputId}
            name="Session argument"
            value={session}
            options={(chosen?.parameters ?? []).map(({ name, type }) => ({ value: name, note: type }))}
            isLive
            onChange={setSession}
          />
        )}
      </Field>
      <Text label="GraphQL name" value={custom} onInput={setCustom} />
      <div class="row fields">
        <Text label="Root field name" value={field} onInput={setField} />
        <Text label="Aggregate root field name" value={aggregate} onInput={setAggregate} />
      </div>
    </Dialog>
  );
}

/** Returns the key if it has a value. */
function optional(key: string, value: string): JsonObject {
  return value.trim() === '' ? {} : { [key]: value.trim() };
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
