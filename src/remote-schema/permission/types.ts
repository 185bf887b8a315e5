/** Builds the types of a role and compares each with the server's type of the same name. */
import {
  type EnumTypeDefinitionNode,
  type FieldDefinitionNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type NamedTypeNode,
  type ObjectTypeDefinitionNode,
  type TypeDefinitionNode,
  type UnionTypeDefinitionNode,
} from 'graphql';
import { enumerateQuoted } from '../../util/enumerate.ts';
import {
  BUILT_IN_SCALARS,
  printRemoteType,
  type RemoteEnum,
  type RemoteInterface,
  type RemoteModel,
  type RemoteModelField,
  type RemoteObject,
  type RemoteType,
  type RemoteUnion,
} from '../model.ts';
import { refuseDirectives } from './directives.ts';
import { roleInputs } from './inputs.ts';
import type { Reasons } from './reasons.ts';
import { typeRefOf } from './type-ref.ts';

const KINDS: Readonly<Record<TypeDefinitionNode['kind'], { readonly label: string; readonly kind: RemoteType['kind'] }>> = {
  [Kind.SCALAR_TYPE_DEFINITION]: { label: 'Scalar', kind: 'scalar' },
  [Kind.OBJECT_TYPE_DEFINITION]: { label: 'Object', kind: 'object' },
  [Kind.INTERFACE_TYPE_DEFINITION]: { label: 'Interface', kind: 'interface' },
  [Kind.UNION_TYPE_DEFINITION]: { label: 'Union', kind: 'union' },
  [Kind.ENUM_TYPE_DEFINITION]: { label: 'Enum', kind: 'enum' },
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: { label: 'Input object', kind: 'input-object' },
};

interface Narrowing {
  readonly model: RemoteModel;
  readonly types: ReadonlyMap<string, TypeDefinitionNode>;
  readonly reasons: Reasons;
}

/** Adds a reason for each mismatch. */
export function roleTypes(narrowing: Narrowing): ReadonlyMap<string, RemoteType> {
  const byName = new Map<string, RemoteType>();
  for (const node of narrowing.types.values()) {
    const type = roleType(node, narrowing);
    if (type !== null) byName.set(type.name, type);
  }
  for (const type of byName.values()) {
    if (type.kind === 'interface') byName.set(type.name, { ...type, members: membersOf(type.name, byName) });
  }
  return byName;
}

function membersOf(name: string, types: ReadonlyMap<string, RemoteType>): readonly string[] {
  return [...types.values()].flatMap((type) => (type.kind === 'object' && type.interfaces.includes(name) ? [type.name] : []));
}

function roleType(node: TypeDefinitionNode, narrowing: Narrowing): RemoteType | null {
  const { model, types, reasons } = narrowing;
  const name = node.name.value;
  const { label, kind } = KINDS[node.kind];
  const upstream = model.types.get(name);
  if (upstream?.kind !== kind) {
    if (kind === 'scalar' && upstream === undefined && BUILT_IN_SCALARS.has(name)) return null;
    reasons.add(`"${label}": "${name}" does not exist in the upstream remote schema`);
    return null;
  }
  refuseDirectives(node, { label, name, specifiedByUrl: upstream.kind === 'scalar' ? upstream.specifiedByUrl : null }, reasons);
  const described = { name, description: node.description?.value ?? null };
  switch (node.kind) {
    case Kind.SCALAR_TYPE_DEFINITION:
      return { ...upstream, ...described };
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const of = upstream as RemoteObject | RemoteInterface;
      return { ...of, ...described, interfaces: interfacesOf(node, of, narrowing), fields: fieldsOf(node, of, narrowing) };
    }
    case Kind.UNION_TYPE_DEFINITION:
      return { ...(upstream as RemoteUnion), ...described, members: unionMembers(node, upstream as RemoteUnion, reasons) };
    case Kind.ENUM_TYPE_DEFINITION:
      return { ...(upstream as RemoteEnum), ...described, values: enumValues(node, upstream as RemoteEnum, reasons) };
    case Kind.INPUT_OBJECT_TYPE_DEFINITION: {
      const parent = { name, kind: 'input-object', types, reasons } as const;
      return { ...described, kind: 'input-object', fields: roleInputs(node.fields ?? [], inputFields(upstream), parent) };
    }
  }
}

function inputFields(type: RemoteType) {
  return type.kind === 'input-object' ? type.fields : new Map();
}

function namesOf(nodes: readonly NamedTypeNode[] | undefined): ReadonlySet<string> {
  return new Set((nodes ?? []).map(({ name }) => name.value));
}

type Composite = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;

function interfacesOf(node: Composite, upstream: RemoteObject | RemoteInterface, { model, types, reasons }: Narrowing): readonly string[] {
  const names = namesOf(node.interfaces);
  const extra = [...names].filter((name) => !upstream.interfaces.includes(name));
  const isCustom = (name: string): boolean =>
    types.get(name)?.kind === Kind.INTERFACE_TYPE_DEFINITION && model.types.get(name)?.kind !== 'interface';
  const custom = extra.filter(isCustom);
  const absent = extra.filter((name) => !isCustom(name));
  const label = KINDS[node.kind].label;
  if (custom.length > 0) {
    reasons.add(
      `custom interfaces are not supported. ${label}"${upstream.name}" implements the following custom interfaces: ${enumerateQuoted(custom)}`,
    );
  }
  if (absent.length > 0) {
    const kind = label.toLowerCase();
    reasons.add(
      `${kind} "${upstream.name}" is trying to implement the following interfaces that do not exist in the corresponding upstream remote ${kind}: ${enumerateQuoted(absent)}`,
    );
  }
  return [...names].filter((name) => upstream.interfaces.includes(name));
}

function fieldsOf(node: Composite, upstream: RemoteObject | RemoteInterface, narrowing: Narrowing): ReadonlyMap<string, RemoteModelField> {
  const { reasons } = narrowing;
  const label = KINDS[node.kind].label;
  const fields = new Map<string, RemoteModelField>();
  const twice = new Set<string>();
  const seen = new Set<string>();
  for (const field of node.fields ?? []) {
    const name = field.name.value;
    if (seen.has(name)) {
      twice.add(name);
      continue;
    }
    seen.add(name);
    const of = upstream.fields.get(name);
    if (of === undefined) reasons.add(`field "${name}" does not exist in the "${label}": "${upstream.name}"`);
    else fields.set(name, fieldOf(field, of, `${label} field`, narrowing));
  }
  if (twice.size > 0) reasons.add(`duplicate fields: ${enumerateQuoted(twice)}found in the "${label}" "${upstream.name}"`);
  return fields;
}

function fieldOf(node: FieldDefinitionNode, upstream: RemoteModelField, label: string, { types, reasons }: Narrowing): RemoteModelField {
  const { name, deprecation } = upstream;
  refuseDirectives(node, { label, name, deprecation }, reasons);
  const [expected, found] = [printRemoteType(upstream.type), printRemoteType(typeRefOf(node.type))];
  if (expected !== found) reasons.add(`expected type of "${name}"("${label}") to be ${expected} but received ${found}`);
  const args = roleInputs(node.arguments ?? [], upstream.args, { name, kind: 'field', types, reasons });
  return { ...upstream, description: node.description?.value ?? null, args };
}

function unionMembers(node: UnionTypeDefinitionNode, upstream: RemoteUnion, reasons: Reasons): readonly string[] {
  const members = [...namesOf(node.types)];
  const extra = members.filter((member) => !upstream.members.includes(member));
  if (extra.length > 0) {
    const listed = enumerateQuoted(extra);
    reasons.add(`union "${upstream.name}" contains members which do not exist in the members of the remote schema union :${listed}`);
  }
  return members;
}

function enumValues(node: EnumTypeDefinitionNode, upstream: RemoteEnum, reasons: Reasons): RemoteEnum['values'] {
  const values = new Map<string, RemoteEnum['values'] extends ReadonlyMap<string, infer V> ? V : never>();
  const twice = new Set<string>();
  const unknown = new Set<string>();
  for (const value of node.values ?? []) {
    const name = value.name.value;
    const of = upstream.values.get(name);
    if (values.has(name)) twice.add(name);
    if (of === undefined) unknown.add(name);
    else values.set(name, { ...of, description: value.description?.value ?? null });
    refuseDirectives(value, { label: 'Enum value', name, deprecation: of?.deprecation ?? null }, reasons);
  }
  if (twice.size > 0) reasons.add(`duplicate enum values: ${enumerateQuoted(twice)} found in the "${upstream.name}" enum`);
  if (unknown.size > 0) {
    const listed = enumerateQuoted(unknown);
    reasons.add(
      `enum "${upstream.name}" contains the following enum values that do not exist in the corresponding upstream remote enum: ${listed}`,
    );
  }
  return values;
}
