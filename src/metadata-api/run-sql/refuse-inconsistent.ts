import { nameKey } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { renamedObjectId } from '../../schema-cache/object-id.ts';
import type { Inconsistency, SchemaCache } from '../../schema-cache/schema-cache.ts';
import { ChangeRefused, judge } from '../../state/verdict.ts';
import { BROKEN_BY_DROP } from '../operation.ts';
import type { CatalogChanges, Renames } from './catalog-changes.ts';

/**
 * Objects that SQL would make inconsistent without being what it is about.
 * @throws SvcError unexpected with their records, remote-schema-conflicts when the new name of a table is taken
 */
export function refuseInconsistent(before: SchemaCache, after: readonly Inconsistency[], { source, renames }: CatalogChanges): void {
  try {
    judge(underNewNames(before.inconsistencies, source, renames), after, []);
  } catch (thrown) {
    if (!(thrown instanceof ChangeRefused)) throw thrown;
    const [renamed] = renames.tables.values();
    const taken = after.some(({ objectId, refusal }) => refusal !== undefined && thrown.objects.includes(objectId));
    if (taken && renamed !== undefined) {
      const defaultSchema = before.sources.get(source)?.backend.defaultSchema;
      const node = renamed.schema === defaultSchema ? renamed.name : `${renamed.schema}_${renamed.name}`;
      throw new SvcError('remote-schema-conflicts', `node ${node} already exists in current graphql schema`, { cause: thrown });
    }
    if (taken) throw thrown;
    const internal = thrown.internal === undefined ? {} : { internal: thrown.internal };
    throw new SvcError('unexpected', BROKEN_BY_DROP.message, { status: BROKEN_BY_DROP.status, ...internal });
  }
}

/** What was inconsistent before a rename is no news after it. */
function underNewNames(inconsistencies: readonly Inconsistency[], source: string, { tables, functions }: Renames): readonly Inconsistency[] {
  const names = new Map([...tables, ...functions].map(([key, name]) => [key, nameKey(name)]));
  if (names.size === 0) return inconsistencies;
  return inconsistencies.map((each) => ({ ...each, objectId: renamedObjectId(each.objectId, source, names) }));
}
