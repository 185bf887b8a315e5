import { readKindOperation } from '../../api/metadata.ts';
import { hasOperation } from '../../api/operation-names.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { isList, isObject, type Json } from '../../model/json.ts';
import { allTables, type Overview, type SourceOverview } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { Loading } from '../../parts/loading.tsx';
import { Card } from './card.tsx';

interface Suggestions {
  readonly name: string;
  /** True if the database has no table. */
  readonly isEmpty: boolean;
  readonly untracked: number;
  readonly relationships: number;
}

/** Counts untracked tables and suggested relationships; zero for a source that does not respond. */
async function readSuggestionCounts({ name, kind, tables }: SourceOverview, signal: AbortSignal): Promise<Suggestions> {
  const [all, suggested] = await Promise.all([
    hasOperation(kind, 'get_source_tables')
      ? readKindOperation(kind, 'get_source_tables', { source: name }, { signal }).catch(() => null)
      : null,
    hasOperation(kind, 'suggest_relationships')
      ? readKindOperation(kind, 'suggest_relationships', { source: name, omit_tracked: true }, { signal }).catch(() => null)
      : null,
  ]);
  const tracked = new Set(tables.map((table) => labelOf({ schema: table.schema, name: table.name })));
  return {
    name,
    isEmpty: listOf(all).length === 0,
    untracked: listOf(all).filter((table) => !tracked.has(labelOf(table))).length,
    relationships: isObject(suggested) ? listOf(suggested['relationships']).length : 0,
  };
}

function listOf(json: Json | undefined): readonly Json[] {
  return isList(json) ? json : [];
}

/** Untracked tables, suggested relationships and tables without permissions. */
export function NextSteps({ data }: { readonly data: Overview }) {
  const { value } = useResource(
    (signal) => Promise.all(data.sources.map((source) => readSuggestionCounts(source, signal))),
    `${data.version}`,
  );
  const withoutPermissions = data.roles.length === 0 ? 0 : allTables(data).filter(({ granted }) => /^0*$/.test(granted)).length;
  const isDone = value?.every(({ untracked, relationships }) => untracked + relationships === 0) === true && withoutPermissions === 0;
  const isEmpty = data.sources.length > 0 && value?.every((source) => source.isEmpty) === true;
  return (
    <Card icon="right" title="Next steps">
      {value === undefined && <Loading what="suggestions" />}
      <ul class="stack-tight">
        {value?.flatMap(({ name, untracked, relationships }) => [
          <NextStep
            key={`${name} tables`}
            count={untracked}
            text={`untracked ${untracked === 1 ? 'table' : 'tables'} in ${name}`}
            action="Track"
            href={hrefOf(['data', name])}
          />,
          <NextStep
            key={`${name} relationships`}
            count={relationships}
            text={`suggested ${relationships === 1 ? 'relationship' : 'relationships'} in ${name}`}
            action="Review"
            href={hrefOf(['data', name], { tab: 'relationships' })}
          />,
        ])}
        <NextStep
          count={withoutPermissions}
          text={`${withoutPermissions === 1 ? 'table' : 'tables'} without permissions`}
          action="Add permissions"
          href={hrefOf(['data', data.sources[0]?.name ?? ''], { tab: 'permissions' })}
        />
      </ul>
      {isDone && isEmpty && (
        <p class="muted">
          The database has no tables yet. <a href={hrefOf(['sql'])}>Create some with SQL</a>.
        </p>
      )}
      {isDone && !isEmpty && <p class="muted">Nothing to do: all tables are tracked and have relationships and permissions.</p>}
    </Card>
  );
}

function NextStep({
  count,
  text,
  action,
  href,
}: {
  readonly count: number;
  readonly text: string;
  readonly action: string;
  readonly href: string;
}) {
  if (count === 0) return null;
  return (
    <li class="row">
      <span class="grow">
        <strong>{count}</strong> {text}
      </span>
      <a class="button button-small" href={href}>
        {action}
      </a>
    </li>
  );
}
