import { useState } from 'preact/hooks';
import { type Change, makeChange } from '../../api/changes.ts';
import { hasOperation } from '../../api/metadata.ts';
import { readRoutines, routineId, routineNamed } from '../../api/routines.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
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
import { Combobox } from '../../parts/combobox.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Field } from '../../parts/field.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { TextField } from '../../parts/text-field.tsx';

const KEY = 'computed_fields';

interface FieldsProps {
  readonly table: TableOverview;
  readonly info: TableInfo;
}

/** The entry with a computed field put in place of the one of its name, or added; without it, where it is null. @throws Error */
function withField(table: TableOverview, entry: JsonObject | null | undefined, name: string, field: JsonObject | null, isNew: boolean) {
  if (entry === null || entry === undefined) throw new Error(`${tableId(table)} is no longer tracked.`);
  if (isNew && memberOf(entry, KEY, 'name', name) !== undefined) throw new Error(`There is a computed field ${name} already.`);
  const next = withMember(entry, KEY, 'name', name, field);
  if (field !== null) return next;
  // Permissions name the computed fields that they give.
  const permissions = membersOf(next, 'select_permissions').map((each): JsonObject => {
    const permission = isObject(each['permission']) ? each['permission'] : {};
    const named = permission['computed_fields'];
    if (!isList(named) || !named.includes(name)) return each;
    return { ...each, permission: { ...permission, computed_fields: named.filter((other) => other !== name) } };
  });
  return permissions.length === 0 ? next : { ...next, select_permissions: permissions };
}

/** @param before the field as it was stored when the draft began; undefined for a new one */
function change(table: TableOverview, title: string, name: string, field: JsonObject | null, before: JsonObject | undefined): Change {
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  return {
    title,
    tables: [address],
    draft: { before: before ?? null, now: ([entry]) => memberOf(entry ?? null, KEY, 'name', name) ?? null, after: () => field },
    steps: ([entry]) => tableSteps(address, entry ?? null, withField(table, entry, name, field, before === undefined)),
  };
}

/** Fields whose values functions of the database compute from rows. */
export function Fields({ table, info }: FieldsProps) {
  const [edited, setEdited] = useState<JsonObject | 'new' | null>(null);
  const fields = membersOf(info.entry, KEY);
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  if (!hasOperation(table.kind, 'add_computed_field')) {
    return (
      <EmptyState icon="table" title="No computed fields">
        Databases of the kind {table.kind} have none: a view may compute what rows do not hold.
      </EmptyState>
    );
  }
  const add = (
    <Button kind={fields.length === 0 ? 'primary' : 'plain'} icon="plus" refusal={refusal} onClick={() => setEdited('new')}>
      Add a computed field
    </Button>
  );
  const before = edited === 'new' || edited === null ? undefined : edited;
  return (
    <>
      {fields.length === 0 ? (
        <EmptyState icon="table" title="No computed field" actions={add}>
          A function of the database that takes a row of {tableId(table)} becomes a field of it: a value, or rows of another table.
        </EmptyState>
      ) : (
        <>
          <div class="row">{add}</div>
          <ListTable name="Computed fields" isCard columns={['Field', 'Function', 'Arguments', ACTIONS]}>
            {fields.map((field) => {
              const name = String(field['name']);
              const definition = isObject(field['definition']) ? field['definition'] : {};
              const { function: called, table_argument: row, session_argument: session } = definition;
              return (
                <tr key={name}>
                  <td>
                    <strong>{name}</strong>
                    {typeof field['comment'] === 'string' && <p class="muted small">{field['comment']}</p>}
                  </td>
                  <td class="mono small">{labelOf(called ?? '')}</td>
                  <td class="small">
                    {row === undefined ? <span class="muted">the first is the row</span> : `row: ${String(row)}`}
                    {session !== undefined && `, session: ${String(session)}`}
                  </td>
                  <td class="nowrap">
                    <Button small kind="quiet" name={`Edit ${name}`} refusal={refusal} onClick={() => setEdited(field)}>
                      Edit
                    </Button>
                    <Button
                      small
                      kind="quiet"
                      name={`Drop ${name}`}
                      refusal={refusal}
                      onClick={() => void attempt(change(table, `Drop the computed field ${name} of ${tableId(table)}`, name, null, field))}
                    >
                      Drop …
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
  const [called, setCalled] = useState(definition['function'] === undefined ? '' : labelOf(definition['function']));
  const [row, setRow] = useState(String(definition['table_argument'] ?? ''));
  const [session, setSession] = useState(String(definition['session_argument'] ?? ''));
  const [comment, setComment] = useState(String(before?.['comment'] ?? ''));
  const { value: read, failure: unlisted } = useResource((signal) => readRoutines(table.source, table.kind, signal), `${table.source}`);
  const routines = read?.list;
  const ofRows = (routines ?? []).filter(({ parameters }) => parameters.some(({ type }) => type === tableId(table)));
  const chosen = (routines ?? []).find((each) => routineId(each) === called);
  const missing = name.trim() === '' ? 'Give it a name' : called.trim() === '' ? 'Choose a function' : undefined;
  const save = async (): Promise<boolean> => {
    const { comment: _, ...rest } = before ?? ({} as JsonObject);
    const field: JsonObject = {
      ...rest,
      name: name.trim(),
      definition: {
        function: routineNamed(called, table.schema),
        ...(row.trim() === '' ? {} : { table_argument: row.trim() }),
        ...(session.trim() === '' ? {} : { session_argument: session.trim() }),
      },
      ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
    };
    const title = `Computed field ${name.trim()} of ${tableId(table)}`;
    return (await makeChange(change(table, title, name.trim(), field, before))) !== null;
  };
  const parameters = (chosen?.parameters ?? []).map(({ name: value, type }) => ({ value, note: type }));
  return (
    <FormDialog
      title={titleOf(table, before)}
      action={before === undefined ? 'Add' : 'Save'}
      operation={`${table.kind}_add_computed_field`}
      refusal={missing}
      onClose={onClose}
      onSave={save}
    >
      <TextField label="Name" value={name} readOnly={before !== undefined} onInput={setName} />
      <Field
        label="Function"
        hint={
          unlisted !== undefined ? (
            `The functions of the database cannot be listed: ${unlisted.message}`
          ) : read?.isCut === true ? (
            `The first ${read.list.length} functions of the database were looked at; write the name of another one.`
          ) : routines !== undefined && ofRows.length === 0 ? (
            <>
              No function of the database takes a row of {tableId(table)}. <a href={sqlHref(table)}>Make one with SQL</a>
            </>
          ) : (
            `Those that take a row of ${tableId(table)} are proposed.`
          )
        }
      >
        {(id) => (
          <Combobox
            id={id}
            name="Function"
            value={called}
            options={ofRows.map((each) => ({ value: routineId(each), note: each.returns }))}
            onChange={setCalled}
          />
        )}
      </Field>
      <div class="row fields">
        <Field label="Argument that takes the row" hint="The first one, unless it is named.">
          {(id) => <Combobox id={id} name="Argument that takes the row" value={row} options={parameters} isLive onChange={setRow} />}
        </Field>
        <Field label="Argument that takes the session" hint="A JSON object of the session variables; no field argument.">
          {(id) => (
            <Combobox id={id} name="Argument that takes the session" value={session} options={parameters} isLive onChange={setSession} />
          )}
        </Field>
      </div>
      <TextField label="Comment" hint="Its description in the API." value={comment} onInput={setComment} />
    </FormDialog>
  );
}

function sqlHref({ source, schema, name }: TableOverview): string {
  const sql = `create function ${name}_title(${name}_row ${schema}.${name}) returns text language sql stable as $$\n  select ${name}_row.id::text\n$$;`;
  return hrefOf(['sql'], { source, sql });
}

/** Where functions are not told by their first argument, the definition is written as it is. */
function FieldAsJson({ table, before, onClose }: DialogProps) {
  const example = `{"name": "articles", "definition": {"function": {"dataset": "${table.schema}", "name": "articles_of"}, "argument_mapping": {"author": "id"}}}`;
  return (
    <JsonDialog
      title={titleOf(table, before)}
      text={before === undefined ? '' : printJson(before, 2)}
      action={before === undefined ? 'Add' : 'Save'}
      onClose={onClose}
      onSubmit={async (written) => {
        if (!isObject(written) || typeof written['name'] !== 'string') throw new SyntaxError('a computed field is an object with a name');
        const { name } = written;
        if (before !== undefined && name !== before['name'])
          throw new SyntaxError('a computed field keeps its name: drop it and add another');
        if ((await makeChange(change(table, `Computed field ${name} of ${tableId(table)}`, name, written, before))) !== null) onClose();
      }}
    >
      <p class="muted">
        Such as <code class="break">{example}</code>: <code>argument_mapping</code> leads from arguments of the function to columns;{' '}
        <code>return_table</code> is the table whose rows it returns.
      </p>
    </JsonDialog>
  );
}
