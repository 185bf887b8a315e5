/** `node`: any row by its id. */
import { SvcError } from '../../errors/svc-error.ts';
import { type BoolExp, FALSE, guarded, and } from '../../ir/bool-exp.ts';
import type { RowsQuery } from '../../ir/select.ts';
import type { CollectedField, InputValue, OutputField, ResponseNode, AddRoot } from '../../graphql-engine/types.ts';
import { typeRef } from '../../graphql-engine/types.ts';
import { type Json, parseJson } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';
import type { TypeSystem } from '../../backend/type-system.ts';
import type { NodeColumn, RoleTable } from '../fields/role-table.ts';
import { ID_SCALAR } from './node.ts';
import { checkValues, type NodeId, readNodeId, valueOfId } from './node-id.ts';
import type { NodeTables } from './node-tables.ts';

const NAME = 'node';
const ID = 'id';

/** @param isLive a subscription repeats a statement even for an id that names no table */
export function nodeField(nodes: NodeTables, isLive: boolean): OutputField {
  const respond = (field: CollectedField, addRoot: AddRoot): ResponseNode => {
    const input = field.args.get(ID) as InputValue;
    const id = readNodeId(input);
    const found = nodes.find(id);
    if (found !== null) checkValues(id, found.node?.key ?? [], input.path);
    const [any = null] = found === null && isLive ? nodes.tables() : [];
    const table = found ?? any;
    if (table === null) return { kind: 'json', text: 'null' };
    const where = found === null ? FALSE : keyOfRow(found, id, field);
    const { name } = table.source.info;
    return { kind: 'root', index: addRoot(name, field, (alias) => ({ alias, query: nodeQuery(table, field, where) })) };
  };
  return {
    name: NAME,
    description: 'fetch an object by its globally unique id',
    type: typeRef('Node', nodes.interface),
    args: new Map([[ID, { name: ID, description: 'a node id', type: typeRef(ID_SCALAR.name, () => ID_SCALAR, true) }]]),
    meaning: { kind: 'meta', showsSchema: false, respond },
  };
}

/** The role's filter applies, its limit does not. */
function nodeQuery(table: RoleTable, field: CollectedField, where: BoolExp): RowsQuery {
  const rows = { where: guarded(table.access.filter, where), distinctOn: [], orderBy: [], limit: null, offset: null };
  return { kind: 'rows', shape: 'single', from: table.relation, rows, fields: table.rows().fields(field) };
}

function keyOfRow(table: RoleTable, id: NodeId, field: CollectedField): BoolExp {
  const { types } = table.source.info.backend;
  return and(
    ...(table.node?.key ?? []).map((column, i): BoolExp => {
      const { type } = column.read;
      const value = id.part(String(i), (json) => keyValue(valueOfId(json, id.offset + i), column, types, field.path));
      return {
        kind: 'compare',
        left: column.read,
        operator: '_eq',
        argument: { kind: 'operand', operand: { value, type, list: false } },
        nullSafe: false,
      };
    }),
  );
}

/** @throws SvcError parse-failed */
function keyValue(json: Json, { name, read: { type } }: NodeColumn, types: TypeSystem, path: Path): Json {
  const scalar = types.scalar(type);
  try {
    if (type.array || scalar.json) return typeof json === 'string' && scalar.json ? parseJson(json) : json;
    return scalar.check(json, path);
  } catch (error) {
    const reason = error instanceof SvcError ? error.message : 'not valid JSON';
    throw new SvcError('parse-failed', `value of column '${name}' in node id: ${reason}`, { path });
  }
}
