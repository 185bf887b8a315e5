/** Rows as nodes of Relay: the interface `Node`, and the field `id`. */
import type { ColumnRead } from '../../ir/bool-exp.ts';
import type { SourceInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { InterfaceType, ObjectType, OutputField, ScalarSchemaType } from '../../graphql-engine/types.ts';
import { lazy, typeRef } from '../../graphql-engine/types.ts';
import { isJsonNumber, numberText } from '../../util/json.ts';
import { STRING_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import type { NodeColumn, NodeTable } from '../fields/role-table.ts';
import type { SourceContext } from '../fields/source-context.ts';

/** Accepts strings, and numbers as their texts. */
export const ID_SCALAR: ScalarSchemaType = {
  kind: 'scalar',
  name: 'ID',
  description: null,
  check: (json, at, found) => (isJsonNumber(json) ? numberText(json) : STRING_SCALAR.check(json, at, found)),
};

/** @param members returns the types of all nodes of the role */
export function nodeInterface(members: () => readonly ObjectType[]): InterfaceType {
  return {
    kind: 'interface',
    name: 'Node',
    description: 'An object with a globally unique id',
    fields: lazy(() => new Map([['id', idField({ kind: 'inner' })]])),
    interfaces: () => [],
    members: lazy(members),
  };
}

export function nodeInterfaces({ interface: node }: NodeTable): () => readonly InterfaceType[] {
  return () => [node()];
}

export function nodeIdField({ names, key }: NodeTable): OutputField {
  const keys = key.map(({ read }) => read);
  return idField({ kind: 'row-field', toField: (field) => ({ kind: 'node-id', alias: field.responseKey, table: names, keys }) });
}

function idField(meaning: OutputField['meaning']): OutputField {
  return {
    name: 'id',
    description: 'The globally unique id of the object',
    type: typeRef(ID_SCALAR.name, () => ID_SCALAR, true),
    args: new Map(),
    meaning,
  };
}

/** Returns true if the rows of a table are nodes. */
export function isNodeTable({ backend }: Pick<SourceInfo, 'backend'>, table: TableInfo): boolean {
  return backend.capabilities.connections === true && table.catalog.primaryKey !== null;
}

/**
 * Returns the primary key of a table. Its columns are read without permissions: they are part of every id.
 * @see docs/adr/0004-permission-safety.md
 */
export function keyOf(source: SourceContext, table: TableInfo): readonly NodeColumn[] {
  return (table.catalog.primaryKey?.columns ?? []).flatMap((name): readonly NodeColumn[] => {
    const column = table.catalog.columns.find((each) => each.name === name);
    if (column === undefined) return [];
    const info = table.columns.get(name);
    const read: ColumnRead = { kind: 'column', column: name, type: column.type, notNull: true };
    return [{ name: info === undefined ? name : source.columnName(info), read }];
  });
}
