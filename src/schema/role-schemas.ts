/**
 * The role schemas of one schema cache: built on first use, limited in number, and reused from the previous cache for every role that a
 * change does not affect.
 */
import { ADMIN_ROLE } from '../auth/session.ts';
import type { SchemaApi } from '../metadata/schema-api.ts';
import type { RemoteSchemaInfo, SchemaCache } from '../schema-cache/schema-cache.ts';
import { unavailableRoots } from '../schema-cache/unavailable-source.ts';
import { SvcError } from '../errors/svc-error.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import { runSync, type Cooperative } from '../util/cooperative.ts';
import { type FieldOptions, DEFAULT_BUILD_OPTIONS, type SchemaVariant } from './fields/options.ts';
import { RoleSource } from './fields/role-context.ts';
import { rootTypes } from './fields/root-types.ts';
import { sameNodeNames } from './relay/node-tables.ts';
import { relayRootTypes } from './relay/root-types.ts';
import { sameForRole } from './fields/same-for-role.ts';
import { SchemaContext } from './fields/schema-context.ts';
import { WriteSource } from './fields/write-context.ts';
import { createRoleSchema, DEFAULT_LIMITS, type RoleSchemaOptions } from '../graphql-engine/engine.ts';
import { type AnswerCache, createAnswerCache } from '../graphql-engine/introspection/cache.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import { lazy, type RootTypes } from '../graphql-engine/types.ts';

export type { SchemaVariant, WriteSource as RoleTables };

export interface RoleSchemasOptions {
  readonly build: FieldOptions;
  readonly engine: Omit<RoleSchemaOptions, 'introspectionDisabled' | 'introspectionAnswers' | 'explainMissing'>;
  /** Disables introspection for every role but admin, regardless of the metadata. */
  readonly introspectionDisabled?: boolean;
  /** True if the schema for clients of Relay is served. */
  readonly relay: boolean;
  /** Maximum cached role schemas; the least recently used one is evicted. */
  readonly maxSchemas: number;
}

/** Maximum size of the introspection answers of all roles, compressed, in bytes. */
const MAX_INTROSPECTION_BYTES = 16 * 1024 * 1024;

export const DEFAULT_ROLE_SCHEMAS_OPTIONS: RoleSchemasOptions = {
  build: DEFAULT_BUILD_OPTIONS,
  engine: { limits: DEFAULT_LIMITS, nullInNonNullableVariables: false },
  relay: true,
  maxSchemas: 256,
};

export interface RoleSchemas {
  /** Number of cached schemas. */
  readonly size: number;
  /** Never fails: an unknown role has a schema without queries. @param api default `graphql` */
  get(role: string, variant: SchemaVariant, api?: SchemaApi): RoleSchema;
  /** Builds the types of a role's schema separately, for walks over all of them. */
  wholeRoots(role: string, variant: SchemaVariant, api?: SchemaApi): RootTypes;
  /** Returns the tables of a source for the role, under their database names; null if there is no such source. */
  tables(role: string, variant: SchemaVariant, source: string): WriteSource | null;
}

interface Entry {
  readonly role: string;
  readonly api: SchemaApi;
  readonly schema: RoleSchema;
  /** Tables by source. */
  readonly tables: Map<string, WriteSource>;
}

class CachedRoleSchemas implements RoleSchemas {
  readonly cache: SchemaCache;
  readonly options: RoleSchemasOptions;
  readonly context: SchemaContext;
  readonly entries: BoundedCache<string, Entry>;
  readonly introspectionAnswers: AnswerCache;

  constructor(cache: SchemaCache, options: RoleSchemasOptions, previous: CachedRoleSchemas | undefined) {
    this.cache = cache;
    this.options = options;
    this.entries = new BoundedCache({ entries: options.maxSchemas });
    this.introspectionAnswers = previous?.introspectionAnswers ?? createAnswerCache(MAX_INTROSPECTION_BYTES);
    this.context = new SchemaContext(cache, options.build, previous?.context);
  }

  /** Reuses the schemas of roles that see no difference. */
  *reuse(previous: CachedRoleSchemas): Cooperative<void> {
    const same = new Map<string, boolean>();
    const sameIds = sameNodeNames(previous.cache, this.cache);
    // Iterates over a copy, because concurrent requests reorder the entries.
    for (const [key, entry] of [...previous.entries]) {
      const known = same.get(entry.role);
      const isSame = known ?? sameForRole(previous.cache, this.cache, entry.role);
      if (known === undefined) same.set(entry.role, isSame);
      if (isSame && (sameIds || entry.api === 'graphql')) this.entries.set(key, entry);
      yield;
    }
  }

  get size(): number {
    return this.entries.size;
  }

  get(role: string, variant: SchemaVariant, api: SchemaApi = 'graphql'): RoleSchema {
    return this.#entry(role, variant, api).schema;
  }

  wholeRoots(role: string, variant: SchemaVariant, api: SchemaApi = 'graphql'): RootTypes {
    if (api === 'relay') return relayRootTypes(this.context, role, variant);
    return rootTypes(this.context, role, variant, this.options.build.federation);
  }

  tables(role: string, variant: SchemaVariant, source: string): WriteSource | null {
    const { tables } = this.#entry(role, variant, 'graphql');
    const known = tables.get(source);
    if (known !== undefined) return known;
    const entry = this.context.sources.find(({ context }) => context.info.name === source);
    if (entry === undefined) return null;
    const made = new WriteSource(new RoleSource(entry.byDatabaseName(), role), variant);
    tables.set(source, made);
    return made;
  }

  #entry(role: string, variant: SchemaVariant, api: SchemaApi): Entry {
    const key = `${api} ${variant} ${role}`;
    const known = this.entries.get(key);
    if (known !== undefined) return known;
    const introspectionDisabled =
      this.cache.introspectionDisabledFor.has(role) || (this.options.introspectionDisabled === true && role !== ADMIN_ROLE);
    const roots = () => this.wholeRoots(role, variant, api);
    const schema = createRoleSchema(role, roots(), {
      wholeRoots: roots,
      ...this.options.engine,
      introspectionDisabled,
      introspectionAnswers: this.introspectionAnswers,
      explainMissing: explainMissing(this.cache, role),
    });
    const made: Entry = { role, api, schema, tables: new Map() };
    this.entries.set(key, made);
    return made;
  }
}

/** Explains a root field that is missing because of an outage: names are built when the first one is missing. */
function explainMissing(cache: SchemaCache, role: string): NonNullable<RoleSchemaOptions['explainMissing']> {
  const { unavailable, remoteSchemas } = cache;
  if (unavailable.sources.length === 0 && remoteSchemas.size === 0) return () => null;
  const roots = lazy(() => unavailableRoots(unavailable, role));
  return (field, path, operation) => {
    const source = roots().get(field);
    if (source !== undefined) {
      return new SvcError(source.backend.errorCodes.failed, `the source "${source.metadata.name}" is not available`, {
        path,
        status: 500,
        isTransient: true,
        internal: source.reason,
      });
    }
    if (operation !== 'subscription' || ![...remoteSchemas.values()].some((info) => hasSubscription(info, role, field))) return null;
    return new SvcError('not-supported', 'subscription to remote server is not supported');
  };
}

/** Returns true if the server has the subscription field, under our name, and the role sees it. */
function hasSubscription({ model, names, permissions }: RemoteSchemaInfo, role: string, field: string): boolean {
  const seen = permissions === null || role === ADMIN_ROLE ? model : permissions.get(role);
  const root = seen?.subscription == null ? undefined : seen.types.get(seen.subscription);
  if (root?.kind !== 'object') return false;
  return names.namespace === null
    ? [...root.fields.keys()].some((name) => names.field(root.name, name) === field)
    : names.namespace === field;
}

/**
 * @param options must be the same object every time: other options rebuild every schema
 * @param previous result of this function for the previous cache
 */
export function* roleSchemas(cache: SchemaCache, options: RoleSchemasOptions, previous?: RoleSchemas): Cooperative<RoleSchemas> {
  const usable = previous instanceof CachedRoleSchemas && previous.options === options ? previous : undefined;
  const made = new CachedRoleSchemas(cache, options, usable);
  if (usable !== undefined) yield* made.reuse(usable);
  yield* made.context.prepare();
  return made;
}

/** Returns the schemas of all roles, which are built on demand. @param previous schemas of roles with the same inputs are reused */
export function createRoleSchemas(cache: SchemaCache, options: RoleSchemasOptions, previous?: RoleSchemas): RoleSchemas {
  return runSync(roleSchemas(cache, options, previous));
}
