/**
 * Types that columns of a source need and that belong to none of its tables: scalars, comparison types and their parts. Sources with the
 * same kind and naming convention share them; any other type with the same name has to be equal.
 */
import type { Comparison, TypeSystem } from '../../backend/type-system.ts';
import { type CatalogFunction, type CatalogType, nameKey, supports } from '../../catalog/catalog.ts';
import { isGraphqlName } from '../../model/graphql-name.ts';
import type { NamingConvention } from '../../metadata/source.ts';
import { BUILT_IN_SCALARS } from '../../remote-schema/model.ts';
import { printJson } from '../../util/json.ts';
import { comparisonTypeName, fieldName, sharedTypeName } from '../naming.ts';
import type { SchemaCache, TableCore } from '../schema-cache.ts';
import type { CoresStage } from './source.ts';

/** Texts that are equal for equivalent types, by name. */
export type SharedTypeDefinitions = ReadonlyMap<string, string>;

export const SCALAR_DEFINITION = 'scalar';

export function enumDefinition(values: Iterable<string>): string {
  return JSON.stringify(['enum', [...values].sort()]);
}

/** @param fields each with the printed type and default: see `inputFieldDefinition` */
export function inputDefinition(fields: readonly string[]): string {
  return JSON.stringify(['input', [...fields].sort()]);
}

export function inputFieldDefinition(name: string, type: string, defaultText: string | undefined): string {
  return `${name}: ${type} = ${defaultText ?? ''}`;
}

/**
 * Returns the shared types of all sources. A source of another kind whose type of the same name differs is left out.
 * @returns `conflicts`: reasons by name of the source
 */
export function sharedTypes(stages: readonly CoresStage[]): {
  readonly definitions: SharedTypeDefinitions;
  readonly conflicts: ReadonlyMap<string, string>;
  readonly lacking: SchemaCache['unsupportedOperators'];
} {
  const found = new Map<string, { readonly definition: string; readonly source: string; readonly kind: string }>();
  const conflicts = new Map<string, string>();
  const lacking = new Map<string, readonly string[]>();
  for (const stage of stages) {
    const { name: source, backend } = stage.context;
    const { definitions: own, lacking: ownLacking } = sharedTypesOf(stage);
    for (const [name, definition] of own) {
      const rival = found.get(name);
      if (rival === undefined || rival.kind === backend.kind || rival.definition === definition) continue;
      const message = `Encountered conflicting definitions of the GraphQL type '${name}' in [source ${rival.source}, source ${source}].`;
      conflicts.set(source, `${message} Types must not be defined more than once across all sources.`);
      break;
    }
    if (conflicts.has(source)) continue;
    for (const [name, unsupported] of ownLacking) lacking.set(name, commonUnsupported(lacking.get(name), unsupported));
    for (const [name, definition] of own) if (!found.has(name)) found.set(name, { definition, source, kind: backend.kind });
  }
  return { definitions: new Map([...found].map(([name, { definition }]) => [name, definition])), conflicts, lacking };
}

/** Returns the shared types of one source. */
function sharedTypesOf(stage: CoresStage): SharedTypeCollector {
  const { backend, namingConvention } = stage.context;
  const collected = new SharedTypeCollector(backend.types, namingConvention);
  for (const type of typesIn(stage)) collected.add(type);
  return collected;
}

function commonUnsupported(one: readonly string[] | undefined, other: readonly string[]): readonly string[] {
  return one?.filter((operator) => other.includes(operator)) ?? other;
}

/** Columns of a table have few different types, and tables are reused from build to build. */
const columnTypes = new WeakMap<TableCore, readonly CatalogType[]>();

function* typesIn({ cores, metadata, open }: CoresStage): Iterable<CatalogType> {
  for (const { core } of cores.values()) {
    if (core === null || !core.inGraphql) continue;
    let types = columnTypes.get(core);
    if (types === undefined) {
      types = [...new Map(core.catalog.columns.map(({ type }) => [keyOf(type), type])).values()];
      columnTypes.set(core, types);
    }
    yield* types;
  }
  for (const key of metadata.functions.keys()) yield* typesOfFunctions(open.catalog.functions.get(key));
  for (const { computedFields } of metadata.tables.values()) {
    for (const field of computedFields.values()) yield* typesOfFunctions(open.catalog.functions.get(nameKey(field.function)));
  }
}

function* typesOfFunctions(functions: readonly CatalogFunction[] = []): Iterable<CatalogType> {
  for (const { arguments: args, returns, returnsTable } of functions) {
    // Rows are not scalars.
    for (const { type } of args) if (type.kind !== 'composite') yield type;
    if (returnsTable === null && returns.kind !== 'composite') yield returns;
  }
}

function keyOf({ schema, name, array }: CatalogType): string {
  return `${schema}.${name}${array ? '[]' : ''}`;
}

/** Operators of every comparison type, and of those of types with an order. */
const EQUALITY = ['_eq', '_neq'];
const ORDER = ['_gt', '_gte', '_lt', '_lte'];
const LISTS = ['_in', '_nin'];

class SharedTypeCollector {
  readonly definitions = new Map<string, string>();
  /** Operators that all types behind a comparison type lack, by its name. */
  readonly lacking = new Map<string, readonly string[]>();
  readonly #types: TypeSystem;
  readonly #convention: NamingConvention;
  readonly #seen = new Set<string>();

  constructor(types: TypeSystem, convention: NamingConvention) {
    this.#types = types;
    this.#convention = convention;
  }

  add(type: CatalogType): void {
    const key = keyOf(type);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const scalar = this.#types.scalar(type);
    if (!isGraphqlName(scalar.graphql)) return;
    const scalarName = this.#scalarName(type);
    if (!BUILT_IN_SCALARS.has(scalarName)) this.definitions.set(scalarName, SCALAR_DEFINITION);
    const own = this.#reference(type);
    const name = comparisonTypeName(this.#convention, this.#types, type);
    const { unsupported = [] } = type;
    this.lacking.set(name, commonUnsupported(this.lacking.get(name), unsupported));
    const has = (operator: string): boolean => supports(type, operator);
    const fields = [...EQUALITY, ...(scalar.ordered ? ORDER : [])].filter(has).map((operator) => this.#field(operator, own));
    fields.push(...LISTS.filter(has).map((operator) => this.#field(operator, `[${own}!]`)), this.#field('_is_null', 'Boolean'));
    for (const comparison of type.array ? this.#types.arrayComparisons : scalar.comparisons) {
      if (has(comparison.name)) fields.push(this.#compared(comparison, own));
    }
    this.definitions.set(name, inputDefinition(fields));
    // Conditions on groups compare the results of aggregates.
    if (!scalar.numeric || type.array) return;
    for (const { result } of this.#types.grouping?.results ?? []) {
      const compared = result(type);
      if (compared !== null) this.add(compared);
    }
  }

  #compared({ name, argument }: Comparison, own: string): string {
    switch (argument.kind) {
      case 'same':
        return this.#field(name, own);
      case 'list':
        return this.#field(name, `[${own}!]`);
      case 'type': {
        const reference = this.#reference(argument.type);
        return this.#field(name, argument.list ? `[${reference}!]` : reference);
      }
      case 'input': {
        const fields = argument.fields.map((field) => {
          const written = field.default === undefined ? undefined : printJson(field.default);
          return this.#field(field.name, `${this.#reference(field.type)}${field.required ? '!' : ''}`, written);
        });
        return this.#field(name, this.#input(argument.name, fields));
      }
      case 'cast': {
        const fields = argument.targets.map(({ key, type }) => {
          this.add(type);
          const target = sharedTypeName(this.#convention, key);
          return inputFieldDefinition(target, comparisonTypeName(this.#convention, this.#types, type), undefined);
        });
        return this.#field(name, this.#input(argument.name, fields));
      }
    }
  }

  #input(written: string, fields: readonly string[]): string {
    const name = sharedTypeName(this.#convention, written);
    this.definitions.set(name, inputDefinition(fields));
    return name;
  }

  #field(name: string, type: string, defaultText?: string): string {
    return inputFieldDefinition(fieldName(this.#convention, name), type, defaultText);
  }

  #scalarName(type: CatalogType): string {
    return sharedTypeName(this.#convention, this.#types.scalar(type).graphql);
  }

  /** Returns `X`, or `[X!]` for an array. */
  #reference(type: CatalogType): string {
    const name = this.#scalarName(type);
    if (isGraphqlName(name) && !BUILT_IN_SCALARS.has(name)) this.definitions.set(name, SCALAR_DEFINITION);
    return type.array ? `[${name}!]` : name;
  }
}
