import { useMemo, useState } from 'preact/hooks';
import { type Change, makeChange } from '../../api/changes.ts';
import { memberPart, readMetadata, sectionPart, sourcePart } from '../../api/entries.ts';
import { failureOf } from '../../api/failure.ts';
import { askKind, hasOperation } from '../../api/metadata.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf, place, setQuery } from '../../browser/place.ts';
import { SuggestedRelationships } from '../../features/relationship-suggestions.tsx';
import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { type Overview, type SourceOverview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { readSuggestions, relationshipStep } from '../../model/relationship-names.ts';
import { sourceDrop } from '../../model/source-drop.ts';
import { labelOf, type Step } from '../../model/steps.ts';
import { useAfterDrawn } from '../../parts/after-drawn.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Search } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Menu } from '../../parts/menu.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { tell, type ToastAction } from '../../parts/toast.tsx';
import { AllPermissions } from './all-permissions.tsx';
import { Functions } from './functions.tsx';

/** So many are drawn: the list on the left has all of them, and a filter finds the others. */
const MOST_LISTED = 50;
/** A screen of them: the others come when these have been seen. */
const FIRST_LISTED = 15;
const MOST_UNTRACKED = 100;

/** A source as a whole: what is tracked, what its keys suggest, who may do what. */
export function SourcePage({ data, source }: { readonly data: Overview; readonly source: SourceOverview }) {
  const tab = place.value.query.get('tab') ?? 'tables';
  const reload = (): void =>
    void run({ title: `Reload ${source.name}`, steps: () => [{ type: 'reload_metadata', args: { reload_sources: [source.name] } }] });
  return (
    <div class="page">
      <header>
        <h1>{source.name}</h1>
        <span class="badge">{source.kind}</span>
        <span class="end row-tight">
          <Button icon="reload" title="reload_metadata" onClick={reload}>
            Reload
          </Button>
          <Menu
            icon="more"
            name="More"
            items={[
              {
                label: 'Drop this source …',
                icon: 'trash',
                danger: true,
                refusal: isReadOnly ? READ_ONLY_REASON : undefined,
                run: () => void dropSource(source),
              },
            ]}
          />
        </span>
      </header>
      {source.unavailable !== undefined && (
        <div class="banner banner-danger" role="alert">
          <Icon name="warn" />
          <span>{source.unavailable}</span>
        </div>
      )}
      <Tabs
        name="Of the source"
        tabs={[
          { id: 'tables', label: 'Tables' },
          { id: 'relationships', label: 'Relationships' },
          { id: 'permissions', label: 'Permissions' },
          ...(hasOperation(source.kind, 'track_function') ? [{ id: 'functions', label: 'Functions' }] : []),
        ]}
        chosen={tab}
        onChoose={(id) => setQuery({ tab: id })}
      />
      <div {...tabPanel(tab)} class="stack">
        {tab === 'relationships' ? (
          <SuggestedRelationships source={source} version={data.version} />
        ) : tab === 'permissions' ? (
          <AllPermissions data={data} source={source} />
        ) : tab === 'functions' && hasOperation(source.kind, 'track_function') ? (
          <Functions data={data} source={source} />
        ) : (
          <Tables data={data} source={source} />
        )}
      </div>
    </div>
  );
}

async function dropSource({ name, kind, unavailable }: SourceOverview): Promise<void> {
  await run({
    title: `Drop the source ${name}`,
    review: true,
    // What rests on a source that cannot be used is not known, and is not dropped with it.
    steps: () => [{ type: `${kind}_drop_source`, args: { name, ...(unavailable === undefined ? { cascade: true } : {}) } }],
    ...(await takingBack(name)),
  });
}

/** What a dropped source and what goes with it are added by; nothing, where something of it cannot be added by operations. */
async function takingBack(name: string): Promise<Partial<Change>> {
  try {
    const { tables, remoteSchemas, isOfTypes, inverse } = sourceDrop((await readMetadata()).metadata, name);
    const remotes = remoteSchemas.map((remote) => memberPart('remote_schemas', remote));
    return { tables, parts: [sourcePart(name), ...remotes, ...(isOfTypes ? [sectionPart('custom_types')] : [])], inverse };
  } catch (error) {
    tell(`Dropping ${name} cannot be taken back: ${failureOf(error).message}`, { isWrong: true });
    return {};
  }
}

async function run(change: Change): Promise<Json | null> {
  try {
    return await makeChange(change);
  } catch (error) {
    tell(failureOf(error).message, { isWrong: true });
    return null;
  }
}

function Tables({ data, source }: { readonly data: Overview; readonly source: SourceOverview }) {
  const { name, kind } = source;
  const [filter, setFilter] = useState('');
  const [ticked, setTicked] = useState<ReadonlySet<string> | null>(null);
  const [relate, setRelate] = useState(true);
  const isDrawn = useAfterDrawn();
  const { listed, tracked } = useMemo(() => {
    const named = source.tables.map((table) => [tableId(table), table] as const);
    const sorted = named.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, MOST_LISTED);
    return { listed: sorted.map(([, table]) => table), tracked: new Set(named.map(([id]) => id)) };
  }, [source.tables]);
  const { value, failure, isLoading, reload } = useResource(async (signal) => {
    const json = await askKind(kind, 'get_source_tables', { source: name }, { signal });
    return isList(json) ? json.filter(isObject) : [];
  }, `${name} ${data.version}`);
  const untracked = (value ?? []).filter(
    (table) => !tracked.has(labelOf(table)) && labelOf(table).toLowerCase().includes(filter.toLowerCase()),
  );
  const chosen = untracked.filter((table) => ticked === null || ticked.has(labelOf(table)));
  const track = async (): Promise<void> => {
    const tables = chosen.map((table): JsonObject => ({ source: name, table }));
    const makeTracked = async (relationships: readonly Step[]): Promise<void> => {
      const what = tables.length === 1 ? labelOf(chosen[0] ?? {}) : `${tables.length} tables`;
      const count = `${relationships.length} ${relationships.length === 1 ? 'relationship' : 'relationships'}`;
      const done = await makeChange({
        title: `Track ${what}${relationships.length === 0 ? '' : ` with ${count}`}`,
        steps: () => [{ type: `${kind}_track_tables`, args: { tables, allow_warnings: true } }, ...relationships],
        // The relationships go with their tables.
        inverse: [
          { type: `${kind}_untrack_tables`, args: { tables: tables.map((each) => ({ ...each, cascade: true })), allow_warnings: true } },
        ],
      });
      tellWarnings(isList(done) ? (done[0] ?? null) : done);
      setTicked(null);
    };
    const guarded = (task: () => Promise<void>, actions: readonly ToastAction[] = []): Promise<void> =>
      task().catch((error) => tell(`Nothing was tracked: ${failureOf(error).message}`, { isWrong: true, actions }));
    if (!relate || !hasOperation(kind, 'suggest_relationships')) return guarded(() => makeTracked([]));
    await guarded(
      async () => makeTracked(await relationshipsAmong(source, chosen)),
      [{ label: 'Track without relationships', run: () => void guarded(() => makeTracked([])) }],
    );
  };
  return (
    <>
      <section class="card">
        <header>
          <h2 class="grow">Untracked {value !== undefined && <span class="badge">{untracked.length}</span>}</h2>
          <Button icon="reload" kind="quiet" small name="Read the list again" onClick={reload} />
        </header>
        {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
        {value === undefined && isLoading && <Loading what="the tables of the database" />}
        {value !== undefined && untracked.length === 0 && filter === '' && (
          <p class="muted">
            {value.length === 0 ? (
              <>
                The database has no table yet. Make some on the <a href={hrefOf(['sql'], { source: name })}>SQL page</a>.
              </>
            ) : (
              'All tables of the database are tracked.'
            )}
          </p>
        )}
        {(untracked.length > 0 || filter !== '') && (
          <div class="stack">
            {untracked.length > 12 || filter !== '' ? <Search name="Filter untracked tables" value={filter} onInput={setFilter} /> : null}
            <ul class="check-list">
              {untracked.slice(0, MOST_UNTRACKED).map((table) => {
                const id = labelOf(table);
                return (
                  <li key={id}>
                    <Check
                      label={
                        <>
                          {id}{' '}
                          {typeof table['type'] === 'string' && table['type'] !== 'table' && (
                            <span class="muted small">{table['type']}</span>
                          )}
                        </>
                      }
                      checked={ticked === null || ticked.has(id)}
                      onChange={(on) => {
                        const next = new Set(ticked ?? untracked.map(labelOf));
                        if (on) next.add(id);
                        else next.delete(id);
                        setTicked(next);
                      }}
                    />
                  </li>
                );
              })}
            </ul>
            {untracked.length > MOST_UNTRACKED && (
              <p class="muted small">And {untracked.length - MOST_UNTRACKED} more: filter to choose among them.</p>
            )}
            <div class="row">
              <Button
                kind="primary"
                title={`${kind}_track_tables`}
                refusal={isReadOnly ? READ_ONLY_REASON : chosen.length === 0 ? 'No table is ticked' : undefined}
                onClick={() => void track()}
              >
                Track {chosen.length === untracked.length ? (chosen.length === 1 ? 'it' : `all ${chosen.length}`) : chosen.length}
              </Button>
              <Button small kind="quiet" onClick={() => setTicked(ticked !== null && ticked.size === 0 ? null : new Set())}>
                {ticked !== null && ticked.size === 0 ? 'Tick all' : 'Tick none'}
              </Button>
              {hasOperation(kind, 'suggest_relationships') && (
                <Check label="and the relationships of their foreign keys" checked={relate} onChange={setRelate} />
              )}
            </div>
          </div>
        )}
      </section>
      <section class="card">
        <header>
          <h2 class="grow">
            Tracked <span class="badge">{source.tables.length}</span>
          </h2>
        </header>
        {source.tables.length === 0 ? (
          <EmptyState icon="table" title="No table is tracked">
            Tracked tables become types of the GraphQL API.
          </EmptyState>
        ) : (
          <ListTable name="Tracked tables" columns={['Table', 'Relationships', 'Roles', ACTIONS]}>
            {listed.slice(0, isDrawn ? MOST_LISTED : FIRST_LISTED).map((table) => (
              <tr key={tableId(table)}>
                <td>
                  <a href={hrefOf(['data', name, tableId(table)])}>{tableId(table)}</a>
                  {table.problem !== undefined && <span class="badge badge-warn">{table.problem}</span>}
                </td>
                <td class="number">{table.relationships}</td>
                <td class="number">{[...table.granted].filter((digit) => digit !== '0').length || <span class="muted">none</span>}</td>
                <td class="nowrap">
                  <Button
                    small
                    kind="quiet"
                    refusal={isReadOnly ? READ_ONLY_REASON : undefined}
                    onClick={() => void untrack(source, table)}
                  >
                    Untrack …
                  </Button>
                </td>
              </tr>
            ))}
          </ListTable>
        )}
        {source.tables.length > MOST_LISTED && (
          <p class="muted small">And {source.tables.length - MOST_LISTED} more, in the list on the left.</p>
        )}
      </section>
    </>
  );
}

async function untrack({ name, kind }: SourceOverview, table: TableOverview): Promise<void> {
  const address = { source: name, kind, table: tableJson(table) };
  await run({
    title: `Untrack ${tableId(table)}`,
    tables: [address],
    review: true,
    steps: () => [{ type: `${kind}_untrack_table`, args: { source: name, table: address.table, cascade: true } }],
  });
}

function tellWarnings(answer: Json): void {
  const warnings = isObject(answer) && isList(answer['warnings']) ? answer['warnings'].filter(isObject) : [];
  for (const warning of warnings.slice(0, 3)) tell(String(warning['message']), { isWrong: true });
}

/** The steps that make the relationships of tables which are about to be tracked: those that begin at one of them, and no others. */
async function relationshipsAmong({ name, kind }: SourceOverview, tables: readonly JsonObject[]): Promise<readonly Step[]> {
  const own = new Set(tables.map(labelOf));
  const suggested = readSuggestions(await askKind(kind, 'suggest_relationships', { source: name, tables }), () => []);
  return suggested.filter((each) => own.has(labelOf(each.table))).map((each) => relationshipStep(name, kind, each));
}
