import { useEffect, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { ANYTHING, printFilter, readFilter, valueOfText } from '../../model/filter-tree.ts';
import { equalJson, isList, isObject, type Json, type JsonObject, parseJson, printJson } from '../../model/json.ts';
import { type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { sessionVariablesIn, variableHeader } from '../../model/persona.ts';
import { memberOf, type PermissionOperation, tableSteps, withMember } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { Combobox } from '../../parts/combobox.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { Menu } from '../../parts/menu.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { FilterBuilder } from '../filter-builder/filter-builder.tsx';
import { Preview } from './preview.tsx';

export interface FormProps {
  readonly data: Overview;
  readonly table: TableOverview;
  readonly info: TableInfo;
  readonly role: string;
  readonly operation: PermissionOperation;
  /** Null where the role has none. */
  readonly saved: JsonObject | null;
  readonly others: readonly { readonly role: string; readonly permission: JsonObject }[];
  /** Called when the stored permission has been read again after a change of the form. */
  onApplied(): void;
}

/** The conditions that a permission has, by operation. */
const CONDITIONS: Readonly<Record<PermissionOperation, readonly (readonly [key: string, label: string, hint: string])[]>> = {
  select: [['filter', 'Rows', 'it sees']],
  insert: [['check', 'Rows', 'it may insert: what is inserted has to fulfil']],
  update: [
    ['filter', 'Rows', 'it may update'],
    ['check', 'Afterwards', 'what was updated has to fulfil'],
  ],
  delete: [['filter', 'Rows', 'it may delete']],
};

function blank(operation: PermissionOperation, info: TableInfo): JsonObject {
  const columns = info.columns.map(({ name }) => name);
  switch (operation) {
    case 'select':
      return { columns, filter: {} };
    case 'insert':
      return { columns, check: {} };
    case 'update':
      return { columns, filter: {}, check: null };
    case 'delete':
      return { filter: {} };
  }
}

/** A permission while it is edited, with the stored one that it began with. */
interface Draft {
  /** Null if the role is to have none. */
  readonly permission: JsonObject | null;
  readonly before: JsonObject | null;
  readonly version: number;
}

/**
 * One permission: as a form with a tree, or as JSON; nothing of it is lost by changing between them. What is edited stays when the metadata
 * changes, and replaces no other permission than the one that it began with.
 */
export function PermissionForm({ data, table, info, role, operation, saved, others, onApplied }: FormProps) {
  const [edited, setEdited] = useState<Draft>();
  const [form, setForm] = useState<'tree' | 'json'>('tree');
  /** The JSON as it is written; undefined while the draft is shown. */
  const [text, setText] = useState<string>();
  const [wrong, setWrong] = useState<string>();
  const [failure, setFailure] = useState<Failure>();
  /** Whether the draft was applied: it stays on screen until the stored permission has been read again. */
  const [isApplied, setApplied] = useState(false);
  useEffect(() => {
    if (!isApplied) return;
    reset();
    onApplied();
  }, [info.version]);
  const key = `${operation}_permissions`;
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  const draft = edited === undefined ? saved : edited.permission;
  const isChanged = !equalJson(draft, saved);
  const isOutdated = edited !== undefined && isChanged && !isApplied && !equalJson(edited.before, saved);
  const variables = [...new Set(['user-id', ...sessionVariablesIn(printJson(info.entry))])];
  const setDraft = (permission: JsonObject | null): void => {
    const before = edited === undefined ? saved : edited.before;
    const isStored = equalJson(permission, before) && equalJson(before, saved);
    setEdited(isStored ? undefined : { permission, before, version: edited?.version ?? info.version });
  };
  const reset = (): void => {
    setEdited(undefined);
    setText(undefined);
    setWrong(undefined);
    setApplied(false);
  };
  const set = (changes: Readonly<Record<string, Json | undefined>>): void => {
    const next = Object.entries({ ...draft, ...changes }).filter((entry): entry is [string, Json] => entry[1] !== undefined);
    setDraft(Object.fromEntries(next));
  };
  const show = (next: 'tree' | 'json'): void => {
    if (next === 'tree' && wrong !== undefined) return;
    setText(undefined);
    setForm(next);
  };
  const edit = (next: string): void => {
    setText(next);
    try {
      const json = parseJson(next);
      if (!isObject(json)) throw new SyntaxError('a permission is an object');
      setWrong(undefined);
      setDraft(json);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  const apply = async (to: JsonObject | null): Promise<void> => {
    setFailure(undefined);
    const permissionIn = (entry: JsonObject | null | undefined): Json => memberOf(entry ?? null, key, 'role', role)?.['permission'] ?? null;
    try {
      const done = await makeChange({
        title: `${operation} of ${role} on ${tableId(table)}`,
        tables: [address],
        review: true,
        draft: {
          before: edited === undefined ? saved : edited.before,
          now: ([entry]) => permissionIn(entry),
          after: () => to,
          version: edited?.version ?? info.version,
          discard: reset,
        },
        steps: ([entry]) => {
          if (entry === null || entry === undefined) throw new Error('the table is no longer tracked');
          const before = memberOf(entry, key, 'role', role);
          const comment = before?.['comment'];
          const member = to === null ? null : { role, permission: to, ...(comment === undefined ? {} : { comment }) };
          return tableSteps(address, entry, withMember(entry, key, 'role', role, member));
        },
      });
      if (done !== null) setApplied(true);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const refusal = isReadOnly ? READ_ONLY_REASON : wrong !== undefined ? 'The JSON is broken' : isChanged ? undefined : 'Nothing is changed';
  const ownRows =
    info.columns.find(({ name }) => /^(?:user_id|owner_id|owner|author_id|customer_id|account_id)$/.test(name))?.name ?? info.primaryKey[0];
  const isIncomplete = draft === null;
  return (
    <section class="card permission">
      <header>
        <h2 class="grow">
          {operation} of <span class="accent">{role}</span>
          {isChanged && <span class="badge badge-accent edited">edited</span>}
        </h2>
        <Segments
          name="Shown as"
          options={[
            ['tree', 'Tree'],
            ['json', 'JSON'],
          ]}
          chosen={form}
          onChoose={show}
        />
      </header>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {isOutdated && (
        <p class="banner banner-warn" role="status">
          This permission has been changed since your draft began at v{edited.version}. The review shows both; Reset shows the stored one.
        </p>
      )}
      {isIncomplete && form === 'tree' ? (
        <div class="stack">
          <p class="muted">
            {role} may not {operation} here.
          </p>
          <div class="row">
            <Button kind="primary" refusal={isReadOnly ? READ_ONLY_REASON : undefined} onClick={() => setDraft(blank(operation, info))}>
              {operation === 'insert' ? 'Any row' : 'All rows'}
            </Button>
            {ownRows !== undefined && (
              <Button
                refusal={isReadOnly ? READ_ONLY_REASON : undefined}
                onClick={() =>
                  setDraft({
                    ...blank(operation, info),
                    [operation === 'insert' ? 'check' : 'filter']: { [ownRows]: { _eq: 'X-Svc-User-Id' } },
                  })
                }
              >
                Own rows by {ownRows}
              </Button>
            )}
            {others.length > 0 && (
              <Menu icon="copy" items={others.map((other) => ({ label: `As ${other.role}`, run: () => setDraft(other.permission) }))}>
                Same as …
              </Menu>
            )}
          </div>
        </div>
      ) : form === 'json' ? (
        <div class="stack-tight">
          <CodeEditor
            name={`${operation} permission of ${role} as JSON`}
            language="json"
            height="300px"
            value={text ?? printJson(draft ?? blank(operation, info), 2)}
            readOnly={isReadOnly}
            onChange={edit}
            onRun={() => void (refusal === undefined && apply(draft))}
          />
          {wrong !== undefined && (
            <p class="field">
              <span class="wrong" role="alert">
                {wrong}
              </span>
            </p>
          )}
        </div>
      ) : (
        draft !== null && (
          <div class="permission-columns">
            <div class="stack">
              {CONDITIONS[operation].map(([condition, label, hint]) => (
                <fieldset class="plain-fieldset" key={condition}>
                  <legend>
                    <span class="label">{label}</span> <span class="muted small">{hint}</span>
                  </legend>
                  <FilterBuilder
                    node={draft[condition] === undefined || draft[condition] === null ? ANYTHING : readFilter(draft[condition])}
                    table={table}
                    variables={variables}
                    isReadOnly={isReadOnly}
                    onChange={(node) => set({ [condition]: printFilter(node) })}
                  />
                </fieldset>
              ))}
              {operation !== 'delete' && (
                <Columns info={info} operation={operation} draft={draft} onChange={(columns) => set({ columns })} />
              )}
              {(operation === 'insert' || operation === 'update') && (
                <Presets info={info} draft={draft} variables={variables} onChange={(preset) => set({ set: preset })} />
              )}
              {operation === 'select' && (
                <div class="row">
                  <Field label="Most rows of an answer">
                    {(id) => (
                      <input
                        id={id}
                        class="input input-small"
                        inputMode="numeric"
                        size={8}
                        placeholder="any"
                        value={draft['limit'] === undefined || draft['limit'] === null ? '' : String(draft['limit'])}
                        onInput={(event) =>
                          set({ limit: /^\d+$/.test(event.currentTarget.value) ? Number(event.currentTarget.value) : undefined })
                        }
                      />
                    )}
                  </Field>
                  <Check
                    label="Aggregates"
                    title="allow_aggregations: counts, sums and the like"
                    checked={draft['allow_aggregations'] === true}
                    onChange={(on) => set({ allow_aggregations: on ? true : undefined })}
                  />
                </div>
              )}
              {operation !== 'select' && (
                <Check
                  label="Only for backends (backend_only)"
                  title="Needs the header X-Svc-Use-Backend-Only-Permissions with the admin secret"
                  checked={draft['backend_only'] === true}
                  onChange={(on) => set({ backend_only: on ? true : undefined })}
                />
              )}
            </div>
            {operation !== 'insert' && (
              <Preview data={data} table={table} info={info} role={role} operation={operation} draft={draft} saved={saved} />
            )}
          </div>
        )
      )}
      <div class="row permission-actions">
        <Button kind="primary" refusal={refusal} onClick={() => void apply(draft)}>
          Review the change
        </Button>
        <Button refusal={isChanged || wrong !== undefined ? undefined : 'Nothing is changed'} onClick={reset}>
          Reset
        </Button>
        <span class="grow" />
        {saved !== null && (
          <Button kind="quiet" icon="trash" refusal={isReadOnly ? READ_ONLY_REASON : undefined} onClick={() => void apply(null)}>
            Take it away …
          </Button>
        )}
      </div>
    </section>
  );
}

function Columns({
  info,
  operation,
  draft,
  onChange,
}: {
  readonly info: TableInfo;
  readonly operation: string;
  readonly draft: JsonObject;
  onChange(columns: Json): void;
}) {
  const { columns } = draft;
  const names = info.columns.map(({ name }) => name);
  const isAll = columns === '*';
  const chosen = new Set(isAll ? names : isList(columns) ? columns.map(String) : []);
  const unknown = [...chosen].filter((name) => !names.includes(name));
  return (
    <fieldset class="plain-fieldset">
      <legend>
        <span class="label">Columns</span> <span class="muted small">{operation === 'select' ? 'it sees' : 'it may give'}</span>
      </legend>
      <div class="row">
        <Check label="All, also those that come later" checked={isAll} onChange={(on) => onChange(on ? '*' : names)} />
        {!isAll && (
          <>
            <Button small kind="quiet" onClick={() => onChange(names)}>
              Tick all
            </Button>
            <Button small kind="quiet" onClick={() => onChange([])}>
              None
            </Button>
          </>
        )}
      </div>
      <div class="column-ticks">
        {[...names, ...unknown].map((name) => (
          <Check
            key={name}
            label={name}
            disabled={isAll}
            checked={chosen.has(name)}
            onChange={(on) => {
              const next = new Set(chosen);
              if (on) next.add(name);
              else next.delete(name);
              onChange([...names, ...unknown].filter((each) => next.has(each)));
            }}
          />
        ))}
      </div>
    </fieldset>
  );
}

function Presets({
  info,
  draft,
  variables,
  onChange,
}: {
  readonly info: TableInfo;
  readonly draft: JsonObject;
  readonly variables: readonly string[];
  onChange(preset: Json | undefined): void;
}) {
  const preset = isObject(draft['set']) ? draft['set'] : {};
  const entries = Object.entries(preset);
  const typeOf = (column: string): string => info.columns.find(({ name }) => name === column)?.type ?? '';
  const set = (next: readonly (readonly [string, Json])[]): void => onChange(next.length === 0 ? undefined : Object.fromEntries(next));
  return (
    <fieldset class="plain-fieldset">
      <legend>
        <span class="label">Presets</span>{' '}
        <span class="muted small">columns that are set by the service, from the session or a fixed value</span>
      </legend>
      <div class="stack-tight">
        {entries.map(([column, value], index) => (
          <div class="row-tight" key={column}>
            <span class="mono">{column}</span> =
            <Combobox
              small
              name={`Preset of ${column}`}
              value={typeof value === 'string' ? value : printJson(value)}
              options={variables.map((name) => ({ value: variableHeader(name), note: 'session' }))}
              onChange={(text) => set(entries.with(index, [column, valueOfText(text, typeOf(column), '_eq')]))}
            />
            <Button
              small
              kind="quiet"
              icon="cross"
              name={`Remove the preset of ${column}`}
              onClick={() => set(entries.toSpliced(index, 1))}
            />
          </div>
        ))}
        <Menu
          small
          icon="plus"
          items={info.columns
            .filter(({ name }) => !Object.hasOwn(preset, name))
            .map(({ name }) => ({ label: name, run: () => set([...entries, [name, 'X-Svc-User-Id']]) }))}
        >
          Preset
        </Menu>
      </div>
    </fieldset>
  );
}
