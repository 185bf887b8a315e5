import type { Source } from '../backend/backend.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { SchemaApi } from '../metadata/schema-api.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import type { RoleTables } from '../schema/role-schemas.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import type { RootTypes } from '../graphql-engine/types.ts';
import type { RemoteConnection } from '../remote-schema/client/connection.ts';
import type { SchemaCache } from '../schema-cache/schema-cache.ts';

/** Metadata and everything derived from it; fixed while a request runs. */
export interface Snapshot {
  readonly resourceVersion: number;
  readonly metadata: Metadata;
  readonly cache: SchemaCache;
  /** Open sources by name; an unreachable source is missing here and inconsistent in the cache. */
  readonly connections: ReadonlyMap<string, Source>;
  /** Connections of remote schemas by name; without those whose address cannot be resolved. */
  readonly remotes: ReadonlyMap<string, RemoteConnection>;
  /** Owner label of the event triggers that this service installs in a source. */
  captureOwner(source: string): string;
  /** Last introspection result of a remote schema as text, `{"data": {"__schema": …}}`; `null` if there never was one. */
  introspectionOf(remoteSchema: string): Promise<string> | null;
  /** Query collections, the allow-list and REST endpoints. Their inconsistencies are in the cache's list, too. */
  readonly storedOperations: StoredOperations;
  /** Built on first use; kept across snapshots if its inputs did not change. @param api default `graphql` */
  roleSchema(role: string, variant: 'frontend' | 'backend', api?: SchemaApi): RoleSchema;
  /** Builds all types of a role schema for a single walk over them. Takes much memory and is not cached. */
  wholeRoots(role: string, variant: 'frontend' | 'backend', api?: SchemaApi): RootTypes;
  /** Tables of a source that are visible to a role, by their database names; `null` if the source does not exist. */
  roleTables(role: string, variant: 'frontend' | 'backend', source: string): RoleTables | null;
}
