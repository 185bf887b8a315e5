/** The overview of the service: read at the start, every few seconds while the page is seen, and after each change. */
import { signal } from '@preact/signals';
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Overview, SourceOverview, TableOverview } from '../model/overview.ts';
import { PERMISSION_OPERATIONS } from '../model/table-entry.ts';
import { type Failure, failureOf, isAbort } from './failure.ts';
import { ask } from './metadata.ts';
import { access } from './session.ts';

const EVERY_MS = 5000;

export const overview = signal<Overview | undefined>(undefined);
export const overviewFailure = signal<Failure | undefined>(undefined);
/** When the last read succeeded. */
export const overviewAt = signal(0);

let running: Promise<void> | undefined;
let again = false;

/** Reads the overview; of several calls at once the later ones share one more read. */
export async function refreshOverview(): Promise<void> {
  if (running !== undefined) {
    again = true;
    return running;
  }
  running = (async () => {
    do {
      again = false;
      try {
        const next = await readOverview();
        if (next !== undefined) overview.value = next;
        overviewFailure.value = undefined;
        overviewAt.value = Date.now();
      } catch (error) {
        if (!isAbort(error)) overviewFailure.value = failureOf(error);
      }
    } while (again);
    running = undefined;
  })();
  return running;
}

setInterval(() => {
  if (document.visibilityState === 'visible' && access.peek() === 'granted') void refreshOverview();
}, EVERY_MS);

async function readOverview(): Promise<Overview | undefined> {
  const known = overview.peek();
  const exported = await ask('export_metadata', {}, { version: 2 });
  if (!isObject(exported)) return undefined;
  if (exported['resource_version'] === known?.version) return undefined;
  const inconsistent = await ask('get_inconsistent_metadata');
  return overviewOfMetadata(
    exported,
    isObject(inconsistent) && isList(inconsistent['inconsistent_objects']) ? inconsistent['inconsistent_objects'].length : 0,
  );
}

function overviewOfMetadata(exported: JsonObject, inconsistent: number): Overview {
  const metadata = exported['metadata'] as JsonObject;
  const list = (json: Json | undefined): readonly JsonObject[] => (isList(json) ? json.filter(isObject) : []);
  const roles = new Set<string>();
  for (const source of list(metadata['sources']))
    for (const table of list(source['tables']))
      for (const operation of PERMISSION_OPERATIONS)
        for (const permission of list(table[`${operation}_permissions`])) roles.add(String(permission['role']));
  const inherited = list(metadata['inherited_roles']).map((role) => ({
    name: String(role['role_name']),
    parents: (role['role_set'] as string[]) ?? [],
  }));
  for (const { name } of inherited) roles.add(name);
  const sorted = [...roles].sort();
  const sources = list(metadata['sources']).map((source): SourceOverview => {
    const kind = String(source['kind']);
    const name = String(source['name']);
    return {
      name,
      kind,
      functions: list(source['functions']).map((each) => JSON.stringify(each['function'])),
      tables: list(source['tables']).map((table): TableOverview => {
        const address = table['table'];
        const named = isObject(address) ? address : { schema: 'public', name: String(address) };
        const digits = (test: (permission: JsonObject) => boolean): string =>
          sorted
            .map((role) =>
              PERMISSION_OPERATIONS.reduce((sum, operation, index) => {
                const permission = list(table[`${operation}_permissions`]).find((each) => each['role'] === role);
                return sum + (permission !== undefined && test(permission) ? 1 << index : 0);
              }, 0).toString(16),
            )
            .join('');
        return {
          source: name,
          kind,
          schema: String(named['schema'] ?? ''),
          name: String(named['name']),
          relationships: list(table['object_relationships']).length + list(table['array_relationships']).length,
          triggers: list(table['event_triggers']).length,
          granted: digits(() => true),
          unrestricted: digits(({ permission }) => {
            const { columns, filter, check } = permission as JsonObject;
            return columns === '*' && Object.keys((filter ?? check ?? {}) as JsonObject).length === 0;
          }),
        };
      }),
    };
  });
  const names = (key: string): string[] => list(metadata[key]).map((each) => String(each['name']));
  return {
    version: Number(exported['resource_version']),
    roles: sorted,
    inheritedRoles: inherited,
    sources,
    remoteSchemas: names('remote_schemas'),
    actions: names('actions'),
    triggers: list(metadata['sources']).flatMap((s) =>
      list(s['tables']).flatMap((t) => list(t['event_triggers']).map((e) => String(e['name']))),
    ),
    inconsistent,
  };
}
