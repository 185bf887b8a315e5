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
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { PermissionTicks } from './permission-ticks.tsx';

/** Step that creates a permission from the metadata. */
export function remotePermissionStep(remote: string, { role = '', definition = {}, comment }: JsonObject): Step {
  return {
    type: 'add_remote_schema_permissions',
    args: { remote_schema: remote, role, definition, ...(comment === undefined ? {} : { comment }) },
  };
}

interface PermissionProps {
  readonly remote: string;
  /** Undefined if the server could not be introspected. */
  readonly types: RemoteTypes | undefined;
  readonly role: string;
  readonly before: JsonObject | undefined;
  onClose(): void;
}

/** Permission of a role on a remote schema, as checkboxes or as SDL. */
export function Permission(props: PermissionProps) {
  const { remote, types, before, onClose } = props;
  const { role, setRole, schema, setSchema, isEdited, failure, refusal, save, remove } = usePermission(props);
  const [form, setForm] = useState<'ticks' | 'sdl'>(types === undefined ? 'sdl' : 'ticks');
  return (
    <Dialog
      title={`Permission on ${remote}`}
      kind="wide"
      isEdited={isEdited}
      onClose={onClose}
      footer={
        <>
          <Button
            kind="primary"
            title="add_remote_schema_permissions"
            refusal={refusal ?? (schema.trim() === '' ? 'Select at least one field' : undefined)}
            onClick={save}
          >
            Save
          </Button>
          {before !== undefined && (
            <Button refusal={refusal} onClick={remove}>
              Delete …
            </Button>
          )}
        </>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <div class="row fields">
        <TextField label="Role" value={role} readOnly={before !== undefined} onInput={setRole} />
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
        <PermissionSdl schema={schema} onChange={setSchema} />
      ) : (
        <PermissionFields types={types} schema={schema} onChange={setSchema} />
      )}
    </Dialog>
  );
}

/** State of the dialog, and the changes that it makes. */
function usePermission({ remote, role: initialRole, before, onClose }: PermissionProps) {
  const [role, setRole] = useState(initialRole);
  /** Permission as it was stored when the dialog opened. */
  const [basis] = useState(before ?? null);
  const [initialSchema] = useState(before !== undefined && isObject(before['definition']) ? String(before['definition']['schema']) : '');
  const [schema, setSchema] = useState(initialSchema);
  const [failure, setFailure] = useState<Failure>();
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
  return {
    role,
    setRole,
    schema,
    setSchema,
    isEdited: role !== initialRole || schema !== initialSchema,
    failure,
    refusal: isReadOnly ? READ_ONLY_REASON : role.trim() === '' ? 'Enter a role' : undefined,
    save: () => void change(`Permission of ${role} on ${remote}`, { ...basis, role, definition: { schema } }),
    remove: () => void change(`Delete permission of ${role} on ${remote}`, null),
  };
}

interface SchemaProps {
  readonly schema: string;
  onChange(schema: string): void;
}

function PermissionSdl({ schema, onChange }: SchemaProps) {
  return (
    <>
      <p class="muted">
        The types and fields that the role can see. <code>@preset(value: "x-svc-user-id")</code> presets an argument.
      </p>
      <CodeEditor
        name="Permission SDL"
        language="graphql"
        height="17.5rem"
        value={schema}
        hint="type Query { … }"
        readOnly={isReadOnly}
        onChange={onChange}
      />
    </>
  );
}

function PermissionFields({ types, schema, onChange }: SchemaProps & Pick<PermissionProps, 'types'>) {
  const document = readDocument(schema);
  if (types === undefined) return <p class="muted">The server could not be introspected. Edit the permission as SDL.</p>;
  if (document instanceof Error) {
    return (
      <p class="error-text" role="alert">
        Invalid SDL: {document.message}. Fix it in the SDL view.
      </p>
    );
  }
  return (
    <PermissionTicks remote={types} document={document} onChange={(next) => onChange(next.length === 0 ? '' : printSchemaDocument(next))} />
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
