import { useMemo, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { failureOf } from '../../api/failure.ts';
import { readKindOperation } from '../../api/metadata.ts';
import { hasOperation } from '../../api/operation-names.ts';
import { useResource } from '../../api/use-resource.ts';
import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { type Overview, type SourceOverview, tableId } from '../../model/overview.ts';
import { readSuggestions, createRelationshipStep } from '../../model/relationship-names.ts';
import { labelOf, type Step } from '../../model/steps.ts';
import { showToast, type ToastAction } from '../../parts/toast.tsx';

/** Untracked tables of a source: the filter, the selection, and tracking them. */
export function useTableTracking(data: Overview, source: SourceOverview) {
  const { name, kind } = source;
  const [filter, setFilter] = useState('');
  /** Labels of the selected tables; `null` selects all. */
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null);
  const [withRelationships, setWithRelationships] = useState(true);
  const { value, failure, isLoading, reload } = useResource(async (signal) => {
    const json = await readKindOperation(kind, 'get_source_tables', { source: name }, { signal });
    return isList(json) ? json.filter(isObject) : [];
  }, `${name} ${data.version}`);
  const tracked = useMemo(() => new Set(source.tables.map(tableId)), [source.tables]);
  const untracked = (value ?? []).filter(
    (table) => !tracked.has(labelOf(table)) && labelOf(table).toLowerCase().includes(filter.toLowerCase()),
  );
  const chosen = untracked.filter((table) => selected === null || selected.has(labelOf(table)));

  const trackWith = async (relationships: readonly Step[]): Promise<void> => {
    const tables = chosen.map((table): JsonObject => ({ source: name, table }));
    const what = tables.length === 1 ? labelOf(chosen[0] ?? {}) : `${tables.length} tables`;
    const count = `${relationships.length} ${relationships.length === 1 ? 'relationship' : 'relationships'}`;
    const done = await makeChange({
      title: `Track ${what}${relationships.length === 0 ? '' : ` with ${count}`}`,
      steps: () => [{ type: `${kind}_track_tables`, args: { tables, allow_warnings: true } }, ...relationships],
      // `cascade` drops the relationships with their tables.
      inverse: [
        { type: `${kind}_untrack_tables`, args: { tables: tables.map((each) => ({ ...each, cascade: true })), allow_warnings: true } },
      ],
    });
    tellWarnings(isList(done) ? (done[0] ?? null) : done);
    setSelected(null);
  };
  const reporting = (task: () => Promise<void>, actions: readonly ToastAction[] = []): Promise<void> =>
    task().catch((error) => showToast(`No tables were tracked: ${failureOf(error).message}`, { isError: true, actions }));
  return {
    filter,
    setFilter,
    withRelationships,
    setWithRelationships,
    /** All tables of the database; undefined until they have been read. */
    tables: value,
    failure,
    isLoading,
    reload,
    untracked,
    chosen,
    hasNone: selected !== null && selected.size === 0,
    isSelected: (id: string): boolean => selected === null || selected.has(id),
    select(id: string, isSelected: boolean): void {
      const next = new Set(selected ?? untracked.map(labelOf));
      if (isSelected) next.add(id);
      else next.delete(id);
      setSelected(next);
    },
    selectAll: (): void => setSelected(null),
    selectNone: (): void => setSelected(new Set()),
    async track(): Promise<void> {
      if (!withRelationships || !hasOperation(kind, 'suggest_relationships')) return reporting(() => trackWith([]));
      await reporting(
        async () => trackWith(await relationshipsFrom(source, chosen)),
        [{ label: 'Track without relationships', run: () => void reporting(() => trackWith([])) }],
      );
    },
  };
}

export type TableTracking = ReturnType<typeof useTableTracking>;

function tellWarnings(response: Json): void {
  const warnings = isObject(response) && isList(response['warnings']) ? response['warnings'].filter(isObject) : [];
  for (const warning of warnings.slice(0, 3)) showToast(String(warning['message']), { isError: true });
}

/** Returns steps that create the suggested relationships of tables that are about to be tracked. */
async function relationshipsFrom({ name, kind }: SourceOverview, tables: readonly JsonObject[]): Promise<readonly Step[]> {
  const own = new Set(tables.map(labelOf));
  const suggested = readSuggestions(await readKindOperation(kind, 'suggest_relationships', { source: name, tables }), () => []);
  return suggested.filter((each) => own.has(labelOf(each.table))).map((each) => createRelationshipStep(name, kind, each));
}
