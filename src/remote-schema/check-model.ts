/** Validates that the types of a remote schema fit together, as the GraphQL specification requires. */
import { SvcError } from '../errors/svc-error.ts';
import { at, ROOT } from '../util/path.ts';
import type { Cooperative } from '../util/cooperative.ts';
import {
  BUILT_IN_SCALARS,
  namedRemoteType,
  printRemoteType,
  type RemoteInterface,
  type RemoteInputValue,
  type RemoteModel,
  type RemoteModelField,
  type RemoteObject,
  type RemoteType,
  type RemoteTypeRef,
} from './model.ts';

const INPUT_KINDS: ReadonlySet<RemoteType['kind']> = new Set(['scalar', 'enum', 'input-object']);

/** @throws SvcError remote-schema-error at `$.args` */
export function* checkModel(model: RemoteModel): Cooperative<void> {
  for (const root of [model.query, model.mutation, model.subscription]) {
    if (root !== null && model.types.get(root)?.kind !== 'object')
      throw refused(`Could not find the root type '${root}' among the object types`);
  }
  yield* checkTypes(model);
}

/** Like `checkModel`, for a model whose root types may be absent, such as that of a role. @throws SvcError remote-schema-error at `$.args` */
export function* checkTypes(model: RemoteModel): Cooperative<void> {
  for (const type of model.types.values()) {
    yield* checkType(model, type);
    yield;
  }
}

function refused(message: string): SvcError {
  return new SvcError('remote-schema-error', message, { path: at(ROOT, 'args') });
}

function* checkType(model: RemoteModel, type: RemoteType): Cooperative<void> {
  switch (type.kind) {
    case 'scalar':
    case 'enum':
      return;
    case 'input-object':
      yield* checkInputs(model, type.fields, `input object '${type.name}'`);
      return;
    case 'object':
      yield* checkFields(model, type);
      for (const name of type.interfaces) yield* checkImplements(model, type, interfaceOf(model, name, type));
      return;
    case 'interface':
      if (type.fields.size === 0) throw refused(`List of fields cannot be empty for interface '${type.name}'`);
      yield* checkFields(model, type);
      for (const name of type.interfaces) yield* checkImplements(model, type, interfaceOf(model, name, type));
      yield* checkMembers(model, type.members, `interface '${type.name}'`);
      return;
    case 'union':
      if (type.members.length === 0) throw refused(`List of member types cannot be empty for union type '${type.name}'`);
      yield* checkMembers(model, type.members, `union '${type.name}'`);
  }
}

function* checkMembers(model: RemoteModel, members: readonly string[], of: string): Cooperative<void> {
  for (const name of members) {
    objectOf(model, name, of);
    yield;
  }
}

function interfaceOf(model: RemoteModel, name: string, type: RemoteObject | RemoteInterface): RemoteInterface {
  const found = model.types.get(name);
  if (found?.kind === 'interface') return found;
  throw refused(`Could not find interface '${name}' implemented by ${type.kind === 'object' ? 'Object type' : 'Interface'} '${type.name}'`);
}

function objectOf(model: RemoteModel, name: string, of: string): RemoteObject {
  const found = model.types.get(name);
  if (found?.kind === 'object') return found;
  throw refused(`Could not find Object type '${name}', which is a member of ${of}`);
}

function* checkFields(model: RemoteModel, type: RemoteObject | RemoteInterface): Cooperative<void> {
  for (const field of type.fields.values()) {
    const kind = kindOf(model, field.type);
    if (kind === null)
      throw refused(`Could not find type with name '${namedRemoteType(field.type)}' of field '${type.name}.${field.name}'`);
    if (kind === 'input-object') throw refused(`The type of field '${type.name}.${field.name}' is an input object`);
    yield* checkInputs(model, field.args, `field '${type.name}.${field.name}'`);
    yield;
  }
}

function* checkInputs(model: RemoteModel, inputs: ReadonlyMap<string, RemoteInputValue>, of: string): Cooperative<void> {
  for (const input of inputs.values()) {
    checkInput(model, input, of);
    yield;
  }
}

function checkInput(model: RemoteModel, value: RemoteInputValue, of: string): void {
  const kind = kindOf(model, value.type);
  if (kind === null) throw refused(`Could not find type with name '${namedRemoteType(value.type)}' of '${value.name}' in ${of}`);
  if (!INPUT_KINDS.has(kind)) throw refused(`The type of '${value.name}' in ${of} is not an input type`);
}

function kindOf(model: RemoteModel, type: RemoteTypeRef): RemoteType['kind'] | null {
  const name = namedRemoteType(type);
  return model.types.get(name)?.kind ?? (BUILT_IN_SCALARS.has(name) ? 'scalar' : null);
}

function* checkImplements(model: RemoteModel, type: RemoteObject | RemoteInterface, of: RemoteInterface): Cooperative<void> {
  for (const required of of.fields.values()) {
    const field = type.fields.get(required.name);
    if (field === undefined)
      throw refused(`Interface field '${of.name}'."${required.name}" expected, but '${type.name}' does not provide it`);
    yield* checkField(model, { type, of, required, field });
    yield;
  }
}

interface Pair {
  readonly type: RemoteObject | RemoteInterface;
  readonly of: RemoteInterface;
  readonly required: RemoteModelField;
  readonly field: RemoteModelField;
}

function* checkField(model: RemoteModel, { type, of, required, field }: Pair): Cooperative<void> {
  if (!isSubtype(model, field.type, required.type)) {
    throw refused(
      `Interface field '${of.name}'."${required.name}" expects type '${printRemoteType(required.type)}', but '${type.name}'."${field.name}" is of type '${printRemoteType(field.type)}'`,
    );
  }
  for (const argument of required.args.values()) {
    yield;
    const own = field.args.get(argument.name);
    if (own === undefined || printRemoteType(own.type) !== printRemoteType(argument.type)) {
      throw refused(
        `Interface field argument '${of.name}'."${required.name}"("${argument.name}":) of type '${printRemoteType(argument.type)}' expected, but '${type.name}'."${field.name}" does not provide it`,
      );
    }
  }
  for (const argument of field.args.values()) {
    yield;
    if (!required.args.has(argument.name) && argument.type.nonNull && argument.default === undefined) {
      throw refused(
        `'${type.name}'."${field.name}"("${argument.name}":) is required, but Interface field '${of.name}'."${required.name}" does not have it`,
      );
    }
  }
}

function isSubtype(model: RemoteModel, type: RemoteTypeRef, of: RemoteTypeRef): boolean {
  if (of.nonNull && !type.nonNull) return false;
  if (of.kind === 'list') return type.kind === 'list' && isSubtype(model, type.item, of.item);
  if (type.kind === 'list') return false;
  if (type.name === of.name) return true;
  const abstract = model.types.get(of.name);
  const own = model.types.get(type.name);
  if (abstract?.kind === 'union') return isAmong(type.name, abstract.members);
  return abstract?.kind === 'interface' && (own?.kind === 'object' || own?.kind === 'interface') && isAmong(of.name, own.interfaces);
}

const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Uses a cached set, since there may be as many types to look up as there are names. */
function isAmong(name: string, names: readonly string[]): boolean {
  let set = sets.get(names);
  if (set === undefined) {
    set = new Set(names);
    sets.set(names, set);
  }
  return set.has(name);
}
