/** A source as one role may write to it: builds the tables and connects the builders of their types. */
import { nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import type { TableInfo } from '../../schema-cache/schema-cache.ts';
import { lazy } from '../../graphql-engine/types.ts';
import { insertInput } from './insert-input.ts';
import { responseType } from './mutation-response.ts';
import { nestedInput } from './nested-input.ts';
import { onConflictType } from './on-conflict.ts';
import type { SchemaVariant } from './options.ts';
import type { RoleSource } from './role-context.ts';
import type { SourceContext } from './source-context.ts';
import { updateOperators } from './update-operators.ts';
import { valuePlace } from './value-place.ts';
import { deleteAccess, insertAccess, insertDescription, acceptsValues, updateAccess, type RoleVariant } from './write-access.ts';
import type { WriteColumn, WriteTable } from './write-table.ts';

export class WriteSource {
  readonly reading: RoleSource;
  readonly writer: RoleVariant;
  readonly #tables = new Map<string, WriteTable | null>();

  constructor(reading: RoleSource, variant: SchemaVariant) {
    this.reading = reading;
    this.writer = { role: reading.role, variant };
  }

  get context(): SourceContext {
    return this.reading.context;
  }

  /** Returns null if the table is not tracked. */
  table(name: QualifiedName): WriteTable | null {
    const key = nameKey(name);
    let made = this.#tables.get(key);
    if (made === undefined) {
      const info = this.context.info.tables.get(key);
      made = info === undefined ? null : this.#makeTable(info);
      this.#tables.set(key, made);
    }
    return made;
  }

  #makeTable(info: TableInfo): WriteTable {
    const { context, writer } = this;
    const selected = lazy(() => (this.reading.selectsRows(info) ? this.reading.table(info.name) : null));
    const conditions = lazy(() => this.reading.table(info.name) ?? this.reading.unselectable(info));
    const insert = insertAccess(context, info, writer);
    const described = insertDescription(context, info, writer);
    const update = updateAccess(context, info, writer);
    const table: WriteTable = {
      source: context,
      info,
      get selected() {
        return selected();
      },
      conditionTable: conditions,
      boolExp: () => conditions().boolExp(),
      insert,
      update,
      delete: deleteAccess(context, info, writer),
      isNestable: described !== null,
      insertColumns: lazy(() => writeColumns(context, info, described)),
      updateColumns: lazy(() => writeColumns(context, info, update)),
      insertInput: lazy(() => insertInput(table)),
      objectInput: lazy(() => nestedInput(table, 'object')),
      arrayInput: lazy(() => nestedInput(table, 'array')),
      onConflict: lazy(() => onConflictType(table)),
      operators: lazy(() => updateOperators(table)),
      response: lazy(() => responseType(table)),
      related: (name) => this.table(name),
    };
    return table;
  }
}

function writeColumns(
  source: SourceContext,
  table: TableInfo,
  access: { readonly columns: ReadonlySet<string> | null } | null,
): ReadonlyMap<string, WriteColumn> {
  const columns = new Map<string, WriteColumn>();
  if (access === null) return columns;
  for (const info of source.columns(table)) {
    if (!acceptsValues(info.catalog) || access.columns?.has(info.name) === false) continue;
    const name = source.columnName(info);
    const place = valuePlace(source, info.catalog.type, info.enumTable);
    if (place !== null && !columns.has(name)) columns.set(name, { info, name, place });
  }
  return columns;
}
