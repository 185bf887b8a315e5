/** Arguments and input fields that a role may set, or that its permission presets. */
import { type ConstValueNode, type InputValueDefinitionNode, Kind, parseConstValue, print, type TypeDefinitionNode, visit } from 'graphql';
import { enumerateQuoted } from '../../util/enumerate.ts';
import { printRemoteType, type RemoteInputValue } from '../model.ts';
import { presetDirective } from './directives.ts';
import { readPreset } from './preset.ts';
import type { Reasons } from './reasons.ts';
import { typeRefOf } from './type-ref.ts';

export interface InputParent {
  /** Name of the field or input object. */
  readonly name: string;
  readonly kind: 'field' | 'input-object';
  readonly types: ReadonlyMap<string, TypeDefinitionNode>;
  readonly reasons: Reasons;
}

export function roleInputs(
  nodes: readonly InputValueDefinitionNode[],
  upstream: ReadonlyMap<string, RemoteInputValue>,
  parent: InputParent,
): ReadonlyMap<string, RemoteInputValue> {
  const { name: parentName, reasons } = parent;
  const inputs = new Map<string, RemoteInputValue>();
  const twice = new Set<string>();
  const names = new Set<string>();
  for (const node of nodes) {
    const name = node.name.value;
    if (names.has(name)) {
      twice.add(name);
      continue;
    }
    names.add(name);
    const of = upstream.get(name);
    if (of === undefined) reasons.add(`input argument "${name}" does not exist in the input object:"${parentName}"`);
    else inputs.set(name, roleInput(node, of, parent));
  }
  if (twice.size > 0) {
    reasons.add(
      parent.kind === 'field'
        ? `duplicate arguments: ${enumerateQuoted(twice)}found in the field: "${parentName}"`
        : `duplicate fields: ${enumerateQuoted(twice)}found in the "Input object" "${parentName}"`,
    );
  }
  const missing = [...upstream.values()].filter(({ name, type, default: text }) => type.nonNull && text === undefined && !names.has(name));
  if (missing.length > 0) {
    const listed = enumerateQuoted(missing.map(({ name }) => name));
    reasons.add(`field: "${parentName}" expects the following non nullable arguments to be present: ${listed}`);
  }
  return inputs;
}

function roleInput(node: InputValueDefinitionNode, upstream: RemoteInputValue, { name: parentName, kind, types, reasons }: InputParent) {
  const { name, deprecation } = upstream;
  const label = kind === 'field' ? 'Argument' : 'Input object argument';
  const type = typeRefOf(node.type);
  const [expected, found] = [printRemoteType(upstream.type), printRemoteType(type)];
  if (expected !== found) reasons.add(`expected type of "${name}"("${label}") to be ${expected} but received ${found}`);
  if (!isSameDefault(node.defaultValue, upstream.default)) {
    const received = node.defaultValue === undefined ? 'none' : print(node.defaultValue);
    reasons.add(
      `expected default value of input value: "${name}"of input object "${parentName}" to be ${upstream.default ?? 'none'} but received ${received}`,
    );
  }
  const directive = presetDirective(node, { label, name, deprecation }, reasons);
  const preset = directive === null ? undefined : readPreset(directive, name, type, types, reasons);
  return { ...upstream, description: node.description?.value ?? null, ...(preset === undefined ? {} : { preset }) };
}

function isSameDefault(own: ConstValueNode | undefined, upstream: string | undefined): boolean {
  if (own === undefined || upstream === undefined) return own === upstream;
  // Texts are usually equal; the other comparison costs ten times as much.
  return print(own) === upstream || canonicalText(own) === canonicalText(parseConstValue(upstream, { noLocation: true }));
}

/** Returns equal texts for equivalent constants. */
function canonicalText(value: ConstValueNode): string {
  return print(
    visit(value, {
      [Kind.STRING]: (node) => ({ ...node, block: false }),
      [Kind.OBJECT]: { leave: (node) => ({ ...node, fields: node.fields.toSorted((a, b) => (a.name.value < b.name.value ? -1 : 1)) }) },
    }),
  );
}
