import type { Source } from '../backend/backend.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import type { RoleTables } from '../schema/role-schemas.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import type { RootTypes } from '../graphql-engine/types.ts';
import type { RemoteConnection } from '../remote-schema/client/connection.ts';
import type { SchemaCache } from '../schema-cache/schema-cache.ts';

/** Everything a request sees; fixed while it runs. */
export interface Snapshot {
  readonly resourceVersion: number;
  readonly metadata: Metadata;
  readonly cache: SchemaCache;
  /** Open sources by name; an unreachable source is missing here and inconsistent in the cache. */
  readonly connections: ReadonlyMap<string, Source>;
  /** How the servers of remote schemas are reached, by name; whose address cannot be made out is missing. */
  readonly remotes: ReadonlyMap<string, RemoteConnection>;
  /** As whose property what event triggers need is marked in the database of a source. */
  captureOwner(source: string): string;
  /** `{"data": {"__schema": …}}` as the remote schema last said it, in text; null where it never did. */
  introspectionOf(remoteSchema: string): Promise<string> | null;
  /** Query collections, the allow-list and REST endpoints; what is wrong with them is in the cache's list as well. */
  readonly storedOperations: StoredOperations;
  /** Built on first use; kept across snapshots when its inputs did not change. */
  roleSchema(role: string, variant: 'frontend' | 'backend'): RoleSchema;
  /** The types of such a schema made for one walk over all of them, which takes much memory, and kept by nobody. */
  wholeRoots(role: string, variant: 'frontend' | 'backend'): RootTypes;
  /** The tables of a source as the role has them, under the names of the database; null when there is no such source. */
  roleTables(role: string, variant: 'frontend' | 'backend', source: string): RoleTables | null;
}
