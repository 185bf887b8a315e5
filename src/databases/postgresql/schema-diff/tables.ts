import { columnDefinition, columnStatements, releasedDefaults } from './columns.ts';
import { constraintStatements, inlineConstraints } from './constraints.ts';
import { takenBy } from './enums.ts';
import { ownedSequences } from './sequences.ts';
import type { SchemaSnapshot, Table } from './snapshot.ts';
import { key, type DiffStatement, tableKeys } from './statement.ts';
import { tableChanges, type TablePair } from './table-pair.ts';

/** Statements for tables with their columns, constraints and indexes. */
export function tableStatements(from: SchemaSnapshot, to: SchemaSnapshot): readonly DiffStatement[] {
  const changes = tableChanges(from, to);
  const pairs = [...changes.pairs.values()];
  return [
    ...changes.dropped.flatMap((table) => [...releasedDefaults(table, table.columns, from), dropTable(table, from)]),
    ...changes.created.map((table) => createTable(table, from)),
    ...pairs.flatMap(persistenceStatements),
    ...pairs.flatMap((pair) => columnStatements(pair, from, to)),
    ...constraintStatements(changes),
  ];
}

function dropTable({ name, usedBy, columns }: Table, from: SchemaSnapshot): DiffStatement {
  const self = key('table', name);
  const names = columns.map((column) => column.name);
  const owned = ownedSequences(from, name, columns);
  return {
    phase: 'drop tables',
    sql: `drop table ${name}`,
    touches: [...tableKeys(name, names), ...owned.users],
    note: `The rows of the table ${name} are lost`,
    refused: usedBy.length === 0 ? undefined : `${usedBy.join(', ')} would have to be dropped with the table ${name}`,
    blocks: [self, ...owned.sequences],
  };
}

function createTable(table: Table, from: SchemaSnapshot): DiffStatement {
  const self = key('table', table.name);
  const parts = [
    ...table.columns.map((column) => columnDefinition(table, column)),
    ...inlineConstraints(table).map(({ name, definition }) => `constraint ${name} ${definition}`),
  ];
  const body = parts.length === 0 ? '()' : `(\n  ${parts.join(',\n  ')}\n)`;
  return {
    phase: 'create tables',
    sql: `create ${table.isUnlogged ? 'unlogged ' : ''}table ${table.name} ${body}`,
    touches: [self],
    refused: takenBy(table.name, from),
    blocks: [self],
  };
}

function persistenceStatements({ from, to }: TablePair): readonly DiffStatement[] {
  if (from.isUnlogged === to.isUnlogged) return [];
  const sql = `alter table ${to.name} set ${to.isUnlogged ? 'unlogged' : 'logged'}`;
  const columns = from.columns.map(({ name }) => name);
  return [{ phase: 'change persistence', sql, touches: tableKeys(to.name, columns), blocks: [key('persistence', to.name)] }];
}
