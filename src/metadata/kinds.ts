import type { QualifiedName } from '../catalog/catalog.ts';
import type { Codec } from './codec.ts';

/** Properties of a database kind that the document depends on; a `Backend` has them. */
export interface KindCodecs {
  readonly kind: string;
  readonly aliases: readonly string[];
  readonly defaultSchema: string;
  readonly configuration: Codec<unknown>;
  /** Codec of the stored form, if that differs from the exported form: it omits defaults. */
  readonly storedConfiguration?: Codec<unknown>;
  readonly tableName: Codec<QualifiedName>;
  readonly functionName: Codec<QualifiedName>;
  readonly capabilities?: { readonly enumTables: boolean };
  /** If true, functions of computed fields take values of columns instead of rows. */
  readonly functionsOfColumns?: boolean;
}

/** Looks up kinds by name or alias. */
export interface Kinds<K extends KindCodecs = KindCodecs> {
  get(kindOrAlias: string): K | undefined;
  readonly all: readonly K[];
}

/** Returns the kinds with the codecs of stored configurations. */
export function storedKinds(kinds: Kinds): Kinds {
  return kindsOf(kinds.all.map((codecs) => ({ ...codecs, configuration: codecs.storedConfiguration ?? codecs.configuration })));
}

export function kindsOf<K extends KindCodecs>(all: readonly K[]): Kinds<K> {
  const byName = new Map(all.flatMap((codecs) => [codecs.kind, ...codecs.aliases].map((name) => [name, codecs] as const)));
  return { all, get: (kindOrAlias) => byName.get(kindOrAlias) };
}
