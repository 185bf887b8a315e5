import { isReadOnly, readOnlyRefusal } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { ANYTHING, printFilter, readFilter } from '../../model/filter-tree.ts';
import { type JsonObject, printJson } from '../../model/json.ts';
import type { Overview } from '../../model/overview.ts';
import { sessionVariablesIn } from '../../model/persona.ts';
import type { PermissionOperation } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { Menu } from '../../parts/menu.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { FilterBuilder } from '../filter-builder/filter-builder.tsx';
import { ColumnPresets, PermissionColumns } from './permission-fields.tsx';
import { Preview } from './preview.tsx';
import { type PermissionAddress, type PermissionDraftState, usePermissionDraft } from './use-permission-draft.ts';

interface FormProps extends PermissionAddress {
  readonly data: Overview;
  /** `null` if the role has none. */
  readonly saved: JsonObject | null;
  /** Permissions of other roles for the same operation. */
  readonly others: readonly { readonly role: string; readonly permission: JsonObject }[];
  /** Called when the stored permission has been read again after a change of the form. */
  onApplied(): void;
}

/** Conditions of a permission, by operation. */
const CONDITIONS: Readonly<Record<PermissionOperation, readonly (readonly [key: string, label: string, hint: string])[]>> = {
  select: [['filter', 'Row filter', 'rows the role can read']],
  insert: [['check', 'Row check', 'inserted rows must satisfy']],
  update: [
    ['filter', 'Row filter', 'rows the role can update'],
    ['check', 'Row check', 'updated rows must satisfy'],
  ],
  delete: [['filter', 'Row filter', 'rows the role can delete']],
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

/** Form of one permission, as a tree of conditions or as JSON. Both show the same draft, so that switching loses nothing. */
export function PermissionForm(props: FormProps) {
  const { info, role, operation, saved } = props;
  const state = usePermissionDraft(props);
  const { draft, form, failure, textError, isChanged, outdatedSince, refusal } = state;
  return (
    <section class="card permission">
      <header>
        <h2 class="grow">
          {operation.charAt(0).toUpperCase() + operation.slice(1)} permission of <span class="accent">{role}</span>
          {isChanged && <span class="badge badge-accent edited">edited</span>}
        </h2>
        <Segments
          name="View as"
          options={[
            ['tree', 'Tree'],
            ['json', 'JSON'],
          ]}
          chosen={form}
          onChoose={state.show}
        />
      </header>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {outdatedSince !== undefined && (
        <p class="banner banner-warn" role="status">
          This permission has changed since your draft from v{outdatedSince}. The review shows both versions. Reset shows the stored one.
        </p>
      )}
      {form === 'json' && <PermissionJson {...props} state={state} fallback={blank(operation, info)} />}
      {form === 'tree' && draft === null && <NoPermission {...props} onChoose={state.setDraft} />}
      {form === 'tree' && draft !== null && <PermissionTree {...props} draft={draft} set={state.set} />}
      <div class="row permission-actions">
        <Button kind="primary" refusal={refusal} onClick={() => void state.apply(draft)}>
          Review changes
        </Button>
        <Button refusal={isChanged || textError !== undefined ? undefined : 'No changes'} onClick={state.reset}>
          Reset
        </Button>
        <span class="grow" />
        {saved !== null && (
          <Button kind="quiet" icon="trash" refusal={readOnlyRefusal} onClick={() => void state.apply(null)}>
            Delete permission …
          </Button>
        )}
      </div>
    </section>
  );
}

/** Permissions to start with, for a role that has none. */
function NoPermission({ info, role, operation, others, onChoose }: FormProps & { onChoose(permission: JsonObject): void }) {
  const owner = info.columns.find(({ name }) => /^(?:user_id|owner_id|owner|author_id|customer_id|account_id)$/.test(name))?.name;
  const column = info.primaryKey[0] ?? info.columns[0]?.name;
  const condition = operation === 'insert' ? 'check' : 'filter';
  const choose = (rows: JsonObject): void => onChoose({ ...blank(operation, info), [condition]: rows });
  return (
    <div class="stack">
      <p class="muted">
        {role} has no {operation} permission.
      </p>
      <div class="row">
        {owner !== undefined && (
          <Button kind="primary" refusal={readOnlyRefusal} onClick={() => choose({ [owner]: { _eq: 'X-Svc-User-Id' } })}>
            Own rows ({owner})
          </Button>
        )}
        {column !== undefined && (
          <Button
            kind={owner === undefined ? 'primary' : 'plain'}
            refusal={readOnlyRefusal}
            onClick={() => choose({ [column]: { _eq: '' } })}
          >
            Rows by a condition
          </Button>
        )}
        <Button refusal={readOnlyRefusal} onClick={() => onChoose(blank(operation, info))}>
          {operation === 'insert' ? 'Any row' : 'All rows'}
        </Button>
        {others.length > 0 && (
          <Menu icon="copy" items={others.map((other) => ({ label: other.role, run: () => onChoose(other.permission) }))}>
            Copy from …
          </Menu>
        )}
      </div>
    </div>
  );
}

function PermissionJson({
  role,
  operation,
  state,
  fallback,
}: FormProps & { readonly state: PermissionDraftState; readonly fallback: JsonObject }) {
  const { draft, text, textError, refusal } = state;
  return (
    <div class="stack-tight">
      <CodeEditor
        name={`${operation} permission of ${role} as JSON`}
        language="json"
        height="18.75rem"
        value={text ?? printJson(draft ?? fallback, 2)}
        readOnly={isReadOnly}
        onChange={state.editText}
        onRun={() => void (refusal === undefined && state.apply(draft))}
      />
      {textError !== undefined && (
        <p class="field">
          <span class="error-text" role="alert">
            {textError}
          </span>
        </p>
      )}
    </div>
  );
}

interface TreeProps extends FormProps {
  readonly draft: JsonObject;
  readonly set: PermissionDraftState['set'];
}

function PermissionTree(props: TreeProps) {
  const { data, table, info, role, operation, saved, draft, set } = props;
  const variables = [...new Set(['user-id', ...sessionVariablesIn(printJson(info.entry))])];
  return (
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
          <PermissionColumns info={info} operation={operation} draft={draft} onChange={(columns) => set({ columns })} />
        )}
        {(operation === 'insert' || operation === 'update') && (
          <ColumnPresets info={info} draft={draft} variables={variables} onChange={(preset) => set({ set: preset })} />
        )}
        {operation === 'select' && <SelectOptions draft={draft} set={set} />}
        {operation !== 'select' && (
          <Check
            label="Backend only"
            title="backend_only: requires the admin secret and the header X-Svc-Use-Backend-Only-Permissions"
            checked={draft['backend_only'] === true}
            onChange={(on) => set({ backend_only: on ? true : undefined })}
          />
        )}
      </div>
      {operation !== 'insert' && (
        <Preview data={data} table={table} info={info} role={role} operation={operation} draft={draft} saved={saved} />
      )}
    </div>
  );
}

function SelectOptions({ draft, set }: Pick<TreeProps, 'draft' | 'set'>) {
  const { limit } = draft;
  return (
    <div class="row filter-form">
      <Field label="Row limit">
        {(id) => (
          <input
            id={id}
            class="input input-small"
            inputMode="numeric"
            size={8}
            placeholder="none"
            value={limit === undefined || limit === null ? '' : String(limit)}
            onInput={(event) => set({ limit: /^\d+$/.test(event.currentTarget.value) ? Number(event.currentTarget.value) : undefined })}
          />
        )}
      </Field>
      <Check
        label="Allow aggregations"
        title="allow_aggregations: count, sum and other aggregates"
        checked={draft['allow_aggregations'] === true}
        onChange={(on) => set({ allow_aggregations: on ? true : undefined })}
      />
    </div>
  );
}
