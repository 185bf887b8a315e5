/** Targets of relationships to remote schemas: checks their arguments against the server's types. */
import type { ToRemoteSchema } from '../../metadata/remote-relationship.ts';
import {
  namedRemoteType,
  printRemoteType,
  type RemoteInputValue,
  type RemoteModel,
  type RemoteModelField,
  type RemoteTypeRef,
} from '../../remote-schema/model.ts';
import { isJsonArray, isJsonNumber, isJsonObject, type Json, numberText } from '../../util/json.ts';
import { Defect } from '../inconsistency.ts';
import type { RemoteArgumentTree, RemotePathField, RemoteSchemaTarget } from '../schema-cache.ts';
import type { FieldOfKey } from './remote-relationship.ts';

/**
 * @param field returns a field that may be part of the key, or null
 * @param owner name in messages of the table or type that has the relationship
 * @throws Defect
 */
export function remoteSchemaTarget(
  definition: ToRemoteSchema,
  model: RemoteModel,
  field: (name: string) => FieldOfKey | null,
  owner: string,
): RemoteSchemaTarget {
  const keys = definition.lhsFields.map((name) => {
    const found = field(name);
    if (found === null) {
      throw new Defect(`field with name "${name}" is not provided by the lhs entity "${owner}" for defining a join condition`);
    }
    return { name, scalar: found.scalar };
  });
  const path: RemotePathField[] = [];
  let type = model.query;
  let last: RemoteModelField | undefined;
  for (const call of definition.path) {
    const parent = model.types.get(type);
    const found = parent?.kind === 'object' || parent?.kind === 'interface' ? parent.fields.get(call.name) : undefined;
    if (found === undefined) throw new Defect(`remote field with name "${call.name}" and type "${type}" not found`);
    const entries = Object.entries(call.arguments).map(([name, json]): [string, RemoteArgumentTree] => {
      const argument = found.args.get(name);
      if (argument === undefined) throw new Defect(`argument with name "${name}" not found in remote schema`);
      return [name, argumentTree(json, argument, { model, keys, isBatch: definition.batch !== undefined })];
    });
    if (last !== undefined && last.type.kind === 'list') {
      throw new Defect(`remote field "${last.name}" is a list, and only the last field may be one`);
    }
    path.push({ name: call.name, arguments: new Map(entries) });
    type = namedRemoteType(found.type);
    last = found;
  }
  const { batch } = definition;
  if (batch !== undefined) checkBatch(batch.matchField, last, model, keys.length, path);
  return {
    kind: 'remote-schema',
    remoteSchema: definition.remoteSchema,
    keys: keys.map(({ name }) => name),
    path,
    ...(batch === undefined ? {} : { batch }),
  };
}

interface ArgumentContext {
  readonly model: RemoteModel;
  readonly keys: readonly { readonly name: string; readonly scalar: string }[];
  readonly isBatch: boolean;
}

/** @throws Defect */
function argumentTree(json: Json, { type }: Pick<RemoteInputValue, 'type'>, context: ArgumentContext): RemoteArgumentTree {
  if (typeof json === 'string' && json.startsWith('$')) return keyTree(json.slice(1), type, context);
  if (json === null) throw new Defect('null is not allowed here');
  if (isJsonArray(json)) {
    if (type.kind !== 'list') throw new Defect(`expected type "${printRemoteType(type)}" but got a list`);
    return { kind: 'list', items: json.map((item) => argumentTree(item, { type: type.item }, context)) };
  }
  if (isJsonObject(json)) return objectTree(json, type, context);
  checkLiteral(json, type, context.model);
  return { kind: 'literal', json };
}

function keyTree(name: string, type: RemoteTypeRef, { model, keys, isBatch }: ArgumentContext): RemoteArgumentTree {
  const index = keys.findIndex((key) => key.name === name);
  const key = keys[index];
  if (key === undefined) throw new Defect(`variable "${name}" is not found`);
  const item = type.kind === 'list' ? type.item : type;
  if (isBatch && type.kind !== 'list') throw new Defect(`type "${printRemoteType(type)}" is not a list type`);
  if (item.kind === 'list') throw new Defect(`expected type "${printRemoteType(type)}" but got "${key.scalar}"`);
  const kind = model.types.get(item.name)?.kind ?? 'scalar';
  if (kind !== 'scalar' && kind !== 'enum') throw new Defect(`expected type "${printRemoteType(type)}" but got "${key.scalar}"`);
  checkScalars(key.scalar, item.name);
  return { kind: 'key', index };
}

const JOINS_TO_ID: ReadonlySet<string> = new Set(['ID', 'Int', 'uuid', 'String', 'bigint']);
/** Scalars with different names on the two sides that have the same values. */
const COMPATIBLE: Readonly<Record<string, ReadonlySet<string>>> = {
  String: new Set(['ID', 'uuid', 'text', 'varchar', 'bpchar', 'citext', 'name']),
  Int: new Set(['smallint', 'bigint']),
  Float: new Set(['Int', 'float8', 'float4', 'numeric', 'smallint', 'bigint']),
};
const BUILT_IN: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);

function checkScalars(own: string, remote: string): void {
  if (remote === 'ID') {
    if (!JOINS_TO_ID.has(own))
      throw new Defect(`Only ID, Int, uuid or String scalar types can be joined to the ID type, but received "${own}"`);
    return;
  }
  // Only the server can check values of its own scalars.
  if (own === remote || !BUILT_IN.has(remote) || COMPATIBLE[remote]?.has(own) === true) return;
  throw new Defect(`expected type "${remote}" but got "${own}"`);
}

function objectTree(json: Readonly<Record<string, Json>>, type: RemoteTypeRef, context: ArgumentContext): RemoteArgumentTree {
  if (type.kind === 'list') throw new Defect(`expected type "${printRemoteType(type)}" but got an object`);
  const object = context.model.types.get(type.name);
  if (object?.kind !== 'input-object') {
    // The server's own scalars may be any JSON.
    if (object?.kind === 'scalar') return { kind: 'literal', json };
    throw new Defect(`expected type "${printRemoteType(type)}" but got an object`);
  }
  const entries = Object.entries(json).map(([name, value]): [string, RemoteArgumentTree] => {
    const field = object.fields.get(name);
    if (field === undefined) throw new Defect(`argument with name "${name}" not found in remote schema`);
    return [name, argumentTree(value, field, context)];
  });
  return { kind: 'object', entries: new Map(entries) };
}

function checkLiteral(json: Json, type: RemoteTypeRef, model: RemoteModel): void {
  if (type.kind === 'list') {
    checkLiteral(json, type.item, model);
    return;
  }
  const kind = model.types.get(type.name)?.kind;
  if (kind === 'enum') throw new Defect('enum value is not supported');
  if (kind === 'input-object') throw new Defect(`expected type "${printRemoteType(type)}" but got a scalar`);
  const found = isJsonNumber(json)
    ? /^-?\d+$/.test(numberText(json))
      ? 'Int'
      : 'Float'
    : typeof json === 'boolean'
      ? 'Boolean'
      : 'String';
  const fits =
    type.name === found || (type.name === 'Float' && found === 'Int') || (type.name === 'ID' && found !== 'Float' && found !== 'Boolean');
  if (BUILT_IN.has(type.name) && !fits) throw new Defect(`expected type "${type.name}" but got "${found}"`);
}

function checkBatch(
  matchField: string,
  last: RemoteModelField | undefined,
  model: RemoteModel,
  keys: number,
  path: readonly RemotePathField[],
): void {
  if (keys !== 1 || path.length !== 1) throw new Defect('a batch takes one key and one remote field');
  const type = last === undefined ? undefined : model.types.get(namedRemoteType(last.type));
  if (last?.type.kind !== 'list' || type?.kind !== 'object') throw new Defect('a batch takes a remote field that is a list of objects');
  const match = type.fields.get(matchField);
  if (match === undefined || match.type.kind === 'list' || match.args.size > 0) {
    throw new Defect(`field with name "${matchField}" cannot identify the rows of "${type.name}"`);
  }
}
