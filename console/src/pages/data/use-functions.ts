import { functionPart } from '../../api/entries.ts';
import { readOperation } from '../../api/metadata.ts';
import { type Routine, readRoutines, routineId, routineJson, routineNamed } from '../../api/routines.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { type Overview, type SourceOverview, tableId } from '../../model/overview.ts';
import { functionSteps } from '../../model/source-drop.ts';
import { labelOf } from '../../model/steps.ts';

/** A tracked function. */
export interface TrackedFunction {
  /** Schema and name; metadata may leave the schema out. */
  readonly id: string;
  readonly entry: JsonObject;
  /** The function in the database; undefined until it has been read, and for one that is not listed. */
  readonly routine: Routine | undefined;
}

/** @throws Failure */
async function readEntries(source: string, signal: AbortSignal): Promise<readonly JsonObject[]> {
  const exported = await readOperation('export_metadata', { only: { sources: [source] } }, { signal });
  const sources = isObject(exported) ? objectsIn(exported['sources']) : [];
  return objectsIn(sources.find(({ name }) => name === source)?.['functions']);
}

function idOf(entry: JsonObject, { defaultSchema }: SourceOverview): string {
  const name = entry['function'] ?? '';
  return typeof name === 'string' ? routineId({ schema: defaultSchema, name }) : labelOf(name);
}

/** Tracked functions of a source, and those that can be tracked: they return rows of a tracked table. */
export function useFunctions(data: Overview, source: SourceOverview) {
  const { name, kind } = source;
  const key = `${name} ${data.version}`;
  const entries = useResource((signal) => readEntries(name, signal), key, { keeps: true });
  const routines = useResource((signal) => readRoutines(name, kind, signal), key);
  const listed = routines.value?.list ?? [];
  const tracked = entries.value?.map((entry): TrackedFunction => {
    const id = idOf(entry, source);
    return { id, entry, routine: listed.find((each) => routineId(each) === id) };
  });
  const trackedIds = new Set(tracked?.map(({ id }) => id));
  const tables = new Set(source.tables.map((table) => tableId(table)));
  return {
    entries,
    routines,
    tracked,
    untracked: listed.filter((each) => tables.has(each.returns) && !trackedIds.has(routineId(each))),
    isTracked: (routine: Routine): boolean => trackedIds.has(routineId(routine)),
    track(routine: Routine): void {
      const json = routineJson(routine);
      void attempt({
        title: `Track function ${routineId(routine)}`,
        parts: [functionPart(name, json)],
        steps: () => functionSteps(name, kind, { function: json }),
        inverse: [{ type: `${kind}_untrack_function`, args: { source: name, function: json } }],
      });
    },
    untrack({ id }: TrackedFunction): void {
      const json = routineNamed(id, source.defaultSchema);
      void attempt({
        title: `Untrack function ${id}`,
        review: true,
        parts: [functionPart(name, json)],
        steps: () => [{ type: `${kind}_untrack_function`, args: { source: name, function: json } }],
        inverse: ([before = null]) => (isObject(before) ? functionSteps(name, kind, before) : []),
      });
    },
  };
}

export type FunctionsState = ReturnType<typeof useFunctions>;
