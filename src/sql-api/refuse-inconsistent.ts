import { type Catalog, nameKey } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import { renamedObjectId } from '../schema-cache/object-id.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import type { Change, PreviewResult, State } from '../state/state.ts';
import { ChangeRefused, checkConsistency } from '../state/consistency-check.ts';
import { BROKEN_BY_DROP } from '../metadata-api/operation.ts';
import type { CatalogChanges, Renames } from './catalog-changes.ts';

/** Maximum number of reasons in the message; `internal` contains all. */
const MAX_REASONS = 5;

/** Catalogs of the source before and after the SQL. */
export interface Catalogs {
  readonly before: Catalog;
  readonly after: Catalog;
}

/**
 * Refuses SQL that makes objects inconsistent other than those that it changes.
 * @param edit the metadata change that goes with the SQL
 * @returns the preview of the source
 * @throws SvcError of the edit; `unexpected` with the inconsistent objects; `remote-schema-conflicts` if the new name of a table is taken
 */
export async function refuseInconsistent(
  state: State,
  catalogs: Catalogs,
  { source, renames }: CatalogChanges,
  edit: Change['edit'],
): Promise<PreviewResult> {
  const { cache } = state.current();
  const after = await state.preview({ edit, source, catalog: catalogs.after, renamedTables: renames.tables });
  const { inconsistencies: found } = after;
  const refusal = refusalOf(withNewNames(cache.inconsistencies, source, renames), found);
  if (refusal === null) return after;
  // Inconsistencies that existed before the SQL may not be known yet, because the database has changed since the last check.
  const known = await state.preview({ edit: (metadata) => metadata, source, catalog: catalogs.before, renamedTables: new Map() });
  const own = refusalOf(withNewNames(known.inconsistencies, source, renames), found);
  if (own !== null) throw reworded(own, found, renames, cache.sources.get(source)?.backend.defaultSchema);
  return after;
}

function refusalOf(before: readonly Inconsistency[], after: readonly Inconsistency[]): ChangeRefused | null {
  try {
    checkConsistency(before, after, []);
    return null;
  } catch (thrown) {
    if (thrown instanceof ChangeRefused) return thrown;
    throw thrown;
  }
}

function reworded(
  refused: ChangeRefused,
  after: readonly Inconsistency[],
  { tables }: Renames,
  defaultSchema: string | undefined,
): SvcError {
  const [renamed] = tables.values();
  const taken = after.some(({ objectId, refusal }) => refusal !== undefined && refused.objects.includes(objectId));
  if (taken && renamed !== undefined) {
    const node = renamed.schema === defaultSchema ? renamed.name : `${renamed.schema}_${renamed.name}`;
    return new SvcError('remote-schema-conflicts', `node ${node} already exists in current graphql schema`, { cause: refused });
  }
  if (taken) return refused;
  const internal = refused.internal === undefined ? {} : { internal: refused.internal };
  const reasons = after.flatMap(({ objectId, reason }) => (refused.objects.includes(objectId) ? [reason] : []));
  const message = `${BROKEN_BY_DROP}: ${[...new Set(reasons)].slice(0, MAX_REASONS).join('; ')}`;
  return new SvcError('unexpected', message, { status: 400, ...internal });
}

/** Returns the inconsistencies under the new names, so that a rename does not make known ones look new. */
function withNewNames(inconsistencies: readonly Inconsistency[], source: string, { tables, functions }: Renames): readonly Inconsistency[] {
  const names = new Map([...tables, ...functions].map(([key, name]) => [key, nameKey(name)]));
  if (names.size === 0) return inconsistencies;
  return inconsistencies.map((each) => ({ ...each, objectId: renamedObjectId(each.objectId, source, names) }));
}
