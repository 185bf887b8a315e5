import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { sectionPart } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { overview } from '../../api/overview.ts';
import { readSections } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

const EXAMPLE = '{"depth_limit": {"global": 10, "per_role": {"customer": 5}}}';

/** What the requests of roles may take, beyond what the service was started with. */
export function Limits() {
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => {
      const limits = (await readSections(['api_limits'], signal))['api_limits'];
      return { limits: isObject(limits) ? limits : null };
    },
    `${overview.value?.version}`,
    { keeps: true },
  );
  /** The JSON as it is written, with the limits that were stored when the draft began. */
  const [edited, setEdited] = useState<{ readonly text: string; readonly before: JsonObject | null }>();
  const [refused, setRefused] = useState<Failure>();
  if (value === undefined)
    return isLoading || failure === undefined ? <Loading what="the limits" /> : <ErrorBox error={shownError(failure)} onRetry={reload} />;
  const { limits } = value;
  const stored = limits === null ? '' : printJson(limits, 2);
  const shown = edited?.text ?? stored;
  const change = async (title: string, next: JsonObject | null): Promise<void> => {
    setRefused(undefined);
    const stepTo = (to: Json) => (isObject(to) ? { type: 'set_api_limits', args: to } : { type: 'remove_api_limits', args: {} });
    try {
      const done = await makeChange({
        title,
        parts: [sectionPart('api_limits')],
        review: true,
        steps: () => [stepTo(next)],
        draft: {
          before: edited === undefined ? limits : edited.before,
          now: (_, [now = null]) => now,
          after: () => next,
          discard: () => setEdited(undefined),
        },
        inverse: ([was = null]) => [stepTo(was)],
      });
      if (done !== null) setEdited(undefined);
    } catch (error) {
      setRefused(failureOf(error));
    }
  };
  const save = (): void => {
    try {
      const json = parseJson(shown);
      if (!isObject(json)) throw new SyntaxError('limits are an object');
      void change('Limits of the API', json);
    } catch (error) {
      setRefused(failureOf(error));
    }
  };
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const unchanged = shown.trim() === stored ? 'Nothing is changed' : shown.trim() === '' ? 'Remove all takes the limits away' : undefined;
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">Limits of the API {limits === null && <span class="badge">none are set</span>}</h2>
      </header>
      <p class="muted">
        <code>depth_limit</code>, <code>node_limit</code>, <code>rate_limit</code>, <code>batch_limit</code> and <code>time_limit</code>,
        each for all and by role: <code class="break">{EXAMPLE}</code>. Administrators have none.
      </p>
      {refused !== undefined && <ErrorBox error={shownError(refused)} />}
      <CodeEditor
        name="Limits"
        language="json"
        height="220px"
        value={shown}
        readOnly={isReadOnly}
        onChange={(text) => setEdited({ text, before: edited === undefined ? limits : edited.before })}
        onRun={() => (refusal ?? unchanged) === undefined && save()}
      />
      <div class="row">
        <Button kind="primary" title="set_api_limits" refusal={refusal ?? unchanged} onClick={save}>
          Save
        </Button>
        <Button refusal={edited === undefined ? 'Nothing is changed' : undefined} onClick={() => setEdited(undefined)}>
          Reset
        </Button>
        <Button
          title="remove_api_limits"
          refusal={refusal ?? (limits === null ? 'None are set' : undefined)}
          onClick={() => void change('Remove the limits of the API', null)}
        >
          Remove all …
        </Button>
      </div>
    </section>
  );
}
