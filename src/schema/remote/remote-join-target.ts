/** The field of a remote schema at the end of a relationship: its remaining arguments for the client, and its request. */
import type { RemoteArgument, RemoteField, RemoteSelection, RemoteValue } from '../../ir/remote.ts';
import type { RemoteJoin } from '../../ir/remote-join.ts';
import { namedRemoteType, type RemoteInputValue, type RemoteModelField, type RemoteTypeRef } from '../../remote-schema/model.ts';
import type { RemoteArgumentTree, RemotePathField, RemoteSchemaTarget } from '../../schema-cache/schema-cache.ts';
import { at } from '../../util/path.ts';
import type { CollectedField, InputField, InputObjectType, InputTypeRef, OutputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { scalarOfKey } from './remote-scalar.ts';
import type { RemoteTypes } from './remote-types.ts';

/** Implements `JoinTarget` of the builders of tables. */
export interface RemoteJoinTarget {
  readonly name: string;
  readonly description: string | null;
  readonly type: OutputTypeRef;
  readonly args: ReadonlyMap<string, InputField>;
  translate(field: CollectedField): RemoteJoin;
}

interface Segment {
  readonly call: RemotePathField;
  readonly field: RemoteModelField;
}

/**
 * Returns null if the role does not see the field or its parents, or may not set the arguments of the definition.
 * @param suffix of generated types: the type and the name of the relationship
 */
export function remoteJoinTarget(types: RemoteTypes, target: RemoteSchemaTarget, name: string, suffix: string): RemoteJoinTarget | null {
  const segments = segmentsOf(types, target.path);
  if (segments === null) return null;
  const { call, field } = segments[segments.length - 1] as Segment;
  const narrowed = new NarrowedInputs(types, `_remote_rel_${suffix}`);
  const isBatch = target.batch !== undefined;
  const type = target.batch?.many === false && field.type.kind === 'list' ? field.type.item : field.type;
  return {
    name,
    description: field.description,
    // A row whose key is null has no related row.
    type: types.reference({ ...type, nonNull: false }),
    args: narrowed.exposed(field.args, call.arguments),
    translate: (collected) => ({
      kind: 'remote',
      remote: types.name,
      field: nested(types, segments, collected, isBatch, target.batch?.matchField),
      answer: segments.slice(1).map((segment) => segment.field.name),
      withoutKey: 'null',
      ...(target.batch === undefined
        ? {}
        : { batch: { matchBy: target.batch.matchField, rows: target.batch.many ? ('all' as const) : ('first' as const) } }),
    }),
  };
}

function segmentsOf(types: RemoteTypes, path: readonly RemotePathField[]): readonly Segment[] | null {
  const { model } = types;
  const segments: Segment[] = [];
  let parent = model.query;
  for (const [index, call] of path.entries()) {
    const type = model.types.get(parent);
    const field = type?.kind === 'object' || type?.kind === 'interface' ? type.fields.get(call.name) : undefined;
    if (field === undefined || [...call.arguments.keys()].some((argument) => !field.args.has(argument))) return null;
    const isLast = index === path.length - 1;
    // Before the last field only the definition can set arguments.
    const missing = [...field.args.values()].some((argument) => isRequired(types, argument) && !call.arguments.has(argument.name));
    if (missing && !isLast) return null;
    segments.push({ call, field });
    parent = namedRemoteType(field.type);
  }
  return segments.length === 0 ? null : segments;
}

function isRequired(types: RemoteTypes, argument: RemoteInputValue): boolean {
  return argument.type.nonNull && argument.default === undefined && !types.inputs.isSentWithoutInput(argument);
}

function nested(
  types: RemoteTypes,
  segments: readonly Segment[],
  collected: CollectedField,
  isBatch: boolean,
  matchField: string | undefined,
): RemoteField {
  const last = segments.length - 1;
  return segments.reduceRight<RemoteField | null>((inner, { call, field }, index) => {
    const baseName = index === last ? types.selection(field.type, collected) : null;
    const selection: RemoteSelection | null = inner === null ? baseName : { kind: 'object', fields: [inner] };
    const hidden = inner === null && matchField !== undefined && selection?.kind === 'object';
    const rows = namedRemoteType(field.type);
    return {
      kind: 'field',
      responseKey: field.name,
      name: field.name,
      args: argumentsOf(types, { call, field }, index === last ? collected : null, isBatch, collected),
      shape: types.shape(field.type),
      selection: hidden
        ? { kind: 'object', fields: [...selection.fields, { kind: 'hidden', key: types.key(rows, matchField) }] }
        : selection,
    };
  }, null) as RemoteField;
}

/** @param clientField provides the client's arguments; null for fields before the last one */
function argumentsOf(
  types: RemoteTypes,
  { call, field }: Segment,
  clientField: CollectedField | null,
  isBatch: boolean,
  { path }: CollectedField,
): readonly RemoteArgument[] {
  return [...field.args.values()].flatMap((argument): readonly RemoteArgument[] => {
    const input = clientField?.args.get(argument.name);
    const tree = call.arguments.get(argument.name);
    if (input === undefined && tree === undefined && !types.inputs.isSentWithoutInput(argument)) return [];
    const place = at(at(path, 'args'), argument.name);
    const written = input?.checkedAsWritten();
    if (written !== undefined && tree === undefined) return [{ name: argument.name, value: types.inputs.part(argument, written, place) }];
    const parts: RemoteValue[] = written === undefined ? [] : [{ kind: 'written', written }];
    if (tree !== undefined) parts.push(treeValue(types, tree, argument.type, isBatch));
    const value: RemoteValue | null = parts.length === 0 ? null : { kind: 'merged', parts };
    return [{ name: argument.name, value: types.inputs.variable(argument, value, place) }];
  });
}

function treeValue(types: RemoteTypes, tree: RemoteArgumentTree, type: RemoteTypeRef, isBatch: boolean): RemoteValue {
  switch (tree.kind) {
    case 'literal':
      return { kind: 'literal', json: tree.json };
    case 'key': {
      const scalar = namedRemoteType(type);
      const read = (text: string) => scalarOfKey(scalar, text);
      return { kind: isBatch && type.kind === 'list' ? 'key-list' : 'key', index: tree.index, read };
    }
    case 'list':
      return { kind: 'list', items: tree.items.map((item) => treeValue(types, item, type.kind === 'list' ? type.item : type, isBatch)) };
    case 'object': {
      const object = types.model.types.get(namedRemoteType(type));
      const fields = object?.kind === 'input-object' ? object.fields : new Map<string, RemoteInputValue>();
      const entries = [...tree.entries].map(([key, item]) => {
        const field = fields.get(key);
        return [key, treeValue(types, item, field?.type ?? type, isBatch)] as const;
      });
      return { kind: 'object', entries };
    }
  }
}

/** Inputs without the parts that a definition fixes. */
class NarrowedInputs {
  readonly #types: RemoteTypes;
  readonly #suffix: string;
  readonly #made = new Map<string, InputObjectType>();

  constructor(types: RemoteTypes, suffix: string) {
    this.#types = types;
    this.#suffix = suffix;
  }

  /** Returns the remaining inputs, without those that are fixed as a whole or in every part. */
  exposed(values: ReadonlyMap<string, RemoteInputValue>, fixed: ReadonlyMap<string, RemoteArgumentTree>): ReadonlyMap<string, InputField> {
    const fields = new Map<string, InputField>();
    for (const value of values.values()) {
      if (this.#types.inputs.isPreset(value)) continue;
      const tree = fixed.get(value.name);
      const field = tree === undefined ? this.#types.inputs.field(value) : this.#narrowed(value, tree);
      if (field !== null) fields.set(value.name, field);
    }
    return fields;
  }

  #narrowed(value: RemoteInputValue, tree: RemoteArgumentTree): InputField | null {
    const { name, description } = value;
    // The client's items come before those of the definition.
    if (tree.kind === 'list') return { ...this.#types.inputs.field(value), type: nullable(this.#types.inputs.reference(value.type)) };
    if (tree.kind !== 'object') return null;
    const type = this.#types.model.types.get(namedRemoteType(value.type));
    if (type?.kind !== 'input-object') return null;
    const fields = this.exposed(type.fields, tree.entries);
    if (fields.size === 0) return null;
    return { name, description, type: this.#wrapped(value.type, this.#object(type.name, type.description, fields)) };
  }

  #object(name: string, description: string | null, fields: ReadonlyMap<string, InputField>): InputObjectType {
    const baseName = `${this.#types.names.type(name)}${this.#suffix}`;
    // Several places may narrow the same type in different ways.
    let uniqueName = baseName;
    for (let count = 2; this.#made.has(uniqueName); count++) uniqueName = `${baseName}_${count}`;
    const type: InputObjectType = { kind: 'input-object', name: uniqueName, description, fields: lazy(() => fields) };
    this.#made.set(uniqueName, type);
    return type;
  }

  #wrapped(type: RemoteTypeRef, object: InputObjectType): InputTypeRef {
    return type.kind === 'list' ? listTypeRef(this.#wrapped(type.item, object)) : typeRef(object.name, () => object);
  }
}

function nullable(type: InputTypeRef): InputTypeRef {
  return { ...type, nonNull: false };
}
