/** A source as one role sees it: builds the tables of the role and connects the builders of their types. */
import { nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import { type ColumnRead, FALSE, TRUE } from '../../ir/bool-exp.ts';
import { ADMIN_ROLE } from '../../auth/session.ts';
import { computedFieldArgsTypeName } from '../../schema-cache/naming.ts';
import type { ComputedFieldInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import { lazy, type OutputField } from '../../graphql-engine/types.ts';
import { tableAggregateType } from './aggregate.ts';
import { aggregatePredicateType } from './aggregate-predicate.ts';
import { selectArguments } from './arguments.ts';
import { connectionType } from '../relay/connection.ts';
import { boolExpType } from './bool-exp.ts';
import { commentOr } from './descriptions.ts';
import { groupKeyType } from './group-key.ts';
import { functionArguments } from './function-arguments.ts';
import { aggregateOrderByType, orderByType } from './order-by.ts';
import type { NodeTable, RoleColumn, RoleComputedField, RoleRelationship, RoleTable, TableAccess } from './role-table.ts';
import { rowType } from './select.ts';
import { selectColumnEnum } from './select-column.ts';
import type { SourceContext } from './source-context.ts';
import { valuePlace } from './value-place.ts';

const ADMIN_ACCESS: TableAccess = {
  columns: null,
  computedFields: null,
  filter: TRUE,
  limit: null,
  allowAggregations: true,
  queryRootFields: null,
  subscriptionRootFields: null,
};

/** No access: for a table that the role may write to but not select from. */
const NO_ACCESS: TableAccess = {
  ...ADMIN_ACCESS,
  columns: new Map(),
  computedFields: new Map(),
  filter: FALSE,
  allowAggregations: false,
};

function selectAccess(table: TableInfo, role: string): TableAccess | null {
  return role === ADMIN_ROLE ? ADMIN_ACCESS : (table.permissions.get(role)?.select ?? null);
}

/** Returns true if rows have a column or a scalar computed field for the role. */
function hasValues({ columns, computedFields }: TableAccess): boolean {
  return columns === null || computedFields === null || columns.size > 0 || computedFields.size > 0;
}

/** Parts of a role's source that come from elsewhere. */
export interface RoleSourceParts {
  /** Returns fields of a table that other sources and servers answer. Default none. */
  readonly joinedFields?: (table: RoleTable) => readonly OutputField[];
  /** Returns the table as nodes of Relay. Default null. */
  readonly node?: (table: TableInfo) => NodeTable | null;
}

export class RoleSource {
  readonly context: SourceContext;
  readonly role: string;
  readonly #parts: RoleSourceParts;
  readonly #tables = new Map<string, RoleTable | null>();

  constructor(context: SourceContext, role: string, parts: RoleSourceParts = {}) {
    this.context = context;
    this.role = role;
    this.#parts = parts;
  }

  /** Returns the role's access to a table that is in GraphQL; null if it may select nothing, or only rows without fields. */
  access(table: TableInfo): TableAccess | null {
    const access = table.inGraphql ? selectAccess(table, this.role) : null;
    return access === null || hasValues(access) || this.table(table.name) !== null ? access : null;
  }

  /** Returns true if the role may select rows of a table, and not aggregates only. */
  selectsRows(table: TableInfo): boolean {
    const access = selectAccess(table, this.role);
    return access !== null && (hasValues(access) || this.table(table.name)?.hasRows === true);
  }

  /** Returns null if the table is not tracked, or the role may select nothing, or only rows without fields. */
  table(name: QualifiedName): RoleTable | null {
    const key = nameKey(name);
    let table = this.#tables.get(key);
    if (table === undefined) {
      const info = this.context.info.tables.get(key);
      const access = info !== undefined && this.context.exposes(info) ? selectAccess(info, this.role) : null;
      table = info === undefined || access === null ? null : this.#makeTable(info, access);
      if (table !== null && !hasValues(table.access)) {
        // Fields of other sources and servers may lead back to this table.
        this.#tables.set(key, null);
        const hasRows = this.#leadsToValues(table.info, new Set()) || table.joinedFields().length > 0;
        if (!hasRows) table = table.access.allowAggregations ? this.#makeTable(table.info, table.access, false) : null;
      }
      this.#tables.set(key, table);
    }
    return table;
  }

  /** Returns true if relationships and computed fields lead to values or aggregates for the role, over any number of tables. */
  #leadsToValues(table: TableInfo, visited: Set<TableInfo>): boolean {
    visited.add(table);
    const leads = (name: QualifiedName, aggregates: boolean): boolean => {
      const target = this.context.info.tables.get(nameKey(name));
      const access = target !== undefined && this.context.exposes(target) ? selectAccess(target, this.role) : null;
      if (target === undefined || access === null) return false;
      if (hasValues(access) || (aggregates && access.allowAggregations)) return true;
      return !visited.has(target) && this.#leadsToValues(target, visited);
    };
    return (
      [...table.relationships.values()].some(({ kind, target }) => leads(target, kind === 'array')) ||
      [...table.computedFields.values()].some(({ returns }) => returns.kind === 'table' && leads(returns.table, false))
    );
  }

  /**
   * Returns a table that the role may not select from, without fields: its `T_bool_exp` only combines conditions. Relationships are omitted
   * too, because they would reveal the columns that they use.
   */
  unselectable(info: TableInfo): RoleTable {
    return this.#makeTable(info, NO_ACCESS);
  }

  #makeTable(info: TableInfo, access: TableAccess, hasRows = true): RoleTable {
    const source = this.context;
    const columns = lazy(() => columnsOf(source, info, access));
    const relationships = lazy(() => (access === NO_ACCESS ? [] : this.#relationshipsOf(info)));
    const computedFields = lazy(() => (access === NO_ACCESS ? [] : this.#computedFieldsOf(info, access)));
    const table: RoleTable = {
      source,
      info,
      access,
      hasRows,
      name: source.tableType(info),
      relation: {
        kind: 'table',
        name: info.name,
        ...(info.catalog.stored === true ? { stored: true } : {}),
        ...(info.catalog.snapshotBound === true ? { snapshotBound: true } : {}),
      },
      get columns() {
        return columns();
      },
      get relationships() {
        return relationships();
      },
      get computedFields() {
        return computedFields();
      },
      rows: lazy(() => rowType(table)),
      node: this.#parts.node?.(info) ?? null,
      connection: lazy(() => connectionType(table)),
      selectArguments: lazy(() => selectArguments(table)),
      boolExp: lazy(() => boolExpType(table)),
      orderBy: lazy(() => orderByType(table)),
      aggregateOrderBy: lazy(() => aggregateOrderByType(table)),
      aggregate: lazy(() => tableAggregateType(table)),
      groupKey: lazy(() => groupKeyType(table)),
      aggregatePredicate: lazy(() => aggregatePredicateType(table)),
      selectColumn: lazy(() => selectColumnEnum(table)),
      related: (name) => this.table(name),
      joinedFields: () => (access === NO_ACCESS ? [] : (this.#parts.joinedFields?.(table) ?? [])),
    };
    return table;
  }

  #relationshipsOf(info: TableInfo): readonly RoleRelationship[] {
    return [...info.relationships.values()].flatMap((relationship): readonly RoleRelationship[] => {
      const target = this.table(relationship.target);
      return target === null ? [] : [{ info: relationship, name: relationship.name, target }];
    });
  }

  #computedFieldsOf(info: TableInfo, access: TableAccess): readonly RoleComputedField[] {
    return [...info.computedFields.values()].flatMap((field): readonly RoleComputedField[] => {
      const computed = this.#computedField(info, access, field);
      return computed === null ? [] : [computed];
    });
  }

  #computedField(table: TableInfo, access: TableAccess, info: ComputedFieldInfo): RoleComputedField | null {
    const source = this.context;
    const functionName = info.function.name;
    const base = {
      info,
      name: source.field(info.name),
      description: commentOr(
        info.comment,
        info.function.comment ?? `A computed field, executes function "${printFunction(source, functionName)}"`,
      ),
      arguments: functionArguments(source, info.function, {
        row: info.tableArgument,
        ...(info.columnArguments === undefined ? {} : { columns: info.columnArguments }),
        session: info.sessionArgument,
        typeName: computedFieldArgsTypeName(source.info, info.name, table),
        description: `input parameters for computed field "${info.name}" defined on table "${table.name.name}"`,
      }),
    };
    if (info.returns.kind === 'table') {
      const target = this.table(info.returns.table);
      return target === null ? null : { ...base, kind: 'table', target };
    }
    const mask = access.computedFields === null ? null : access.computedFields.get(info.name);
    if (mask === undefined) return null;
    const type = info.returns.type;
    const place = valuePlace(source, type, null);
    if (place === null) return null;
    return {
      ...base,
      kind: 'scalar',
      place,
      read: (call) => ({ kind: 'computed-field', call, type, ...(mask === null ? {} : { mask }) }),
    };
  }
}

function printFunction(source: SourceContext, name: QualifiedName): string {
  return name.schema === source.info.backend.defaultSchema ? name.name : `${name.schema}.${name.name}`;
}

function columnsOf(source: SourceContext, table: TableInfo, access: TableAccess): ReadonlyMap<string, RoleColumn> {
  const columns = new Map<string, RoleColumn>();
  for (const info of source.columns(table)) {
    const mask = access.columns === null ? null : access.columns.get(info.name);
    if (mask === undefined) continue;
    const name = source.columnName(info);
    const place = valuePlace(source, info.catalog.type, info.enumTable);
    if (place === null || columns.has(name)) continue;
    const { type, nullable } = info.catalog;
    const known = nullable ? {} : { notNull: true as const };
    const read: ColumnRead = { kind: 'column', column: info.name, type, ...known, ...(mask === null ? {} : { mask }) };
    columns.set(name, { info, name, read, place, nullable: info.catalog.nullable || mask !== null });
  }
  return columns;
}
