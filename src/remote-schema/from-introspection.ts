/** Builds the model from the response to an introspection query. Validates the response's shape and that its types fit together. */
import { type ConstValueNode, Kind, parseConstValue } from 'graphql';
import { SvcError } from '../errors/svc-error.ts';
import { isGraphqlName } from '../model/graphql-name.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { along, at, type Path, ROOT } from '../util/path.ts';
import { runSync, type Cooperative } from '../util/cooperative.ts';
import { checkModel } from './check-model.ts';
import type { RemoteEnumValue, RemoteInputValue, RemoteModel, RemoteModelField, RemoteType, RemoteTypeRef } from './model.ts';

/** Maximum levels of lists and non-null around a named type; the introspection query selects no more. */
const MAX_WRAPPERS = 20;
/** Maximum levels of lists and objects in a default value, which is parsed again wherever it is used. */
const MAX_DEPTH = 100;
/** Maximum length of all default values together, in characters: each is parsed separately, and again where it is used. */
const MAX_DEFAULTS_LENGTH = 1_048_576;

/**
 * @param response `{"data": {"__schema": …}}`, or its `data`
 * @throws SvcError remote-schema-error
 */
export function* modelFromIntrospection(response: Json): Cooperative<RemoteModel> {
  const data = isJsonObject(response) && isJsonObject(response['data']) ? response['data'] : response;
  const schema = objectAt(isJsonObject(data) ? data['__schema'] : undefined, at(ROOT, '__schema'));
  const path = along(ROOT, '__schema');
  const types = new Map<string, RemoteType>();
  let defaults = 0;
  for (const [index, item] of listAt(schema['types'], at(path, 'types')).entries()) {
    const type = yield* typeOf(objectAt(item, along(path, 'types', index)), along(path, 'types', index));
    defaults += defaultsOf(type);
    if (defaults > MAX_DEFAULTS_LENGTH) throw malformed(`its default values have more than ${MAX_DEFAULTS_LENGTH} characters`, path);
    if (!type.name.startsWith('__')) types.set(type.name, type);
    yield;
  }
  const root = (key: string, fallback: string): string | null => {
    const named = schema[key];
    if (named === undefined) return types.get(fallback)?.kind === 'object' ? fallback : null;
    return named === null ? null : textAt(objectAt(named, at(path, key))['name'], along(path, key, 'name'));
  };
  const query = root('queryType', 'Query');
  if (query === null) throw malformed('it has no type for queries', path);
  const model: RemoteModel = {
    query,
    mutation: root('mutationType', 'Mutation'),
    subscription: root('subscriptionType', 'Subscription'),
    types,
  };
  yield* checkModel(model);
  return model;
}

/** Returns the length of all default values of a type. */
function defaultsOf(type: RemoteType): number {
  const sum = (values: ReadonlyMap<string, RemoteInputValue>): number => {
    let length = 0;
    for (const value of values.values()) length += value.default?.length ?? 0;
    return length;
  };
  if (type.kind === 'input-object') return sum(type.fields);
  if (type.kind !== 'object' && type.kind !== 'interface') return 0;
  let length = 0;
  for (const { args } of type.fields.values()) length += sum(args);
  return length;
}

function malformed(what: string, path: Path): SvcError {
  return new SvcError('remote-schema-error', `the introspection of the remote schema is invalid: ${what}`, { path });
}

function objectAt(json: Json | undefined, path: Path): JsonObject {
  if (!isJsonObject(json)) throw malformed('expected an object', path);
  return json;
}

function listAt(json: Json | undefined, path: Path): readonly Json[] {
  if (!isJsonArray(json)) throw malformed('expected a list', path);
  return json;
}

function textAt(json: Json | undefined, path: Path): string {
  if (typeof json !== 'string') throw malformed('expected a string', path);
  return json;
}

function nameAt(object: JsonObject, path: Path): string {
  const name = textAt(object['name'], at(path, 'name'));
  if (!isGraphqlName(name)) throw malformed('expected a name', at(path, 'name'));
  return name;
}

function optionalText(json: Json | undefined): string | null {
  return typeof json === 'string' ? json : null;
}

function* typeOf(json: JsonObject, path: Path): Cooperative<RemoteType> {
  const name = nameAt(json, path);
  const base = { name, description: optionalText(json['description']) };
  switch (json['kind']) {
    case 'SCALAR':
      return { ...base, kind: 'scalar', specifiedByUrl: optionalText(json['specifiedByURL']) };
    case 'ENUM':
      return { ...base, kind: 'enum', values: yield* byNameCooperatively(json['enumValues'], at(path, 'enumValues'), enumValue) };
    case 'INPUT_OBJECT':
      return {
        ...base,
        kind: 'input-object',
        fields: yield* byNameCooperatively(json['inputFields'], at(path, 'inputFields'), inputValue),
      };
    case 'OBJECT':
      return { ...base, kind: 'object', interfaces: names(json['interfaces'], at(path, 'interfaces')), fields: yield* fields(json, path) };
    case 'INTERFACE':
      return {
        ...base,
        kind: 'interface',
        interfaces: names(json['interfaces'], at(path, 'interfaces')),
        fields: yield* fields(json, path),
        members: names(json['possibleTypes'], at(path, 'possibleTypes')),
      };
    case 'UNION':
      return { ...base, kind: 'union', members: names(json['possibleTypes'], at(path, 'possibleTypes')) };
    default:
      throw malformed('expected a type kind', at(path, 'kind'));
  }
}

function fields(json: JsonObject, path: Path): Cooperative<ReadonlyMap<string, RemoteModelField>> {
  return byNameCooperatively(json['fields'], at(path, 'fields'), field);
}

/** Returns names of types; `null` counts as an empty list. */
function names(json: Json | undefined, path: Path): readonly string[] {
  if (json === undefined || json === null) return [];
  return listAt(json, path).map((item, index) => nameAt(objectAt(item, at(path, index)), at(path, index)));
}

type Read<T> = (json: JsonObject, path: Path) => T;

function byName<T extends { readonly name: string }>(json: Json | undefined, path: Path, read: Read<T>): ReadonlyMap<string, T> {
  return runSync(byNameCooperatively(json, path, read));
}

function* byNameCooperatively<T extends { readonly name: string }>(
  json: Json | undefined,
  path: Path,
  read: Read<T>,
): Cooperative<ReadonlyMap<string, T>> {
  const found = new Map<string, T>();
  for (const [index, item] of listAt(json, path).entries()) {
    const value = read(objectAt(item, at(path, index)), at(path, index));
    found.set(value.name, value);
    yield;
  }
  return found;
}

function described(
  json: JsonObject,
  path: Path,
): { readonly name: string; readonly description: string | null; readonly deprecation: string | null } {
  return {
    name: nameAt(json, path),
    description: optionalText(json['description']),
    deprecation: json['isDeprecated'] === true ? (optionalText(json['deprecationReason']) ?? 'No longer supported') : null,
  };
}

const enumValue = (json: JsonObject, path: Path): RemoteEnumValue => described(json, path);

function field(json: JsonObject, path: Path): RemoteModelField {
  return {
    ...described(json, path),
    type: typeRef(json['type'], at(path, 'type')),
    args: byName(json['args'], at(path, 'args'), inputValue),
  };
}

function inputValue(json: JsonObject, path: Path): RemoteInputValue {
  const written = json['defaultValue'];
  const text = written === undefined || written === null ? undefined : textAt(written, at(path, 'defaultValue'));
  if (text !== undefined) checkConstant(text, at(path, 'defaultValue'));
  return { ...described(json, path), type: typeRef(json['type'], at(path, 'type')), default: text };
}

function checkConstant(text: string, path: Path): void {
  try {
    if (depthOf(parseConstValue(text, { noLocation: true, maxTokens: 10_000 })) <= MAX_DEPTH) return;
  } catch {
    // Not a constant, or nested so deep that the stack overflows.
  }
  throw malformed('expected a value', path);
}

function depthOf(value: ConstValueNode): number {
  if (value.kind === Kind.LIST) return 1 + Math.max(0, ...value.values.map(depthOf));
  if (value.kind === Kind.OBJECT) return 1 + Math.max(0, ...value.fields.map((each) => depthOf(each.value)));
  return 0;
}

function typeRef(json: Json | undefined, path: Path, wrappers = 0): RemoteTypeRef {
  const type = objectAt(json, path);
  if (wrappers > MAX_WRAPPERS) throw malformed('lists are nested too deep', path);
  const inner = (): RemoteTypeRef => typeRef(type['ofType'], at(path, 'ofType'), wrappers + 1);
  if (type['kind'] === 'NON_NULL') return { ...inner(), nonNull: true };
  if (type['kind'] === 'LIST') return { kind: 'list', item: inner(), nonNull: false };
  return { kind: 'named', name: nameAt(type, path), nonNull: false };
}
