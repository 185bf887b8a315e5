import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { memberPart } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { objectsIn } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
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

/** The operation that gives a role what its entry in the metadata says. */
export function permissionStep(remote: string, { role = '', definition = {}, comment }: JsonObject): Step {
  return {
    type: 'add_remote_schema_permissions',
    args: { remote_schema: remote, role, definition, ...(comment === undefined ? {} : { comment }) },
  };
}

/** What a role sees of it: ticks at the server's types, which write SDL; or the SDL itself. */
export function Permission({
  remote,
  types,
  role: given,
  before,
  onClose,
}: {
  readonly remote: string;
  /** Undefined where the server does not tell them. */
  readonly types: RemoteTypes | undefined;
  readonly role: string;
  readonly before: JsonObject | undefined;
  onClose(): void;
}) {
  const [role, setRole] = useState(given);
  /** The permission as it was stored when the dialog was opened. */
  const [began] = useState(before ?? null);
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
    const next = after === null ? [] : [permissionStep(remote, after)];
    const shown = (permission: JsonObject | null): Json => (permission === null ? null : shownPermission(permission));
    try {
      const done = await makeChange({
        title,
        parts: [memberPart('remote_schemas', remote)],
        steps: (_, [now = null]) => [...(storedIn(now) === null ? [] : [drop]), ...next],
        draft: { before: shown(began), now: (_, [now = null]) => shown(storedIn(now)), after: () => shown(after) },
        inverse: ([was = null]) => {
          const old = storedIn(was);
          return [...(after === null ? [] : [drop]), ...(old === null ? [] : [permissionStep(remote, old)])];
        },
      });
      if (done !== null) onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const refusal = isReadOnly ? READ_ONLY_REASON : role.trim() === '' ? 'Say which role' : undefined;
  const isEmpty = schema.trim() === '';
  const save = (): void => void change(`${remote} for ${role}`, { ...began, role, definition: { schema } });
  return (
    <Dialog
      title={`${remote} for a role`}
      kind="wide"
      onClose={onClose}
      footer={
        <>
          <Button
            kind="primary"
            title="add_remote_schema_permissions"
            refusal={refusal ?? (isEmpty ? 'It sees nothing: tick what it sees' : undefined)}
            onClick={save}
          >
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
          <span class="label">What it sees</span>
          <Segments
            name="What it sees"
            options={[
              ['ticks', 'Ticks'],
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
            The types and fields that the role sees. <code>@preset(value: "x-svc-user-id")</code> sets an argument for it.
          </p>
          <CodeEditor
            name="What the role sees"
            language="graphql"
            height="280px"
            value={schema}
            hint="type Query { … }"
            readOnly={isReadOnly}
            onChange={setSchema}
          />
        </>
      ) : types === undefined ? (
        <p class="muted">The server does not tell its types now: what the role sees can be written as SDL.</p>
      ) : document instanceof Error ? (
        <p class="wrong" role="alert">
          The SDL cannot be read, {document.message}. It stays as it is until it is mended.
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

/** A permission as it is compared: its SDL line by line. */
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
