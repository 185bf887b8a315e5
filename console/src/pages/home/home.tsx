import { useState } from 'preact/hooks';
import { config } from '../../api/config.ts';
import { makeChange } from '../../api/changes.ts';
import { failureOf } from '../../api/failure.ts';
import { administer, send } from '../../api/http.ts';
import { ask, askKind, hasOperation } from '../../api/metadata.ts';
import { overview, overviewFailure, refreshOverview } from '../../api/overview.ts';
import { sessionChanges } from '../../api/changes.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { readInconsistency } from '../../model/inconsistent.ts';
import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { allTables, type Overview, type SourceOverview } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { tell } from '../../parts/toast.tsx';
import { Card } from './card.tsx';
import { EventCard } from './event-card.tsx';

/** How the service is, and what to do next. */
export function Home() {
  const data = overview.value;
  return (
    <div class="page">
      <header>
        <h1>Home</h1>
        <span class="end" />
        <ReloadButton />
      </header>
      {data === undefined && overviewFailure.value !== undefined && (
        <ErrorBox error={shownError(overviewFailure.value)} onRetry={() => void refreshOverview()} />
      )}
      {data === undefined && overviewFailure.value === undefined && <Loading what="the overview" />}
      {data !== undefined && (
        <>
          <FirstSteps data={data} />
          <div class="cards">
            <Sources data={data} />
            {data.inconsistent > 0 && <Inconsistencies data={data} />}
            {data.triggers.length > 0 && <EventCard version={data.version} />}
            <Next data={data} />
            <Checklist />
            {sessionChanges.value.length > 0 && <LastChanges />}
          </div>
        </>
      )}
    </div>
  );
}

function ReloadButton() {
  const [isBusy, setBusy] = useState(false);
  const reload = async (): Promise<void> => {
    setBusy(true);
    try {
      await makeChange({
        title: 'Reload the metadata',
        steps: () => [{ type: 'reload_metadata', args: { reload_sources: true, reload_remote_schemas: true } }],
      });
    } catch (error) {
      tell(failureOf(error).message, { isWrong: true });
    }
    setBusy(false);
  };
  return (
    <Button
      icon="reload"
      title="reload_metadata: reads the databases and remote schemas again"
      refusal={isBusy ? 'Being reloaded' : undefined}
      onClick={() => void reload()}
    >
      Reload metadata
    </Button>
  );
}

function FirstSteps({ data }: { readonly data: Overview }) {
  const tables = allTables(data);
  const steps = [
    {
      done: data.sources.length > 0,
      label: 'Connect a database',
      href: hrefOf(['data']),
      note: 'A source is a database that the API is made from.',
    },
    {
      done: tables.length > 0,
      label: 'Track tables',
      href: hrefOf(['data', data.sources[0]?.name ?? '']),
      note: 'A tracked table becomes a type with queries and mutations.',
    },
    {
      done: tables.some(({ relationships }) => relationships > 0),
      label: 'Relate them',
      href: hrefOf(['data', data.sources[0]?.name ?? ''], { tab: 'relationships' }),
      note: 'Foreign keys become fields that lead from row to row.',
    },
    {
      done: data.roles.length > 0,
      label: 'Permit roles',
      href: hrefOf(['data', data.sources[0]?.name ?? ''], { tab: 'permissions' }),
      note: 'Without permissions the API is for administrators alone.',
    },
  ];
  if (steps.every(({ done }) => done)) return null;
  return (
    <Card icon="play" title="From an empty database to an API">
      <ol class="steps">
        {steps.map(({ done, label, href, note }, index) => (
          <li key={label} class={done ? 'is-done' : ''}>
            <span class="mark">{done ? <Icon name="check" /> : index + 1}</span>
            <div>
              {done ? <strong>{label}</strong> : <a href={href}>{label}</a>}
              {done && <span class="visually-hidden"> (done)</span>}
              <p class="muted small">{note}</p>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}

interface SourceState {
  readonly name: string;
  readonly milliseconds: number;
  readonly problem: string | undefined;
}

/** Asks each source for next to nothing, and says how long that took. */
async function probe({ name, kind }: SourceOverview, signal: AbortSignal): Promise<SourceState> {
  const started = performance.now();
  try {
    await administer('v2/query', { body: { type: `${kind}_run_sql`, args: { source: name, sql: 'select 1', read_only: true } }, signal });
    return { name, milliseconds: performance.now() - started, problem: undefined };
  } catch (error) {
    return { name, milliseconds: performance.now() - started, problem: failureOf(error).message };
  }
}

function Sources({ data }: { readonly data: Overview }) {
  const { value, reload } = useResource((signal) => Promise.all(data.sources.map((source) => probe(source, signal))), `${data.version}`);
  const health = useResource(async (signal) => (await send('healthz', { method: 'GET', signal })).text, `${data.version}`);
  return (
    <Card icon="data" title="Sources" aside={<Button kind="quiet" small icon="reload" name="Ask the sources again" onClick={reload} />}>
      {health.value !== undefined && !health.value.startsWith('OK') && <p class="banner banner-warn">{health.value.slice(0, 200)}</p>}
      <ListTable name="Sources" columns={[{ hidden: 'Source' }, { hidden: 'Tables' }, { hidden: 'State' }]}>
        {data.sources.map((source) => {
          const state = value?.find(({ name }) => name === source.name);
          return (
            <tr key={source.name}>
              <td>
                <a href={hrefOf(['data', source.name])}>{source.name}</a> <span class="badge">{source.kind}</span>
                {state?.problem !== undefined && <p class="small muted">{state.problem}</p>}
              </td>
              <td class="number nowrap muted">
                {source.tables.length} {source.tables.length === 1 ? 'table' : 'tables'}
              </td>
              <td class="nowrap">
                {state === undefined ? (
                  <span class="muted">asking …</span>
                ) : state.problem === undefined ? (
                  <span class="badge badge-ok">
                    <Icon name="check" />
                    {Math.round(state.milliseconds)} ms
                  </span>
                ) : (
                  <span class="badge badge-danger">
                    <Icon name="warn" />
                    down
                  </span>
                )}
              </td>
            </tr>
          );
        })}
      </ListTable>
      {data.sources.length === 0 && (
        <p class="muted">
          No source yet. <a href={hrefOf(['data'])}>Connect a database</a>.
        </p>
      )}
    </Card>
  );
}

function Inconsistencies({ data }: { readonly data: Overview }) {
  const { value } = useResource(async (signal) => {
    const json = await ask('get_inconsistent_metadata', {}, { signal });
    return isObject(json) && isList(json['inconsistent_objects']) ? json['inconsistent_objects'].filter(isObject) : [];
  }, `${data.version}`);
  const drop = (): void =>
    void makeChange({
      title: 'Drop what is inconsistent',
      review: true,
      steps: () => [{ type: 'drop_inconsistent_metadata', args: {} }],
    }).catch((error) => tell(failureOf(error).message, { isWrong: true }));
  return (
    <Card
      icon="warn"
      title="Inconsistent"
      aside={
        <Button small kind="danger" onClick={drop}>
          Drop all …
        </Button>
      }
    >
      <p class="muted small">These objects do not fit their databases, and are not part of the API until they do.</p>
      <ul class="stack-tight">
        {value
          ?.map((record) => readInconsistency(record, data.sources))
          .map(({ reason, objects }, index) => (
            <li key={index}>
              {objects.map(({ name, place }) => (
                <p key={name}>
                  <strong>{place === undefined ? name : <a href={hrefOf(place.path, place.query)}>{name}</a>}</strong>
                </p>
              ))}
              <p class="small muted">{reason}</p>
            </li>
          ))}
      </ul>
    </Card>
  );
}

function Next({ data }: { readonly data: Overview }) {
  const { value } = useResource(
    (signal) =>
      Promise.all(
        data.sources.map(async ({ name, kind, tables }) => {
          const [all, suggested] = await Promise.all([
            hasOperation(kind, 'get_source_tables')
              ? askKind(kind, 'get_source_tables', { source: name }, { signal }).catch(() => null)
              : null,
            hasOperation(kind, 'suggest_relationships')
              ? askKind(kind, 'suggest_relationships', { source: name, omit_tracked: true }, { signal }).catch(() => null)
              : null,
          ]);
          const tracked = new Set(tables.map((table) => labelOf({ schema: table.schema, name: table.name })));
          return {
            name,
            isEmpty: listOf(all).length === 0,
            untracked: listOf(all).filter((table) => !tracked.has(labelOf(table))).length,
            relationships: isObject(suggested) ? listOf(suggested['relationships']).length : 0,
          };
        }),
      ),
    `${data.version}`,
  );
  const withoutPermissions = data.roles.length === 0 ? 0 : allTables(data).filter(({ granted }) => /^0*$/.test(granted)).length;
  const nothing = value?.every(({ untracked, relationships }) => untracked + relationships === 0) === true && withoutPermissions === 0;
  return (
    <Card icon="right" title="Next">
      {value === undefined && <Loading what="suggestions" />}
      <ul class="stack-tight">
        {value?.map(({ name, untracked, relationships }) => (
          <>
            {untracked > 0 && (
              <li class="row">
                <span class="grow">
                  <strong>{untracked}</strong> untracked {untracked === 1 ? 'table' : 'tables'} in {name}
                </span>
                <a class="button button-small" href={hrefOf(['data', name])}>
                  Track
                </a>
              </li>
            )}
            {relationships > 0 && (
              <li class="row">
                <span class="grow">
                  <strong>{relationships}</strong> suggested {relationships === 1 ? 'relationship' : 'relationships'} in {name}
                </span>
                <a class="button button-small" href={hrefOf(['data', name], { tab: 'relationships' })}>
                  Review
                </a>
              </li>
            )}
          </>
        ))}
        {withoutPermissions > 0 && (
          <li class="row">
            <span class="grow">
              <strong>{withoutPermissions}</strong> {withoutPermissions === 1 ? 'table' : 'tables'} that no role may use
            </span>
            <a class="button button-small" href={hrefOf(['data', data.sources[0]?.name ?? ''], { tab: 'permissions' })}>
              Permit
            </a>
          </li>
        )}
      </ul>
      {nothing && value?.every(({ isEmpty }) => isEmpty) === true && data.sources.length > 0 ? (
        <p class="muted">
          The database has no table yet. <a href={hrefOf(['sql'])}>Make some with SQL</a>.
        </p>
      ) : (
        nothing && <p class="muted">Nothing is waiting: all tables are tracked, related and permitted.</p>
      )}
    </Card>
  );
}

function listOf(json: Json | undefined): readonly Json[] {
  return isList(json) ? json : [];
}

function Checklist() {
  const { value } = config;
  if (value === undefined) return null;
  return (
    <Card icon="shield" title="Before production">
      <ul class="stack-tight">
        {checks(value).map(({ good, label, note }) => (
          <li key={label} class="row-tight check-line">
            <span class={`badge ${good ? 'badge-ok' : 'badge-warn'}`}>
              <Icon name={good ? 'check' : 'warn'} />
              {good ? 'yes' : 'no'}
            </span>
            <span>
              {label}
              {!good && <span class="muted small"> · {note}</span>}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function checks(report: JsonObject): { good: boolean; label: string; note: string }[] {
  return [
    { good: report['is_admin_secret_set'] === true, label: 'An admin secret is set', note: 'SVC_GRAPHQL_ADMIN_SECRET' },
    {
      good: report['is_jwt_set'] === true || report['is_auth_hook_set'] === true,
      label: 'Users are told apart',
      note: 'SVC_GRAPHQL_JWT_SECRET or SVC_GRAPHQL_AUTH_HOOK',
    },
    { good: report['dev_mode'] !== true, label: 'Developer mode is off', note: 'SVC_GRAPHQL_DEV_MODE' },
    { good: report['is_allow_list_enabled'] === true, label: 'Only listed operations are allowed', note: 'SVC_GRAPHQL_ENABLE_ALLOWLIST' },
  ];
}

function LastChanges() {
  return (
    <Card icon="history" title="Last changes of this session">
      <ul class="stack-tight">
        {sessionChanges.value
          .slice(-6)
          .toReversed()
          .map(({ title, at, version }) => (
            <li key={at.getTime()} class="row-tight">
              <span class="muted number">{at.toLocaleTimeString()}</span>
              <span class="grow ellipsis">{title}</span>
              <span class="muted">v{version}</span>
            </li>
          ))}
      </ul>
    </Card>
  );
}
