/** Permissions of one role on one table. Each function throws the problems of a definition. */
import { type CatalogColumn, type CatalogTable, distributionColumn } from '../../catalog/catalog.ts';
import type { BoolExp } from '../../ir/bool-exp.ts';
import { addressTemplateProblem } from '../../metadata/called-address.ts';
import { isFieldName } from '../../metadata/graphql-name.ts';
import type * as metadata from '../../metadata/permission.ts';
import type { ValidateInput } from '../../metadata/validate-input.ts';
import type { Json } from '../../util/json.ts';
import { Defect } from '../inconsistency.ts';
import type {
  ColumnInfo,
  ResolvedDeletePermission,
  ResolvedInsertPermission,
  Preset,
  ResolvedSelectPermission,
  ResolvedUpdatePermission,
} from '../schema-cache.ts';
import { resolveBoolExp } from './bool-exp.ts';
import { resolveOperand } from './operand.ts';
import { type RecordedLookups, printTable, type StageSource, type TableFields } from './lookups.ts';

export interface PermissionScope {
  readonly source: StageSource;
  readonly table: CatalogTable;
  readonly fields: TableFields;
  readonly lookups: RecordedLookups;
}

function resolveFilter(scope: PermissionScope, json: Json): BoolExp {
  const { source, fields, lookups } = scope;
  return resolveBoolExp({ source, lookups, row: fields, root: fields, levels: 0, path: [] }, json);
}

const NO_MASK: null = null;

/** @throws Defect */
export function resolveSelect(scope: PermissionScope, role: string, permission: metadata.SelectPermission): ResolvedSelectPermission {
  const columns = selectableColumns(scope, permission.columns);
  const resolved: ResolvedSelectPermission = {
    columns,
    computedFields: selectableComputedFields(scope, permission.computedFields),
    filter: resolveFilter(scope, permission.filter),
    limit: permission.limit ?? null,
    allowAggregations: permission.allowAggregations,
    queryRootFields: permission.queryRootFields === undefined ? null : new Set(permission.queryRootFields),
    subscriptionRootFields: permission.subscriptionRootFields === undefined ? null : new Set(permission.subscriptionRootFields),
  };
  checkRootFields(scope, role, resolved);
  return resolved;
}

function selectableColumns(scope: PermissionScope, columnNames: metadata.PermissionColumns): ReadonlyMap<string, null> {
  const { fields } = scope;
  const columns = new Map<string, null>();
  for (const name of columnNames === '*' ? fields.columns.keys() : columnNames) {
    const column = fields.columns.get(name);
    if (column === undefined) {
      if (fields.relationships.has(name)) {
        throw new Defect(`"${name}" is a relationship; permissions for relationships are automatically inferred`);
      }
      throw new Defect(`column "${name}" does not exist`);
    }
    if (isFieldName(column.fieldName)) columns.set(name, NO_MASK);
  }
  return columns;
}

function selectableComputedFields(scope: PermissionScope, columnNames: readonly string[]): ReadonlyMap<string, null> {
  for (const name of columnNames) {
    const field = scope.fields.computedFields.get(name);
    if (field === undefined) throw new Defect(`computed field "${name}" does not exist`);
    if (field.returns.kind === 'table') {
      const table = printTable(scope.source, field.returns.table);
      throw new Defect(
        `select permissions on computed field "${name}" are auto-derived from the permissions on its returning table "${table}" and cannot be specified manually`,
      );
    }
  }
  return new Map(columnNames.map((name) => [name, NO_MASK]));
}

function checkRootFields(scope: PermissionScope, role: string, permission: ResolvedSelectPermission): void {
  const enabled = (name: 'select_by_pk' | 'select_aggregate'): boolean =>
    permission.queryRootFields?.has(name) === true || permission.subscriptionRootFields?.has(name) === true;
  if (enabled('select_by_pk')) {
    const key = scope.table.primaryKey;
    if (key === null || !key.columns.every((column) => permission.columns.has(column))) {
      throw new Defect(
        'The "select_by_pk" field cannot be included in the query_root_fields or subscription_root_fields because ' +
          `the role "${role}" does not have access to the primary key of the table "${printTable(scope.source, scope.table.name)}" in the source "${scope.source.name}"`,
      );
    }
  }
  if (enabled('select_aggregate') && !permission.allowAggregations) {
    throw new Defect(
      'The "select_aggregate" root field can only be enabled in the query_root_fields or the subscription_root_fields when "allow_aggregations" is set to true',
    );
  }
}

function requireView(scope: PermissionScope, allowed: boolean, adjective: string): void {
  if (!allowed) throw new Defect(`view "${printTable(scope.source, scope.table.name)}" is not ${adjective}`);
}

function writable(column: CatalogColumn): boolean {
  return !column.generated && column.identity !== 'always';
}

type Write = 'insert' | 'update';
const ADJECTIVES: Readonly<Record<Write, string>> = { insert: 'insertable', update: 'updatable' };

function requireWritable(column: ColumnInfo, write: Write): void {
  if (!writable(column.catalog)) {
    throw new Defect(`column "${column.name}" is not ${ADJECTIVES[write]} and so cannot have ${write} permissions defined`);
  }
}

function resolvePresets(scope: PermissionScope, set: ReadonlyMap<string, Json>, write: Write): ReadonlyMap<string, Preset> {
  const presets = new Map<string, Preset>();
  for (const [name, json] of set) {
    const column = scope.fields.columns.get(name);
    if (column === undefined) throw new Defect(`column "${name}" not found in table "${printTable(scope.source, scope.table.name)}"`);
    requireWritable(column, write);
    const { type } = column.catalog;
    presets.set(
      name,
      json === null
        ? { value: { kind: 'literal', json: null }, type, list: false }
        : resolveOperand(scope.source.backend.types, type, false, json),
    );
  }
  return presets;
}

/** Returns the columns that the role may set, without presets. */
function writableColumns(
  scope: PermissionScope,
  columnNames: metadata.PermissionColumns,
  presets: ReadonlyMap<string, Preset>,
  write: Write,
): ReadonlySet<string> {
  const { fields } = scope;
  const columns = new Set<string>();
  for (const name of columnNames === '*' ? fields.columns.keys() : columnNames) {
    const column = fields.columns.get(name);
    if (column === undefined) {
      if (!fields.relationships.has(name) && !fields.computedFields.has(name)) throw new Defect(`column "${name}" does not exist`);
      throw new Defect(`Only table columns can have ${write} permissions defined, not relationships or other field types`);
    }
    if (columnNames !== '*') requireWritable(column, write);
    if (writable(column.catalog) && isFieldName(column.fieldName) && !presets.has(name)) columns.add(name);
  }
  return columns;
}

/** Variables in the URL are filled in when the hook is called. @throws Defect */
function checkedHook({ validateInput }: Pick<metadata.DeletePermission, 'validateInput'>): ValidateInput | null {
  if (validateInput === undefined) return null;
  const problem = addressTemplateProblem('url of validate_input', validateInput.definition.url);
  if (problem !== null) throw new Defect(problem);
  return validateInput;
}

/** @throws Defect */
export function resolveInsert(scope: PermissionScope, permission: metadata.InsertPermission): ResolvedInsertPermission {
  requireView(scope, scope.table.insertable, 'insertable');
  const presets = resolvePresets(scope, permission.set, 'insert');
  return {
    columns: writableColumns(scope, permission.columns ?? '*', presets, 'insert'),
    check: resolveFilter(scope, permission.check),
    presets,
    backendOnly: permission.backendOnly,
    validateInput: checkedHook(permission),
  };
}

/** @throws Defect */
export function resolveUpdate(scope: PermissionScope, permission: metadata.UpdatePermission): ResolvedUpdatePermission {
  requireView(scope, scope.table.updatable, 'updatable');
  const presets = resolvePresets(scope, permission.set, 'update');
  const column = distributionColumn(scope.table);
  if (column !== null && presets.has(column)) {
    throw new Defect(`column "${column}" cannot have a preset for updates, because it decides on which server a row is stored`);
  }
  return {
    columns: writableColumns(scope, permission.columns, presets, 'update'),
    filter: resolveFilter(scope, permission.filter),
    check: permission.check === null ? null : resolveFilter(scope, permission.check),
    presets,
    backendOnly: permission.backendOnly,
    validateInput: checkedHook(permission),
  };
}

/** @throws Defect */
export function resolveDelete(scope: PermissionScope, permission: metadata.DeletePermission): ResolvedDeletePermission {
  requireView(scope, scope.table.deletable, 'deletable');
  return {
    filter: resolveFilter(scope, permission.filter),
    backendOnly: permission.backendOnly,
    validateInput: checkedHook(permission),
  };
}
