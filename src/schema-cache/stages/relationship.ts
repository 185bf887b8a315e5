import type { CatalogDistribution, CatalogForeignKey, CatalogTable, QualifiedName } from '../../catalog/catalog.ts';
import { sameName } from '../../catalog/catalog.ts';
import type { Join } from '../../ir/relation.ts';
import type { ManualConfiguration, ObjectUsing, Relationship } from '../../metadata/relationship.ts';
import { Defect, refusedFieldName } from '../inconsistency.ts';
import type { RelationshipInfo, TableCore } from '../schema-cache.ts';
import { columnOf, type Inquiry, printTable, type StageSource } from './scope.ts';

/** A defect that is reported bare, without the names of table and relationship before it. */
export class DanglingReference extends Defect {}

/**
 * The columns and the target of a relationship.
 * @throws Defect
 */
export function resolveRelationship(
  source: StageSource,
  core: TableCore,
  kind: 'object' | 'array',
  relationship: Relationship<ObjectUsing>,
  inquiry: Inquiry,
): RelationshipInfo {
  const { name, using } = relationship;
  const refused = refusedFieldName(name);
  if (refused !== null) throw new Defect(refused, { code: 'validation-failed', message: refused });
  const resolved =
    using.kind === 'own-columns'
      ? overOwnKey(source, core, using.columns, inquiry)
      : using.kind === 'remote-columns'
        ? overRemoteKey(source, core, using.table, using.columns, inquiry)
        : manual(source, core, using.manual, inquiry);
  const afterParent = kind === 'array' || resolved.afterParent;
  return {
    name,
    kind,
    comment: relationship.comment,
    target: resolved.target,
    join: resolved.apart ? { ...resolved.join, apart: true } : resolved.join,
    nullable: resolved.nullable,
    insertionOrder: afterParent ? 'after-parent' : 'before-parent',
  };
}

interface Resolved {
  readonly target: QualifiedName;
  readonly join: Join;
  readonly apart: boolean;
  readonly nullable: boolean;
  readonly afterParent: boolean;
}

/** Foreign keys over exactly these columns, in any order. */
function foreignKeyOver(keys: readonly CatalogForeignKey[], columns: readonly string[]): CatalogForeignKey {
  const found = keys.filter((key) => key.columns.length === columns.length && columns.every((column) => key.columns.includes(column)));
  if (found[0] === undefined) throw new Defect('no foreign constraint exists on the given column(s)');
  if (found.length > 1) throw new Defect('more than one foreign key constraint exists on the given column(s)');
  return found[0];
}

function trackedTable(source: StageSource, name: QualifiedName, inquiry: Inquiry): CatalogTable {
  const table = inquiry.tracked(name);
  if (table === undefined) throw new DanglingReference(`table "${printTable(source, name)}" is not tracked`);
  return table;
}

function pair(local: readonly string[], remote: readonly string[]): Join['columns'] {
  return local.map((column, i) => ({ local: column, remote: remote[i] as string }));
}

/** Whether rows of the second table may be on other servers than those of the first. The tables that views read are not known. */
function areApart({ kind, distribution: one }: CatalogTable, { kind: otherKind, distribution: other }: CatalogTable): boolean {
  if (kind === 'view' && otherKind === 'view') return true;
  if (other?.kind === 'reference') return false;
  return isSpread(one) && isSpread(other) ? one.group !== other.group : isSpread(one) || isSpread(other);
}

function isSpread(distribution: CatalogDistribution | undefined): distribution is Extract<CatalogDistribution, { readonly group: number }> {
  return distribution?.kind === 'distributed' || distribution?.kind === 'schema';
}

/** Whether rows with the same values in `columns` are the same row. */
export function isKey(table: CatalogTable, columns: readonly string[]): boolean {
  if (table.inherited === true) return false;
  const keys = table.primaryKey === null ? table.uniqueConstraints : [table.primaryKey, ...table.uniqueConstraints];
  return keys.some((key) => key.columns.every((column) => columns.includes(column)));
}

function overOwnKey(source: StageSource, core: TableCore, columns: readonly string[], inquiry: Inquiry): Resolved {
  const key = foreignKeyOver(core.catalog.foreignKeys, columns);
  const remote = trackedTable(source, key.target, inquiry);
  checkTypes(source, core.catalog, remote, pair(key.columns, key.targetColumns));
  return {
    target: key.target,
    // A foreign key points at unique columns, but of the table alone.
    join: { columns: pair(key.columns, key.targetColumns), unique: remote.inherited !== true },
    apart: areApart(core.catalog, remote),
    nullable: !alwaysLeadsToRow(core.catalog, key, remote),
    afterParent: false,
  };
}

/**
 * Whether every row that is read from the table has its related row in the target. A key that is checked at the end of the
 * transaction counts: a row without a partner is never there longer than that.
 */
function alwaysLeadsToRow(table: CatalogTable, key: CatalogForeignKey, target: CatalogTable): boolean {
  if (key.unvalidated === true || target.rowSecurity === true) return false;
  // Rows of tables that inherit from this one need not keep its foreign key.
  if (table.inherited === true) return false;
  return key.columns.every((column) => columnOf(table, column)?.nullable === false);
}

function overRemoteKey(source: StageSource, core: TableCore, name: QualifiedName, columns: readonly string[], inquiry: Inquiry): Resolved {
  const remote = trackedTable(source, name, inquiry);
  const key = foreignKeyOver(
    remote.foreignKeys.filter(({ target }) => sameName(target, core.name)),
    columns,
  );
  checkTypes(source, core.catalog, remote, pair(key.targetColumns, key.columns));
  return {
    target: name,
    join: { columns: pair(key.targetColumns, key.columns), unique: isKey(remote, key.columns) },
    apart: areApart(core.catalog, remote),
    nullable: true,
    afterParent: true,
  };
}

function manual(source: StageSource, core: TableCore, configuration: ManualConfiguration, inquiry: Inquiry): Resolved {
  const remote = trackedTable(source, configuration.remoteTable, inquiry);
  const local = [...configuration.columnMapping.keys()];
  const others = [...configuration.columnMapping.values()];
  checkColumns(source, core.catalog, local);
  checkColumns(source, remote, others);
  const columns = pair(local, others);
  checkTypes(source, core.catalog, remote, columns);
  return {
    target: configuration.remoteTable,
    join: { columns, unique: isKey(remote, others) },
    apart: areApart(core.catalog, remote),
    nullable: true,
    afterParent: configuration.insertionOrder === 'after_parent',
  };
}

function checkColumns(source: StageSource, table: CatalogTable, columns: readonly string[]): void {
  for (const column of columns) {
    if (columnOf(table, column) === undefined) {
      throw new DanglingReference(`table "${printTable(source, table.name)}" has no field named "${column}"`);
    }
  }
}

function checkTypes(source: StageSource, table: CatalogTable, remote: CatalogTable, columns: Join['columns']): void {
  const { types } = source.backend;
  for (const { local, remote: other } of columns) {
    const [own, their] = [columnOf(table, local)?.type, columnOf(remote, other)?.type];
    if (own === undefined || their === undefined || types.joins?.(own, their) !== false) continue;
    throw new Defect(
      `incompatible column types: column "${local}" has type "${types.print(own)}", column "${other}" of "${printTable(source, remote.name)}" has type "${types.print(their)}"`,
    );
  }
}
