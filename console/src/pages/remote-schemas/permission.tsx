import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { memberPart } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { isObject, type Json, type JsonObject, objectsIn } from '../../model/json.ts';
import { parseSchemaDocument, printSchemaDocument, type SchemaDocument } from '../../model/schema-document.ts';
import type { RemoteTypes } from '../../model/schema-ticks.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { PermissionTicks } from './permission-ticks.tsx';

/** Step that creates a permission from the metadata. */
export function remotePermissionStep(remote: string, { role = '', definition = {}, comment }: JsonObject): Step {
  return {
    type: 'add_remote_schema_permissions',
    args: { remote_schema: remote, role, definition, ...(comment === undefined ? {} : { comment }) },
  };
}

/** Permission of a role on a remote schema, as checkboxes or as SDL. */
export function Permission({
  remote,
  types,
  role: initialRole,
  before,
  onClose,
}: {
  readonly remote: string;
  /** Undefined if the server could not be introspected. */
  readonly types: RemoteTypes | undefined;
  readonly role: string;
  readonly before: JsonObject | undefined;
  onClose(): void;
}) {
  const [role, setRole] = useState(initialRole);
  /** Permission as it was stored when the dialog opened. */
  const [basis] = useState(before ?? null);
  const [schema, setSchema] = useState(
    before !== undefined && isObject(before['definition']) ? String(before['definition']['schema']) : '',
  );
  const [form, setForm] = useState<'ticks' | 'sdl'>(types === undefined ? 'sdl' : 'ticks');
  const [failure, setFailure] = useState<Failure>();
  const document = readDocument(schema);
  const drop = { type: 'drop_remote_schema_permissions', args: { remote_schema: remote, role } };
  const storedIn = (schema: Json): JsonObject | null =>
    (isObject(schema) ? objectsIn(schema['permissions']) : []).find((each) => each['role'] === role) ?? null;
  const change = async (title: string, after: JsonObject | null): Promise<void> => {
    setFailure(undefined);
    const next = after === null ? [] : [remotePermissionStep(remote, after)];
    const shown = (permission: JsonObject | null): Json => (permission === null ? null : shownPermission(permission));
    try {
      const done = await makeChange({
        title,
        parts: [memberPart('remote_schemas', remote)],
        steps: (_, [now = null]) => [...(storedIn(now) === null ? [] : [drop]), ...next],
        draft: { before: shown(basis), now: (_, [now = null]) => shown(storedIn(now)), after: () => shown(after) },
        inverse: ([was = null]) => {
          const old = storedIn(was);
          return [...(after === null ? [] : [drop]), ...(old === null ? [] : [remotePermissionStep(remote, old)])];
        },
      });
      if (done !== null) onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const refusal = isReadOnly ? READ_ONLY_REASON : role.trim() === '' ? 'Enter a role' : undefined;
  const isEmpty = schema.trim() === '';
  const save = (): void => void change(`Permission of ${role} on ${remote}`, { ...basis, role, definition: { schema } });
  return (
    <Dialog
      title={`Permission on ${remote}`}
      kind="wide"
      onClose={onClose}
      footer={
        <>
          <Button
            kind="primary"
            title="add_remote_schema_permissions"
            refusal={refusal ?? (isEmpty ? 'Select at least one field' : undefined)}
            onClick={save}
          >
            Save
          </Button>
          {before !== undefined && (
            <Button refusal={refusal} onClick={() => void change(`Delete permission of ${role} on ${remote}`, null)}>
              Delete …
            </Button>
          )}
        </>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <div class="row fields">
        <Field label="Role">
          {(id) => (
            <input
              id={id}
              class="input"
              value={role}
              readOnly={before !== undefined}
              spellcheck={false}
              onInput={(event) => setRole(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="field">
          <span class="label">View as</span>
          <Segments
            name="View as"
            options={[
              ['ticks', 'Fields'],
              ['sdl', 'SDL'],
            ]}
            chosen={form}
            onChoose={setForm}
          />
        </div>
      </div>
      {form === 'sdl' ? (
        <>
          <p class="muted">
            The types and fields that the role can see. <code>@preset(value: "x-svc-user-id")</code> presets an argument.
          </p>
          <CodeEditor
            name="Permission SDL"
            language="graphql"
            height="280px"
            value={schema}
            hint="type Query { … }"
            readOnly={isReadOnly}
            onChange={setSchema}
          />
        </>
      ) : types === undefined ? (
        <p class="muted">The server could not be introspected. Edit the permission as SDL.</p>
      ) : document instanceof Error ? (
        <p class="error-text" role="alert">
          Invalid SDL: {document.message}. Fix it in the SDL view.
        </p>
      ) : (
        <PermissionTicks
          remote={types}
          document={document}
          onChange={(next) => setSchema(next.length === 0 ? '' : printSchemaDocument(next))}
        />
      )}
    </Dialog>
  );
}

/** Permission with the lines of its SDL, for comparison. */
function shownPermission({ definition, ...rest }: JsonObject): JsonObject {
  const schema = isObject(definition) ? definition['schema'] : undefined;
  return { ...rest, schema: typeof schema === 'string' ? schema.split('\n') : (schema ?? null) };
}

function readDocument(schema: string): SchemaDocument | SyntaxError {
  try {
    return parseSchemaDocument(schema);
  } catch (error) {
    if (error instanceof SyntaxError) return error;
    throw error;
  }
}
