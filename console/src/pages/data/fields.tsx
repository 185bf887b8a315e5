import { useState } from 'preact/hooks';
import { type Change, makeChange } from '../../api/changes.ts';
import type { Failure } from '../../api/failure.ts';
import { hasOperation } from '../../api/operation-names.ts';
import { readRoutines, routineId, routineNamed, type Routines } from '../../api/routines.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { attempt } from '../../features/attempt.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { JsonDialog } from '../../features/json-dialog.tsx';
import { isList, isObject, type JsonObject, printJson } from '../../model/json.ts';
import { type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { memberOf, membersOf, tableSteps, withMember } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { ComboboxField } from '../../parts/combobox.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { TextField } from '../../parts/text-field.tsx';

const KEY = 'computed_fields';

interface FieldsProps {
  readonly table: TableOverview;
  readonly info: TableInfo;
}

/** Replaces or adds a computed field of an entry; `null` removes it. @throws Error if the table is untracked or the name is taken */
function withField(table: TableOverview, entry: JsonObject | null | undefined, name: string, field: JsonObject | null, isNew: boolean) {
  if (entry === null || entry === undefined) throw new Error(`${tableId(table)} is no longer tracked.`);
  if (isNew && memberOf(entry, KEY, 'name', name) !== undefined) throw new Error(`A computed field ${name} already exists.`);
  const next = withMember(entry, KEY, 'name', name, field);
  if (field !== null) return next;
  // Select permissions list computed fields by name.
  const permissions = membersOf(next, 'select_permissions').map((each): JsonObject => {
    const permission = isObject(each['permission']) ? each['permission'] : {};
    const named = permission['computed_fields'];
    if (!isList(named) || !named.includes(name)) return each;
    return { ...each, permission: { ...permission, computed_fields: named.filter((other) => other !== name) } };
  });
  return permissions.length === 0 ? next : { ...next, select_permissions: permissions };
}

/** @param before field as it was stored when the draft began; undefined for a new one */
function change(table: TableOverview, title: string, name: string, field: JsonObject | null, before: JsonObject | undefined): Change {
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  return {
    title,
    tables: [address],
    draft: { before: before ?? null, now: ([entry]) => memberOf(entry ?? null, KEY, 'name', name) ?? null, after: () => field },
    steps: ([entry]) => tableSteps(address, entry ?? null, withField(table, entry, name, field, before === undefined)),
  };
}

/** Computed fields: fields with the results of database functions. */
export function Fields({ table, info }: FieldsProps) {
  const [edited, setEdited] = useState<JsonObject | 'new' | null>(null);
  const fields = membersOf(info.entry, KEY);
  if (!hasOperation(table.kind, 'add_computed_field')) {
    return (
      <EmptyState icon="table" title="No computed fields">
        Sources of kind {table.kind} do not support computed fields. Use a view instead.
      </EmptyState>
    );
  }
  const add = (
    <Button kind={fields.length === 0 ? 'primary' : 'plain'} icon="plus" refusal={readOnlyRefusal} onClick={() => setEdited('new')}>
      Add computed field
    </Button>
  );
  const before = edited === 'new' || edited === null ? undefined : edited;
  return (
    <>
      {fields.length === 0 ? (
        <EmptyState icon="table" title="No computed fields" actions={add}>
          A computed field returns the result of a database function that takes a row of {tableId(table)}: a value, or rows of a table.
        </EmptyState>
      ) : (
        <>
          <div class="row-end">{add}</div>
          <ListTable name="Computed fields" isCard columns={['Field', 'Function', 'Arguments', ACTIONS]}>
            {fields.map((field) => {
              const name = String(field['name']);
              const definition = isObject(field['definition']) ? field['definition'] : {};
              const { function: routine, table_argument: row, session_argument: session } = definition;
              return (
                <tr key={name}>
                  <td>
                    <strong>{name}</strong>
                    {typeof field['comment'] === 'string' && <p class="muted small">{field['comment']}</p>}
                  </td>
                  <td class="mono small">{labelOf(routine ?? '')}</td>
                  <td class="small">
                    {row === undefined ? <span class="muted">row: first argument</span> : `row: ${String(row)}`}
                    {session !== undefined && `, session: ${String(session)}`}
                  </td>
                  <td class="nowrap">
                    <Button small kind="quiet" name={`Edit ${name}`} refusal={readOnlyRefusal} onClick={() => setEdited(field)}>
                      Edit
                    </Button>
                    <Button
                      small
                      kind="quiet"
                      name={`Delete ${name}`}
                      refusal={readOnlyRefusal}
                      onClick={() => void attempt(change(table, `Delete computed field ${name} of ${tableId(table)}`, name, null, field))}
                    >
                      Delete …
                    </Button>
                  </td>
                </tr>
              );
            })}
          </ListTable>
        </>
      )}
      {edited !== null &&
        (hasOperation(table.kind, 'track_function') ? (
          <FieldDialog table={table} before={before} onClose={() => setEdited(null)} />
        ) : (
          <FieldAsJson table={table} before={before} onClose={() => setEdited(null)} />
        ))}
    </>
  );
}

interface DialogProps {
  readonly table: TableOverview;
  readonly before: JsonObject | undefined;
  onClose(): void;
}

function titleOf(table: TableOverview, before: JsonObject | undefined): string {
  return before === undefined ? `New computed field of ${tableId(table)}` : `Computed field ${String(before['name'])}`;
}

function FieldDialog({ table, before, onClose }: DialogProps) {
  const definition = before !== undefined && isObject(before['definition']) ? before['definition'] : {};
  const [name, setName] = useState(String(before?.['name'] ?? ''));
  const [functionId, setFunctionId] = useState(definition['function'] === undefined ? '' : labelOf(definition['function']));
  const [row, setRow] = useState(String(definition['table_argument'] ?? ''));
  const [session, setSession] = useState(String(definition['session_argument'] ?? ''));
  const [comment, setComment] = useState(String(before?.['comment'] ?? ''));
  const { value: routines, failure: unlisted } = useResource((signal) => readRoutines(table.source, table.kind, signal), `${table.source}`);
  const chosen = routines?.list.find((each) => routineId(each) === functionId);
  const missing = name.trim() === '' ? 'Enter a name' : functionId.trim() === '' ? 'Select a function' : undefined;
  const parameters = (chosen?.parameters ?? []).map(({ name: value, type }) => ({ value, note: type }));
  return (
    <FormDialog
      title={titleOf(table, before)}
      action={before === undefined ? 'Add' : 'Save'}
      operation={`${table.kind}_add_computed_field`}
      refusal={missing}
      onClose={onClose}
      onSave={() => saveField(table, before, { name, functionId, row, session, comment })}
    >
      <TextField label="Name" value={name} readOnly={before !== undefined} onInput={setName} />
      <FunctionField table={table} routines={routines} unlisted={unlisted} value={functionId} onChange={setFunctionId} />
      <div class="row fields">
        <ComboboxField
          label="Row argument"
          hint="Defaults to the first argument."
          value={row}
          options={parameters}
          isLive
          onChange={setRow}
        />
        <ComboboxField
          label="Session argument"
          hint="Receives the session variables as a JSON object."
          value={session}
          options={parameters}
          isLive
          onChange={setSession}
        />
      </div>
      <TextField label="Comment" hint="Description in the API." value={comment} onInput={setComment} />
    </FormDialog>
  );
}

function FunctionField({
  table,
  routines,
  unlisted,
  value,
  onChange,
}: {
  readonly table: TableOverview;
  readonly routines: Routines | undefined;
  /** Why the functions are not known. */
  readonly unlisted: Failure | undefined;
  readonly value: string;
  onChange(value: string): void;
}) {
  const ofRows = (routines?.list ?? []).filter(({ parameters }) => parameters.some(({ type }) => type === tableId(table)));
  const hint =
    unlisted !== undefined ? (
      `The functions of the database could not be listed: ${unlisted.message}`
    ) : routines?.isTruncated === true ? (
      `Suggestions come from the first ${routines.list.length} functions of the database. You can enter any other name.`
    ) : routines !== undefined && ofRows.length === 0 ? (
      <>
        No function in the database takes a row of {tableId(table)}. <a href={sqlHref(table)}>Create one with SQL</a>
      </>
    ) : (
      `Suggestions are functions that take a row of ${tableId(table)}.`
    );
  const options = ofRows.map((each) => ({ value: routineId(each), note: each.returns }));
  return <ComboboxField label="Function" hint={hint} value={value} options={options} onChange={onChange} />;
}

interface FieldDraft {
  readonly name: string;
  readonly functionId: string;
  readonly row: string;
  readonly session: string;
  readonly comment: string;
}

/** Returns false if the review was discarded. @throws Failure */
async function saveField(table: TableOverview, before: JsonObject | undefined, draft: FieldDraft): Promise<boolean> {
  const { comment: _, ...rest } = before ?? ({} as JsonObject);
  const name = draft.name.trim();
  const row = draft.row.trim();
  const session = draft.session.trim();
  const comment = draft.comment.trim();
  const field: JsonObject = {
    ...rest,
    name,
    definition: {
      function: routineNamed(draft.functionId, table.schema),
      ...(row === '' ? {} : { table_argument: row }),
      ...(session === '' ? {} : { session_argument: session }),
    },
    ...(comment === '' ? {} : { comment }),
  };
  return (await makeChange(change(table, `Computed field ${name} of ${tableId(table)}`, name, field, before))) !== null;
}

function sqlHref({ source, schema, name }: TableOverview): string {
  const sql = `create function ${name}_title(${name}_row ${schema}.${name}) returns text language sql stable as $$\n  select ${name}_row.id::text\n$$;`;
  return hrefOf(['sql'], { source, sql });
}

/** JSON editor for kinds whose functions are not identified by a row argument. */
function FieldAsJson({ table, before, onClose }: DialogProps) {
  const example = `{"name": "articles", "definition": {"function": {"dataset": "${table.schema}", "name": "articles_of"}, "argument_mapping": {"author": "id"}}}`;
  return (
    <JsonDialog
      title={titleOf(table, before)}
      text={before === undefined ? '' : printJson(before, 2)}
      action={before === undefined ? 'Add' : 'Save'}
      onClose={onClose}
      onSubmit={async (field) => {
        if (!isObject(field) || typeof field['name'] !== 'string') throw new SyntaxError('expected a JSON object with a name');
        const { name } = field;
        if (before !== undefined && name !== before['name'])
          throw new SyntaxError('a computed field cannot be renamed: delete it and add a new one');
        if ((await makeChange(change(table, `Computed field ${name} of ${tableId(table)}`, name, field, before))) !== null) onClose();
      }}
    >
      <p class="muted">
        Example: <code class="break">{example}</code>. <code>argument_mapping</code> maps function arguments to columns;{' '}
        <code>return_table</code> is the table of the returned rows.
      </p>
    </JsonDialog>
  );
}
