import { useState } from 'preact/hooks';
import { config } from '../../api/config.ts';
import { functionPart } from '../../api/entries.ts';
import { ask } from '../../api/metadata.ts';
import { type Routine, readRoutines, routineId, routineJson, routineNamed } from '../../api/routines.ts';
import { objectsIn } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { type Overview, type SourceOverview, tableId } from '../../model/overview.ts';
import { functionSteps } from '../../model/source-drop.ts';
import { labelOf } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { FunctionDialog } from './function-dialog.tsx';
import { FunctionPermissions } from './function-permissions.tsx';

/** The functions of a source in the metadata. @throws Failure */
async function readFunctions(source: string, signal: AbortSignal): Promise<readonly JsonObject[]> {
  const exported = await ask('export_metadata', { only: { sources: [source] } }, { signal });
  const sources = isObject(exported) ? objectsIn(exported['sources']) : [];
  return objectsIn(sources.find(({ name }) => name === source)?.['functions']);
}

/** The id of a function as metadata names it: without a schema it is in the default one. */
function idOf(entry: JsonObject, { defaultSchema }: SourceOverview): string {
  const called = entry['function'] ?? '';
  return typeof called === 'string' ? routineId({ schema: defaultSchema, name: called }) : labelOf(called);
}

/** Functions of the database that are, or can be, root fields: those that return rows of a tracked table. */
export function Functions({ data, source }: { readonly data: Overview; readonly source: SourceOverview }) {
  const { name, kind } = source;
  const [edited, setEdited] = useState<JsonObject | null>(null);
  const [permitted, setPermitted] = useState<string | null>(null);
  const key = `${name} ${data.version}`;
  const { value, failure, isLoading, reload } = useResource((signal) => readFunctions(name, signal), key, { keeps: true });
  const {
    value: read,
    failure: unlisted,
    isLoading: isListing,
    reload: list,
    stop,
  } = useResource((signal) => readRoutines(name, kind, signal), key);
  const routines = read?.list;
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const tracked = new Set((value ?? []).map((entry) => idOf(entry, source)));
  const tables = new Set(source.tables.map((table) => tableId(table)));
  const untracked = (routines ?? []).filter((each) => tables.has(each.returns) && !tracked.has(routineId(each)));
  const routineOf = (entry: JsonObject): Routine | undefined => routines?.find((each) => routineId(each) === idOf(entry, source));
  const track = (routine: Routine): void => {
    const entry: JsonObject = { function: routineJson(routine) };
    void attempt({
      title: `Track the function ${routineId(routine)}`,
      parts: [functionPart(name, routineJson(routine))],
      steps: () => functionSteps(name, kind, entry),
      inverse: [{ type: `${kind}_untrack_function`, args: { source: name, function: routineJson(routine) } }],
    });
  };
  const untrack = (entry: JsonObject): void => {
    const called = routineNamed(idOf(entry, source), source.defaultSchema);
    void attempt({
      title: `Untrack the function ${idOf(entry, source)}`,
      review: true,
      parts: [functionPart(name, called)],
      steps: () => [{ type: `${kind}_untrack_function`, args: { source: name, function: called } }],
      inverse: ([before = null]) => (isObject(before) ? functionSteps(name, kind, before) : []),
    });
  };
  const opened = value?.find((entry) => idOf(entry, source) === permitted);
  return (
    <>
      <section class="card stack">
        <header>
          <h2 class="grow">Untracked {routines !== undefined && <span class="badge">{untracked.length}</span>}</h2>
          <Button small kind="quiet" icon="reload" name="Read the functions again" onClick={list} />
          <Button small icon="plus" refusal={refusal} onClick={() => setEdited({})}>
            By name
          </Button>
        </header>
        {unlisted !== undefined && <ErrorBox error={shownError(unlisted)} onRetry={list} />}
        {routines === undefined && isListing && <Loading what="the functions of the database" onStop={stop} />}
        {read?.isCut === false && untracked.length === 0 && (
          <p class="muted">None: a function can be tracked that returns rows of a tracked table.</p>
        )}
        {read?.isCut === true && (
          <p role="status">
            The database has more functions than the {read.list.length} that were looked at, in the order of schemas and names. Track others
            by name.
          </p>
        )}
        {untracked.length > 0 && (
          <ListTable name="Functions that are not tracked" columns={['Function', 'Arguments', 'Returns', ACTIONS]}>
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
                    refusal={refusal}
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
      <section class="card stack">
        <header>
          <h2 class="grow">Tracked {value !== undefined && <span class="badge">{value.length}</span>}</h2>
        </header>
        {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
        {value === undefined && isLoading && <Loading what="the tracked functions" />}
        {value?.length === 0 && (
          <EmptyState icon="sql" title="No function is tracked">
            A tracked function is a root field: a query, or a mutation where it changes rows.
          </EmptyState>
        )}
        {value !== undefined && value.length > 0 && (
          <>
            {config.value?.['is_function_permissions_inferred'] !== false && (
              <p class="muted">
                A role that may select from the table of a function may call the function, if it is a query. Mutations have to be permitted.
              </p>
            )}
            <ListTable name="Tracked functions" columns={['Function', 'In the API', 'Roles', ACTIONS]}>
              {value.map((entry) => {
                const id = idOf(entry, source);
                const configuration = isObject(entry['configuration']) ? entry['configuration'] : {};
                const { custom_name: custom, exposed_as: exposed, session_argument: session } = configuration;
                return (
                  <tr key={id}>
                    <td>
                      <strong class="nowrap">{id}</strong>
                      {routineOf(entry) !== undefined && <p class="muted small">{argumentsOf(routineOf(entry) as Routine)}</p>}
                      {typeof entry['comment'] === 'string' && <p class="muted small">{entry['comment']}</p>}
                    </td>
                    <td>
                      {exposed === undefined ? <span class="muted">as it is defined</span> : String(exposed)}
                      {custom !== undefined && ` ${String(custom)}`}
                      {session !== undefined && <p class="muted small">is told the session as {String(session)}</p>}
                    </td>
                    <td>
                      {objectsIn(entry['permissions'])
                        .map(({ role }) => String(role))
                        .join(', ') || <span class="muted">none</span>}
                    </td>
                    <td class="nowrap">
                      <Button small kind="quiet" name={`Roles of ${id}`} onClick={() => setPermitted(id)}>
                        Roles
                      </Button>
                      <Button small kind="quiet" name={`Edit ${id}`} refusal={refusal} onClick={() => setEdited(entry)}>
                        Edit
                      </Button>
                      <Button small kind="quiet" name={`Untrack ${id}`} refusal={refusal} onClick={() => untrack(entry)}>
                        Untrack …
                      </Button>
                    </td>
                  </tr>
                );
              })}
            </ListTable>
          </>
        )}
      </section>
      {edited !== null && (
        <FunctionDialog
          source={source}
          before={edited['function'] === undefined ? undefined : edited}
          id={edited['function'] === undefined ? '' : idOf(edited, source)}
          routines={(routines ?? []).filter((each) => edited['function'] !== undefined || !tracked.has(routineId(each)))}
          onClose={() => setEdited(null)}
        />
      )}
      {opened !== undefined && permitted !== null && (
        <FunctionPermissions data={data} source={source} id={permitted} entry={opened} onClose={() => setPermitted(null)} />
      )}
    </>
  );
}

function argumentsOf({ parameters }: Routine): string {
  return parameters.length === 0 ? 'no arguments' : parameters.map(({ name, type }) => `${name} ${type}`).join(', ');
}
