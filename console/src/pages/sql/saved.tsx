import { useState } from 'preact/hooks';
import { failureOf } from '../../api/failure.ts';
import { readOperation, runSteps } from '../../api/metadata.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { isObject, type JsonObject, objectOf, objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Search } from '../../parts/field.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { TextField } from '../../parts/text-field.tsx';
import { openText, updateOpenTab } from './tabs.ts';

interface SavedStatement {
  readonly name: string;
  readonly sql: string;
}

/** Reads the state of the console in the catalog, which all administrators share. @throws Failure */
async function readState(signal?: AbortSignal): Promise<JsonObject> {
  const json = await readOperation('get_catalog_state', {}, { signal });
  return isObject(json) ? objectOf(json['console_state']) : {};
}

function statementsIn(state: JsonObject): readonly SavedStatement[] {
  return objectsIn(state['sql_statements']).map(({ name, sql }) => ({ name: String(name), sql: String(sql) }));
}

/** Replaces the saved statements; the rest of the state stays. @throws Failure */
async function changeStatements(change: (before: readonly SavedStatement[]) => readonly SavedStatement[]): Promise<void> {
  const state = await readState();
  const statements = change(statementsIn(state)).map(({ name, sql }): JsonObject => ({ name, sql }));
  await runSteps([{ type: 'set_catalog_state', args: { type: 'console', state: { ...state, sql_statements: statements } } }]);
}

/** Saves a text under a name, in place of an earlier statement of this name. */
export function SaveDialog({ text, name: initial, onClose }: { readonly text: string; readonly name: string; onClose(): void }) {
  const [name, setName] = useState(initial);
  const save = async (): Promise<boolean> => {
    const statement = { name: name.trim(), sql: text };
    await changeStatements((before) => [...before.filter((each) => each.name !== statement.name), statement]);
    updateOpenTab({ name: statement.name });
    return true;
  };
  return (
    <FormDialog
      title="Save SQL"
      action="Save"
      operation="set_catalog_state"
      refusal={name.trim() === '' ? 'Enter a name' : undefined}
      onClose={onClose}
      onSave={save}
    >
      <TextField label="Name" hint="All administrators see saved statements. The same name replaces one." value={name} onInput={setName} />
    </FormDialog>
  );
}

/** List of the saved statements. */
export function SavedDialog({ onClose }: { onClose(): void }) {
  const [filter, setFilter] = useState('');
  const { value, failure, reload } = useResource(async (signal) => statementsIn(await readState(signal)), '');
  const [removal, setRemoval] = useState<{ readonly name?: string; readonly message?: string }>({});
  const found = (value ?? []).filter(({ name, sql }) => `${name} ${sql}`.toLowerCase().includes(filter.toLowerCase()));
  const remove = async (name: string): Promise<void> => {
    try {
      await changeStatements((before) => before.filter((each) => each.name !== name));
      setRemoval({});
      reload();
    } catch (error) {
      setRemoval({ name, message: failureOf(error).message });
    }
  };
  return (
    <Dialog title="Saved SQL" kind="wide" onClose={onClose}>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {removal.message !== undefined && <p class="banner banner-danger">{removal.message}</p>}
      {value === undefined && failure === undefined && <Loading what="the saved statements" />}
      {value?.length === 0 && <EmptyState icon="star" title="No saved statements" />}
      {value !== undefined && value.length > 0 && (
        <>
          <Search name="Filter saved statements" value={filter} onInput={setFilter} />
          <ListTable name="Saved statements" columns={['Name', 'Statement', ACTIONS]}>
            {found.map(({ name, sql }) => (
              <tr key={name}>
                <td>
                  <Button
                    kind="link"
                    onClick={() => {
                      openText(sql, name);
                      onClose();
                    }}
                  >
                    {name}
                  </Button>
                </td>
                <td>
                  <code class="saved-sql">{sql.replace(/\s+/g, ' ').slice(0, 120)}</code>
                </td>
                <td>
                  {removal.name === name && removal.message === undefined ? (
                    <Button small kind="danger" onClick={() => void remove(name)}>
                      Confirm
                    </Button>
                  ) : (
                    <Button
                      small
                      kind="quiet"
                      icon="trash"
                      name={`Delete ${name}`}
                      refusal={readOnlyRefusal}
                      onClick={() => setRemoval({ name })}
                    />
                  )}
                </td>
              </tr>
            ))}
          </ListTable>
        </>
      )}
    </Dialog>
  );
}
