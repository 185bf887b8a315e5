import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { sectionPart } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { overview } from '../../api/overview.ts';
import { readSections } from '../../api/sections.ts';
import { isReadOnly, readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { useDraft } from '../../browser/drafts.ts';
import { isObject, type Json, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

const EXAMPLE = '{"depth_limit": {"global": 10, "per_role": {"customer": 5}}}';

/** API limits in the metadata, as JSON. */
export function Limits() {
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => {
      const limits = (await readSections(['api_limits'], signal))['api_limits'];
      return { limits: isObject(limits) ? limits : null };
    },
    `${overview.value?.version}`,
    { keeps: true },
  );
  if (value !== undefined) return <LimitsForm limits={value.limits} />;
  return isLoading || failure === undefined ? <Loading what="the limits" /> : <ErrorBox error={shownError(failure)} onRetry={reload} />;
}

/** State of the form. @param limits as they are stored; `null` if there are none */
function useLimits(limits: JsonObject | null) {
  /** JSON as typed, with the limits that were stored when the draft began. */
  const [edited, setEdited] = useDraft<{ readonly text: string; readonly before: JsonObject | null }>('limits');
  const [failure, setFailure] = useState<Failure>();
  const stored = limits === null ? '' : printJson(limits, 2);
  const shown = edited?.text ?? stored;
  const before = edited === undefined ? limits : edited.before;
  const reset = (): void => {
    setFailure(undefined);
    setEdited(undefined);
  };
  const change = async (title: string, next: JsonObject | null): Promise<void> => {
    setFailure(undefined);
    const stepTo = (to: Json) => (isObject(to) ? { type: 'set_api_limits', args: to } : { type: 'remove_api_limits', args: {} });
    try {
      const done = await makeChange({
        title,
        parts: [sectionPart('api_limits')],
        review: true,
        steps: () => [stepTo(next)],
        draft: { before, now: (_, [now = null]) => now, after: () => next, discard: reset },
        inverse: ([was = null]) => [stepTo(was)],
      });
      if (done !== null) setEdited(undefined);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const save = (): void => {
    try {
      const json = parseJsonText(shown);
      if (!isObject(json)) throw new SyntaxError('expected a JSON object');
      void change('Set API limits', json);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return {
    shown,
    isEdited: edited !== undefined,
    failure,
    unchanged: shown.trim() === stored ? 'No changes' : shown.trim() === '' ? 'Use “Remove all”' : undefined,
    edit(text: string): void {
      setFailure(undefined);
      setEdited(text === stored ? undefined : { text, before });
    },
    reset,
    save,
    remove: (): void => void change('Remove API limits', null),
  };
}

function LimitsForm({ limits }: { readonly limits: JsonObject | null }) {
  const { shown, isEdited, failure, unchanged, edit, reset, save, remove } = useLimits(limits);
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">API limits {limits === null && <span class="badge">none</span>}</h2>
      </header>
      <p class="muted">
        <code>depth_limit</code>, <code>node_limit</code>, <code>rate_limit</code>, <code>concurrency_limit</code>, <code>batch_limit</code>{' '}
        and <code>time_limit</code>, each global and per role, for example <code class="break">{EXAMPLE}</code>. Administrators have no
        limits.
      </p>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <CodeEditor
        name="API limits"
        language="json"
        height="13.75rem"
        value={shown}
        readOnly={isReadOnly}
        onChange={edit}
        onRun={() => (readOnlyRefusal ?? unchanged) === undefined && save()}
      />
      <div class="row">
        <Button kind="primary" title="set_api_limits" refusal={readOnlyRefusal ?? unchanged} onClick={save}>
          Save
        </Button>
        <Button refusal={isEdited ? undefined : 'No changes'} onClick={reset}>
          Reset
        </Button>
        <Button title="remove_api_limits" refusal={readOnlyRefusal ?? (limits === null ? 'No limits are set' : undefined)} onClick={remove}>
          Remove all …
        </Button>
      </div>
    </section>
  );
}
