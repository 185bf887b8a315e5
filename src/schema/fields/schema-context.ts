/** Shared parts of the schemas of all roles: context and root names of each source, and types of each kind. */
import type { TypeSystem } from '../../backend/type-system.ts';
import type { NamingConvention } from '../../metadata/source.ts';
import type { DatabaseScalarInfo } from '../../schema-cache/action-info.ts';
import type { SchemaCache, SourceInfo } from '../../schema-cache/schema-cache.ts';
import { runSync, type Cooperative } from '../../util/cooperative.ts';
import { customScalar } from '../remote/remote-scalar.ts';
import { lazy, type ScalarSchemaType } from '../../graphql-engine/types.ts';
import type { FieldOptions } from './options.ts';
import { type RootIndex, rootIndex, sameRoots } from './root-index.ts';
import { sameUnsupportedOperators, SharedTypes } from './shared-types.ts';
import { SourceContext } from './source-context.ts';

export interface SourceEntry {
  readonly context: SourceContext;
  /** The source with the names of the database. */
  readonly byDatabaseName: () => SourceContext;
  readonly roots: () => RootIndex;
  /** Returns null if the roots are not built yet. */
  readonly known: () => RootIndex | null;
  /** Builds the roots in advance. */
  readonly prepare: () => Cooperative<void>;
}

export class SchemaContext {
  readonly sources: readonly SourceEntry[];
  readonly remoteSchemas: SchemaCache['remoteSchemas'];
  readonly remoteRelationships: SchemaCache['remoteRelationships'];
  readonly remoteTypeRelationships: SchemaCache['remoteTypeRelationships'];
  readonly customTypes: SchemaCache['customTypes'];
  readonly customTypeRelationships: SchemaCache['customTypeRelationships'];
  readonly actions: SchemaCache['actions'];
  readonly #lacking: SchemaCache['unsupportedOperators'];
  readonly #shared: Map<TypeSystem, Map<NamingConvention, SharedTypes>>;

  /** @param previous the context of an older cache: its database types are reused, and its sources if they are the same objects */
  constructor(cache: SchemaCache, options: FieldOptions, previous?: SchemaContext) {
    this.#lacking = cache.unsupportedOperators;
    if (previous !== undefined && !sameUnsupportedOperators(previous.#lacking, cache.unsupportedOperators)) previous = undefined;
    this.#shared = previous === undefined ? new Map() : previous.#shared;
    for (const byConvention of this.#shared.values())
      for (const shared of byConvention.values()) shared.unsupportedOperators = cache.unsupportedOperators;
    this.remoteSchemas = cache.remoteSchemas;
    this.remoteRelationships = cache.remoteRelationships;
    this.remoteTypeRelationships = cache.remoteTypeRelationships;
    this.customTypes = cache.customTypes;
    this.customTypeRelationships = cache.customTypeRelationships;
    this.actions = cache.actions;
    const known = new Map(previous?.sources.map((entry) => [entry.context.info, entry]));
    const byName = new Map(previous?.sources.map((entry) => [entry.context.info.name, entry]));
    this.sources = [...cache.sources.values()].map((info) => known.get(info) ?? this.#makeSource(info, options, byName.get(info.name)));
  }

  /** Does work in advance that would delay the first request. */
  *prepare(): Cooperative<void> {
    for (const source of this.sources) yield* source.prepare();
  }

  #makeSource(info: SourceInfo, options: FieldOptions, before: SourceEntry | undefined): SourceEntry {
    const shared = this.#sharedTypes(info.backend.types, info.namingConvention);
    let roots = before !== undefined && sameRoots(before.context.info, info) ? before.known() : null;
    return {
      context: new SourceContext(info, shared, options),
      byDatabaseName: lazy(() => new SourceContext(info, shared, options, 'database')),
      roots() {
        roots ??= runSync(rootIndex(info));
        return roots;
      },
      known: () => roots,
      *prepare() {
        roots ??= yield* rootIndex(info);
      },
    };
  }

  /** Returns the scalar of a database, which all of its users share. */
  scalar({ types, namingConvention, type, name, description }: DatabaseScalarInfo): ScalarSchemaType {
    return this.#sharedTypes(types, namingConvention).scalar(type) ?? customScalar(name, description);
  }

  #sharedTypes(types: TypeSystem, convention: NamingConvention): SharedTypes {
    const byConvention = this.#shared.get(types) ?? new Map<NamingConvention, SharedTypes>();
    this.#shared.set(types, byConvention);
    let made = byConvention.get(convention);
    if (made === undefined) {
      made = new SharedTypes(types, convention, this.#lacking);
      byConvention.set(convention, made);
    }
    return made;
  }
}
