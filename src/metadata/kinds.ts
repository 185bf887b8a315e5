import type { QualifiedName } from '../catalog/catalog.ts';
import type { Codec } from './codec.ts';

/** What the document needs to know of a database kind; a `Backend` fulfils it. */
export interface KindCodecs {
  readonly kind: string;
  readonly aliases: readonly string[];
  readonly defaultSchema: string;
  readonly configuration: Codec<unknown>;
  /** How the configuration is stored, where that says less than the exported form: defaults stay absent. */
  readonly storedConfiguration?: Codec<unknown>;
  readonly tableName: Codec<QualifiedName>;
  readonly functionName: Codec<QualifiedName>;
  readonly capabilities?: { readonly enumTables: boolean };
  /** Functions of computed fields take values of columns, and no rows. */
  readonly functionsOfColumns?: true;
}

/** By kind or alias; undefined for an unknown one. */
export interface Kinds<K extends KindCodecs = KindCodecs> {
  get(kindOrAlias: string): K | undefined;
  readonly all: readonly K[];
}

/** The same kinds, with configurations as they are stored. */
export function storedKinds(kinds: Kinds): Kinds {
  return kindsOf(kinds.all.map((codecs) => ({ ...codecs, configuration: codecs.storedConfiguration ?? codecs.configuration })));
}

/** Finds the codecs of kinds by their names and aliases. */
export function kindsOf<K extends KindCodecs>(all: readonly K[]): Kinds<K> {
  const byName = new Map(all.flatMap((codecs) => [codecs.kind, ...codecs.aliases].map((name) => [name, codecs] as const)));
  return { all, get: (kindOrAlias) => byName.get(kindOrAlias) };
}
