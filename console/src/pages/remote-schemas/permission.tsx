import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** The operation that gives a role what its entry in the metadata says. */
export function permissionStep(remote: string, { role = '', definition = {}, comment }: JsonObject): Step {
  return {
    type: 'add_remote_schema_permissions',
    args: { remote_schema: remote, role, definition, ...(comment === undefined ? {} : { comment }) },
  };
}

/** What a role sees of it: SDL with a part of the server's types. */
export function Permission({
  remote,
  role: given,
  before,
  onClose,
}: {
  readonly remote: string;
  readonly role: string;
  readonly before: JsonObject | undefined;
  onClose(): void;
}) {
  const [role, setRole] = useState(given);
  const [schema, setSchema] = useState(
    before !== undefined && isObject(before['definition']) ? String(before['definition']['schema']) : 'type Query {\n  \n}\n',
  );
  const [failure, setFailure] = useState<Failure>();
  const drop = { type: 'drop_remote_schema_permissions', args: { remote_schema: remote, role } };
  const old = before === undefined ? undefined : permissionStep(remote, before);
  const change = async (title: string, next: Step | null): Promise<void> => {
    setFailure(undefined);
    try {
      const done = await makeChange({
        title,
        steps: () => [...(old === undefined ? [] : [drop]), ...(next === null ? [] : [next])],
        inverse: [...(next === null ? [] : [drop]), ...(old === undefined ? [] : [old])],
      });
      if (done !== null) onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const refusal = isReadOnly ? READ_ONLY_REASON : role.trim() === '' ? 'Say which role' : undefined;
  const save = (): void => void change(`${remote} for ${role}`, permissionStep(remote, { ...before, role, definition: { schema } }));
  return (
    <Dialog
      title={`${remote} for a role`}
      kind="wide"
      onClose={onClose}
      footer={
        <>
          <Button kind="primary" title="add_remote_schema_permissions" refusal={refusal} onClick={save}>
            Save
          </Button>
          {before !== undefined && (
            <Button refusal={refusal} onClick={() => void change(`Nothing of ${remote} for ${role}`, null)}>
              Drop …
            </Button>
          )}
        </>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <Field label="Role">
        {(id) => (
          <input
            id={id}
            class="input narrow-input"
            value={role}
            readOnly={before !== undefined}
            spellcheck={false}
            onInput={(event) => setRole(event.currentTarget.value)}
          />
        )}
      </Field>
      <p class="muted">
        The types and fields that the role sees. <code>@preset(value: "x-svc-user-id")</code> sets an argument for it.
      </p>
      <CodeEditor name="What the role sees" language="graphql" height="280px" value={schema} readOnly={isReadOnly} onChange={setSchema} />
    </Dialog>
  );
}
