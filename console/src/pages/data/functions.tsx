import { useState } from 'preact/hooks';
import { config } from '../../api/config.ts';
import { type Routine, routineId } from '../../api/routines.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { isObject, objectsIn } from '../../model/json.ts';
import type { Overview, SourceOverview } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { FunctionDialog } from './function-dialog.tsx';
import { FunctionPermissions } from './function-permissions.tsx';
import { type FunctionsState, type TrackedFunction, useFunctions } from './use-functions.ts';

/** Functions of a source that are, or can be, root fields. */
export function Functions({ data, source }: { readonly data: Overview; readonly source: SourceOverview }) {
  const state = useFunctions(data, source);
  const { routines, tracked, isTracked } = state;
  const [edited, setEdited] = useState<TrackedFunction | 'new' | null>(null);
  const [permittedId, setPermittedId] = useState<string | null>(null);
  const listed = routines.value?.list ?? [];
  const permitted = tracked?.find(({ id }) => id === permittedId);
  return (
    <>
      <UntrackedFunctions kind={source.kind} state={state} onAdd={() => setEdited('new')} />
      <TrackedFunctions state={state} onEdit={setEdited} onPermit={setPermittedId} />
      {edited !== null && (
        <FunctionDialog
          source={source}
          before={edited === 'new' ? undefined : edited.entry}
          id={edited === 'new' ? '' : edited.id}
          routines={edited === 'new' ? listed.filter((each) => !isTracked(each)) : listed}
          onClose={() => setEdited(null)}
        />
      )}
      {permitted !== undefined && (
        <FunctionPermissions data={data} source={source} id={permitted.id} entry={permitted.entry} onClose={() => setPermittedId(null)} />
      )}
    </>
  );
}

function UntrackedFunctions({ kind, state, onAdd }: { readonly kind: string; readonly state: FunctionsState; onAdd(): void }) {
  const { routines, untracked, track } = state;
  const { value, failure, isLoading, reload, stop } = routines;
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">Untracked {value !== undefined && <span class="badge">{untracked.length}</span>}</h2>
        <Button small kind="quiet" icon="reload" name="Refresh functions" onClick={reload} />
        <Button small icon="plus" refusal={readOnlyRefusal} onClick={onAdd}>
          Track by name
        </Button>
      </header>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the functions of the database" onStop={stop} />}
      {value?.isTruncated === false && untracked.length === 0 && (
        <p class="muted">No functions to track. A function must return rows of a tracked table.</p>
      )}
      {value?.isTruncated === true && (
        <p role="status">
          Only the first {value.list.length} functions of the database are listed, by schema and name. Track others by name.
        </p>
      )}
      {untracked.length > 0 && (
        <ListTable name="Untracked functions" columns={['Function', 'Arguments', 'Returns', ACTIONS]}>
          {untracked.map((each, index) => (
            <tr key={index}>
              <td>
                <strong class="nowrap">{routineId(each)}</strong>
              </td>
              <td class="small">{argumentsOf(each)}</td>
              <td>{each.returns}</td>
              <td class="nowrap">
                <Button
                  small
                  name={`Track ${routineId(each)}`}
                  title={`${kind}_track_function`}
                  refusal={readOnlyRefusal}
                  onClick={() => track(each)}
                >
                  Track
                </Button>
              </td>
            </tr>
          ))}
        </ListTable>
      )}
    </section>
  );
}

interface TrackedProps {
  readonly state: FunctionsState;
  onEdit(tracked: TrackedFunction): void;
  onPermit(id: string): void;
}

function TrackedFunctions(props: TrackedProps) {
  const { entries, tracked } = props.state;
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">Tracked {tracked !== undefined && <span class="badge">{tracked.length}</span>}</h2>
      </header>
      {entries.failure !== undefined && <ErrorBox error={shownError(entries.failure)} onRetry={entries.reload} />}
      {tracked === undefined && entries.isLoading && <Loading what="the tracked functions" />}
      {tracked?.length === 0 && (
        <EmptyState icon="sql" title="No tracked functions">
          A tracked function becomes a query or, if it changes rows, a mutation.
        </EmptyState>
      )}
      {tracked !== undefined && tracked.length > 0 && (
        <>
          {config.value?.['is_function_permissions_inferred'] !== false && (
            <p class="muted">Roles with a select permission on the returned table can call query functions. Mutations need a permission.</p>
          )}
          <ListTable name="Tracked functions" columns={['Function', 'Exposed as', 'Roles', ACTIONS]}>
            {tracked.map((each) => (
              <TrackedRow key={each.id} {...props} tracked={each} />
            ))}
          </ListTable>
        </>
      )}
    </section>
  );
}

function TrackedRow({ state, tracked, onEdit, onPermit }: TrackedProps & { readonly tracked: TrackedFunction }) {
  const { id, entry, routine } = tracked;
  const configuration = isObject(entry['configuration']) ? entry['configuration'] : {};
  const { custom_name: custom, exposed_as: exposed, session_argument: session } = configuration;
  const roles = objectsIn(entry['permissions']).map(({ role }) => String(role));
  return (
    <tr>
      <td>
        <strong class="nowrap">{id}</strong>
        {routine !== undefined && <p class="muted small">{argumentsOf(routine)}</p>}
        {typeof entry['comment'] === 'string' && <p class="muted small">{entry['comment']}</p>}
      </td>
      <td>
        {exposed === undefined ? <span class="muted">default</span> : String(exposed)}
        {custom !== undefined && ` ${String(custom)}`}
        {session !== undefined && <p class="muted small">session argument: {String(session)}</p>}
      </td>
      <td>{roles.join(', ') || <span class="muted">none</span>}</td>
      <td class="nowrap">
        <Button small kind="quiet" name={`Roles of ${id}`} onClick={() => onPermit(id)}>
          Roles
        </Button>
        <Button small kind="quiet" name={`Edit ${id}`} refusal={readOnlyRefusal} onClick={() => onEdit(tracked)}>
          Edit
        </Button>
        <Button small kind="quiet" name={`Untrack ${id}`} refusal={readOnlyRefusal} onClick={() => state.untrack(tracked)}>
          Untrack …
        </Button>
      </td>
    </tr>
  );
}

function argumentsOf({ parameters }: Routine): string {
  return parameters.length === 0 ? 'no arguments' : parameters.map(({ name, type }) => `${name} ${type}`).join(', ');
}
