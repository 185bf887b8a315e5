import type { CatalogDistribution, CatalogForeignKey, CatalogTable, QualifiedName } from '../../catalog/catalog.ts';
import { sameName } from '../../catalog/catalog.ts';
import type { Join } from '../../ir/relation.ts';
import type { ManualConfiguration, ObjectUsing, Relationship } from '../../metadata/relationship.ts';
import { Defect, fieldNameProblem } from '../inconsistency.ts';
import type { RelationshipInfo, TableCore } from '../schema-cache.ts';
import { catalogColumn, type RecordedLookups, printTable, type StageSource } from './lookups.ts';

/** A defect that is reported without the names of table and relationship. */
export class DanglingReference extends Defect {}

/**
 * Resolves the columns and the target of a relationship.
 * @throws Defect
 */
export function resolveRelationship(
  source: StageSource,
  core: TableCore,
  kind: 'object' | 'array',
  relationship: Relationship<ObjectUsing>,
  lookups: RecordedLookups,
): RelationshipInfo {
  const { name, using } = relationship;
  const problem = fieldNameProblem(name);
  if (problem !== null) throw new Defect(problem, { code: 'validation-failed', message: problem });
  const resolved =
    using.kind === 'own-columns'
      ? overOwnKey(source, core, using.columns, lookups)
      : using.kind === 'remote-columns'
        ? overRemoteKey(source, core, using.table, using.columns, lookups)
        : manual(source, core, using.manual, lookups);
  const afterParent = kind === 'array' || resolved.afterParent;
  return {
    name,
    kind,
    comment: relationship.comment,
    target: resolved.target,
    join: resolved.crossServer ? { ...resolved.join, crossServer: true } : resolved.join,
    nullable: resolved.nullable,
    insertionOrder: afterParent ? 'after-parent' : 'before-parent',
  };
}

interface Resolved {
  readonly target: QualifiedName;
  readonly join: Join;
  readonly crossServer: boolean;
  readonly nullable: boolean;
  readonly afterParent: boolean;
}

/** Returns the foreign key over exactly these columns, in any order. */
function foreignKeyOver(keys: readonly CatalogForeignKey[], columns: readonly string[]): CatalogForeignKey {
  const found = keys.filter((key) => key.columns.length === columns.length && columns.every((column) => key.columns.includes(column)));
  if (found[0] === undefined) throw new Defect('no foreign constraint exists on the given column(s)');
  if (found.length > 1) throw new Defect('more than one foreign key constraint exists on the given column(s)');
  return found[0];
}

function trackedTable(source: StageSource, name: QualifiedName, lookups: RecordedLookups): CatalogTable {
  const table = lookups.tracked(name);
  if (table === undefined) throw new DanglingReference(`table "${printTable(source, name)}" is not tracked`);
  return table;
}

function pair(local: readonly string[], remote: readonly string[]): Join['columns'] {
  return local.map((column, i) => ({ local: column, remote: remote[i] as string }));
}

/** Returns true if rows of the two tables may be on different servers. The tables of views are unknown. */
function mayBeOnDifferentServers(
  { kind, distribution: one }: CatalogTable,
  { kind: otherKind, distribution: other }: CatalogTable,
): boolean {
  if (kind === 'view' && otherKind === 'view') return true;
  if (other?.kind === 'reference') return false;
  return isSpread(one) && isSpread(other) ? one.group !== other.group : isSpread(one) || isSpread(other);
}

function isSpread(distribution: CatalogDistribution | undefined): distribution is Extract<CatalogDistribution, { readonly group: number }> {
  return distribution?.kind === 'distributed' || distribution?.kind === 'schema';
}

/** Returns true if rows with equal values of `columns` are the same row. */
export function isUniqueKey(table: CatalogTable, columns: readonly string[]): boolean {
  if (table.inherited === true) return false;
  const keys = table.primaryKey === null ? table.uniqueConstraints : [table.primaryKey, ...table.uniqueConstraints];
  return keys.some((key) => key.columns.every((column) => columns.includes(column)));
}

function overOwnKey(source: StageSource, core: TableCore, columns: readonly string[], lookups: RecordedLookups): Resolved {
  const key = foreignKeyOver(core.catalog.foreignKeys, columns);
  const remote = trackedTable(source, key.target, lookups);
  checkTypes(source, core.catalog, remote, pair(key.columns, key.targetColumns));
  return {
    target: key.target,
    // The columns that a foreign key refers to are unique in the target itself, but not in tables that inherit from it.
    join: { columns: pair(key.columns, key.targetColumns), unique: remote.inherited !== true },
    crossServer: mayBeOnDifferentServers(core.catalog, remote),
    nullable: !alwaysLeadsToRow(core.catalog, key, remote),
    afterParent: false,
  };
}

/**
 * Returns true if every row that is read from the table has its related row in the target. A key that is checked at the end of the
 * transaction counts: a row without a partner does not outlive the transaction.
 */
function alwaysLeadsToRow(table: CatalogTable, key: CatalogForeignKey, target: CatalogTable): boolean {
  if (key.unvalidated === true || target.rowSecurity === true) return false;
  // Rows of tables that inherit from this one need not satisfy its foreign key.
  if (table.inherited === true) return false;
  return key.columns.every((column) => catalogColumn(table, column)?.nullable === false);
}

function overRemoteKey(
  source: StageSource,
  core: TableCore,
  name: QualifiedName,
  columns: readonly string[],
  lookups: RecordedLookups,
): Resolved {
  const remote = trackedTable(source, name, lookups);
  const key = foreignKeyOver(
    remote.foreignKeys.filter(({ target }) => sameName(target, core.name)),
    columns,
  );
  checkTypes(source, core.catalog, remote, pair(key.targetColumns, key.columns));
  return {
    target: name,
    join: { columns: pair(key.targetColumns, key.columns), unique: isUniqueKey(remote, key.columns) },
    crossServer: mayBeOnDifferentServers(core.catalog, remote),
    nullable: true,
    afterParent: true,
  };
}

function manual(source: StageSource, core: TableCore, configuration: ManualConfiguration, lookups: RecordedLookups): Resolved {
  const remote = trackedTable(source, configuration.remoteTable, lookups);
  const local = [...configuration.columnMapping.keys()];
  const others = [...configuration.columnMapping.values()];
  checkColumns(source, core.catalog, local);
  checkColumns(source, remote, others);
  const columns = pair(local, others);
  checkTypes(source, core.catalog, remote, columns);
  return {
    target: configuration.remoteTable,
    join: { columns, unique: isUniqueKey(remote, others) },
    crossServer: mayBeOnDifferentServers(core.catalog, remote),
    nullable: true,
    afterParent: configuration.insertionOrder === 'after_parent',
  };
}

function checkColumns(source: StageSource, table: CatalogTable, columns: readonly string[]): void {
  for (const column of columns) {
    if (catalogColumn(table, column) === undefined) {
      throw new DanglingReference(`table "${printTable(source, table.name)}" has no field named "${column}"`);
    }
  }
}

function checkTypes(source: StageSource, table: CatalogTable, remote: CatalogTable, columns: Join['columns']): void {
  const { types } = source.backend;
  for (const { local, remote: other } of columns) {
    const [own, their] = [catalogColumn(table, local)?.type, catalogColumn(remote, other)?.type];
    if (own === undefined || their === undefined || types.joins?.(own, their) !== false) continue;
    throw new Defect(
      `incompatible column types: column "${local}" has type "${types.print(own)}", column "${other}" of "${printTable(source, remote.name)}" has type "${types.print(their)}"`,
    );
  }
}
