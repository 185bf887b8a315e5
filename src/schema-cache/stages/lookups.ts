/**
 * Lookups of a stage that resolves one table. All information about other objects of the source is read through these functions, which
 * record the results: the stage's result stays valid while all lookups return the same objects.
 */
import type { Backend } from '../../backend/backend.ts';
import { type CatalogColumn, type CatalogFunction, type CatalogTable, nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import type { NamingConvention } from '../../metadata/source.ts';
import { printName } from '../../metadata/table-name.ts';
import type { ColumnInfo, ComputedFieldInfo, RelationshipInfo } from '../schema-cache.ts';

/** Everything that a permission of the table can refer to, by database names. */
export interface TableFields {
  readonly name: QualifiedName;
  /** See `CatalogTable`. */
  readonly stored: boolean;
  /** All columns of the catalog. */
  readonly columns: ReadonlyMap<string, ColumnInfo>;
  readonly relationships: ReadonlyMap<string, RelationshipInfo>;
  readonly computedFields: ReadonlyMap<string, ComputedFieldInfo>;
}

/** Identity of a source in messages and records, and the style of its field names. */
export interface StageSource {
  readonly name: string;
  readonly backend: Backend;
  readonly namingConvention: NamingConvention;
  /** Schema of tables that are named without one. */
  readonly unnamedSchema?: string;
}

/** Returns the name of a table in messages, without the default schema. */
export function printTable(source: Pick<StageSource, 'backend'>, name: QualifiedName): string {
  return printName(name, source.backend.defaultSchema);
}

export type LookupKind = 'catalog' | 'enum' | 'functions' | 'fields';

/** Lookup functions by kind; the key is a `nameKey`. */
export type StageLookups = Readonly<Record<LookupKind, (key: string) => unknown>>;

export interface LookupRecord {
  readonly kind: LookupKind;
  readonly key: string;
  readonly result: unknown;
}

/** Returns true if all lookups return the same objects as before. */
export function lookupsUnchanged(recorded: readonly LookupRecord[], results: StageLookups): boolean {
  for (const { kind, key, result } of recorded) {
    if (results[kind](key) !== result) return false;
  }
  return true;
}

/** Performs and records lookups. */
export class RecordedLookups {
  readonly recorded: LookupRecord[];
  readonly #answers: StageLookups;

  /** @param answered lookups of reused parts */
  constructor(results: StageLookups, recorded: readonly LookupRecord[] = []) {
    this.#answers = results;
    this.recorded = [...recorded];
  }

  #ask(kind: LookupKind, name: QualifiedName): unknown {
    const key = nameKey(name);
    const result = this.#answers[kind](key);
    if (!this.recorded.some((a) => a.key === key && a.kind === kind)) this.recorded.push({ kind, key, result });
    return result;
  }

  /** The catalog's entry of a tracked table. */
  tracked(name: QualifiedName): CatalogTable | undefined {
    return this.#ask('catalog', name) as CatalogTable | undefined;
  }

  /** Returns true if the table is tracked as an enum, regardless of its values. */
  isEnum(name: QualifiedName): boolean {
    return this.#ask('enum', name) === true;
  }

  /** All overloads. */
  functions(name: QualifiedName): readonly CatalogFunction[] {
    return (this.#ask('functions', name) as readonly CatalogFunction[] | undefined) ?? [];
  }

  /** The fields of a tracked table. */
  fields(name: QualifiedName): TableFields | undefined {
    return this.#ask('fields', name) as TableFields | undefined;
  }
}

export function catalogColumn(table: CatalogTable, name: string): CatalogColumn | undefined {
  return table.columns.find((column) => column.name === name);
}
