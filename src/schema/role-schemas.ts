/**
 * The role schemas of one schema cache: made on first use, bounded, and taken over from the
 * previous cache for every role that a change does not concern.
 */
import { ADMIN_ROLE } from '../auth/session.ts';
import type { RemoteSchemaInfo, SchemaCache } from '../schema-cache/schema-cache.ts';
import { unavailableRoots } from '../schema-cache/unavailable-source.ts';
import { SvcError } from '../errors/svc-error.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import { atOnce, type Sliced } from '../util/sliced.ts';
import { type FieldOptions, DEFAULT_BUILD_OPTIONS, type SchemaVariant } from './fields/options.ts';
import { RoleSource } from './fields/role-context.ts';
import { rootTypes } from './fields/root-types.ts';
import { sameForRole } from './fields/same-for-role.ts';
import { SchemaContext } from './fields/schema-context.ts';
import { WriteSource } from './fields/write-context.ts';
import { createRoleSchema, DEFAULT_LIMITS, type RoleSchemaOptions } from '../graphql-engine/engine.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import { lazy, type RootTypes } from '../graphql-engine/types.ts';

export type { SchemaVariant, WriteSource as RoleTables };

export interface RoleSchemasOptions {
  readonly build: FieldOptions;
  readonly engine: Omit<RoleSchemaOptions, 'introspectionDisabled' | 'explainMissing'>;
  /** For every role but admin, whatever the metadata says. */
  readonly introspectionDisabled?: boolean;
  /** Role schemas kept; the one that was idle longest goes first. */
  readonly maxSchemas: number;
}

export const DEFAULT_ROLE_SCHEMAS_OPTIONS: RoleSchemasOptions = {
  build: DEFAULT_BUILD_OPTIONS,
  engine: { limits: DEFAULT_LIMITS, nullInNonNullableVariables: false },
  maxSchemas: 256,
};

export interface RoleSchemas {
  /** How many are kept. */
  readonly size: number;
  /** Never fails: an unknown role has a schema without queries. */
  get(role: string, variant: SchemaVariant): RoleSchema;
  /** The types of a role's schema made anew, for those who walk over all of them. */
  wholeRoots(role: string, variant: SchemaVariant): RootTypes;
  /** The tables of a source as the role has them, under the names of the database; null when there is no such source. */
  tables(role: string, variant: SchemaVariant, source: string): WriteSource | null;
}

interface Entry {
  readonly role: string;
  readonly schema: RoleSchema;
  /** By source. */
  readonly tables: Map<string, WriteSource>;
}

class CachedRoleSchemas implements RoleSchemas {
  readonly cache: SchemaCache;
  readonly options: RoleSchemasOptions;
  readonly context: SchemaContext;
  readonly entries: BoundedCache<string, Entry>;

  constructor(cache: SchemaCache, options: RoleSchemasOptions, previous: CachedRoleSchemas | undefined) {
    this.cache = cache;
    this.options = options;
    this.entries = new BoundedCache({ entries: options.maxSchemas });
    this.context = new SchemaContext(cache, options.build, previous?.context);
  }

  /** Takes the schemas of roles that see no difference. */
  *takeOver(previous: CachedRoleSchemas): Sliced<void> {
    const same = new Map<string, boolean>();
    // A copy: requests go on, and reorder the entries.
    for (const [key, entry] of [...previous.entries]) {
      const known = same.get(entry.role);
      const keep = known ?? sameForRole(previous.cache, this.cache, entry.role);
      if (known === undefined) same.set(entry.role, keep);
      if (keep) this.entries.set(key, entry);
      yield;
    }
  }

  get size(): number {
    return this.entries.size;
  }

  get(role: string, variant: SchemaVariant): RoleSchema {
    return this.#entry(role, variant).schema;
  }

  wholeRoots(role: string, variant: SchemaVariant): RootTypes {
    return rootTypes(this.context, role, variant, this.options.build.federation);
  }

  tables(role: string, variant: SchemaVariant, source: string): WriteSource | null {
    const { tables } = this.#entry(role, variant);
    const known = tables.get(source);
    if (known !== undefined) return known;
    const entry = this.context.sources.find(({ context }) => context.info.name === source);
    if (entry === undefined) return null;
    const made = new WriteSource(new RoleSource(entry.byDatabaseName(), role), variant);
    tables.set(source, made);
    return made;
  }

  #entry(role: string, variant: SchemaVariant): Entry {
    const key = `${variant} ${role}`;
    const known = this.entries.get(key);
    if (known !== undefined) return known;
    const introspectionDisabled =
      this.cache.introspectionDisabledFor.has(role) || (this.options.introspectionDisabled === true && role !== ADMIN_ROLE);
    const roots = () => this.wholeRoots(role, variant);
    const schema = createRoleSchema(role, roots(), {
      wholeRoots: roots,
      ...this.options.engine,
      introspectionDisabled,
      explainMissing: explainMissing(this.cache, role),
    });
    const made: Entry = { role, schema, tables: new Map() };
    this.entries.set(key, made);
    return made;
  }
}

/** Of a root field that only an outage keeps away: names are made when the first one is missed. */
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
        isPassing: true,
        internal: source.reason,
      });
    }
    if (operation !== 'subscription' || ![...remoteSchemas.values()].some((info) => hasSubscription(info, role, field))) return null;
    return new SvcError('not-supported', 'subscription to remote server is not supported');
  };
}

/** Whether the server has it, under our name, as the role sees the server. */
function hasSubscription({ model, names, permissions }: RemoteSchemaInfo, role: string, field: string): boolean {
  const seen = permissions === null || role === ADMIN_ROLE ? model : permissions.get(role);
  const root = seen?.subscription == null ? undefined : seen.types.get(seen.subscription);
  if (root?.kind !== 'object') return false;
  return names.namespace === null
    ? [...root.fields.keys()].some((name) => names.field(root.name, name) === field)
    : names.namespace === field;
}

/**
 * @param options pass the same object every time: others make every schema anew
 * @param previous those of the cache before, made by this function
 */
export function* roleSchemas(cache: SchemaCache, options: RoleSchemasOptions, previous?: RoleSchemas): Sliced<RoleSchemas> {
  const usable = previous instanceof CachedRoleSchemas && previous.options === options ? previous : undefined;
  const made = new CachedRoleSchemas(cache, options, usable);
  if (usable !== undefined) yield* made.takeOver(usable);
  yield* made.context.prepare();
  return made;
}

/** The schemas of all roles, none of which is made yet. @param previous schemas of roles whose inputs are the same are kept */
export function createRoleSchemas(cache: SchemaCache, options: RoleSchemasOptions, previous?: RoleSchemas): RoleSchemas {
  return atOnce(roleSchemas(cache, options, previous));
}
