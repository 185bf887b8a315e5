/**
 * Collects the fields of a selection set for one object type: expands fragments, evaluates directives, merges equal response keys and
 * checks arguments. The only code that validates selections against types.
 */
import { type ArgumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type NamedTypeNode, type SelectionSetNode } from 'graphql';
import { SvcError } from '../errors/svc-error.ts';
import { at, type Path } from '../util/path.ts';
import { abstractTypeHas, abstractTypeNamed } from './abstract-type.ts';
import { isExcluded } from './directives.ts';
import type { InputContext } from './input/context.ts';
import { fieldNotFound, missingRequired } from './input/input-object.ts';
import { canonicalArguments } from './input/literal-json.ts';
import { inputAt } from './input.ts';
import type { JoinList } from './join-list.ts';
import { suggest, suggestFields } from './suggestions.ts';
import {
  type AbstractType,
  type CollectedField,
  type InputValue,
  type InputField,
  namedTypeOf,
  type ObjectType,
  type OutputField,
  outputField,
} from './types.ts';

export interface SelectionContext extends InputContext {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly joins: JoinList;
  /** Number of fields that may still be collected: the selection of an interface or a union is collected for each of its types. */
  readonly expansion: { left: number };
  /** Canonical arguments, computed when response keys collide; stored with the document. */
  readonly argumentTexts: Map<FieldNode, string>;
  /** Types that fragments name: the path of the first fragment that selected nothing, or `null` if a fragment on the type applied. */
  readonly fragmentTypes: Map<string, Path | null>;
}

/** Parent of a selection. */
export interface SelectionParent {
  readonly type: ObjectType;
  /** The declared type of the position, if it is a union or an interface. */
  readonly abstract: AbstractType | null;
  /** Fields in addition to those of the type: `__schema` and `__type` of the query root. */
  readonly metaFields?: ReadonlyMap<string, OutputField>;
  /** Returns the error for a missing field that exists for the role; null if it does not exist. */
  readonly explainMissing?: (field: string, path: Path) => SvcError | null;
}

interface FieldGroup {
  readonly field: OutputField | null;
  readonly path: Path;
  readonly nodes: FieldNode[];
}

const NO_ARGUMENTS: ReadonlyMap<string, InputField> = new Map();
const NO_INPUTS: ReadonlyMap<string, InputValue> = new Map();

/**
 * @param path path of the selection set, such as `$.selectionSet.author.selectionSet`
 * @throws SvcError validation-failed
 */
export function collectFields(
  context: SelectionContext,
  sets: readonly SelectionSetNode[],
  parent: SelectionParent,
  path: Path,
): readonly CollectedField[] {
  const groups = new Map<string, FieldGroup>();
  const spread = new Set<string>();

  /** @param within abstract type whose fields alone may be selected here; `null` for no such limit */
  const visit = (set: SelectionSetNode, within: AbstractType | null): void => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) visitField(selection, within);
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (!isExcluded(context, selection.directives, path)) visitFragment(selection.typeCondition, selection.selectionSet, within);
      } else {
        const name = selection.name.value;
        if (spread.has(name) || isExcluded(context, selection.directives, path)) continue;
        spread.add(name);
        const fragment = context.fragments.get(name);
        if (fragment !== undefined) visitFragment(fragment.typeCondition, fragment.selectionSet, within);
      }
    }
  };

  const visitFragment = (condition: NamedTypeNode | undefined, set: SelectionSetNode, within: AbstractType | null): void => {
    const name = condition?.name.value;
    if (name === undefined) {
      visit(set, within);
      return;
    }
    const abstract = name === parent.type.name ? null : abstractTypeNamed(parent.type, parent.abstract, name);
    if (abstract !== undefined) {
      context.fragmentTypes.set(name, null);
      visit(set, abstract);
    } else if (!context.fragmentTypes.has(name)) {
      // It selects nothing here. Whether its type exists is checked with the plan: that may build the whole schema.
      context.fragmentTypes.set(name, path);
    }
  };

  const visitField = (node: FieldNode, within: AbstractType | null): void => {
    const name = node.name.value;
    const fieldPath = at(path, name);
    if (isExcluded(context, node.directives, fieldPath)) return;
    const key = node.alias === undefined ? name : node.alias.value;
    const group = groups.get(key);
    if (group === undefined) {
      const field = definitionOf(parent, within, name, fieldPath);
      checkLeaf(node, field, fieldPath);
      groups.set(key, { field, path: fieldPath, nodes: [node] });
      return;
    }
    checkSameField(context, group.nodes[0] as FieldNode, node, path);
    checkLeaf(node, group.field, fieldPath);
    group.nodes.push(node);
  };

  for (const set of sets) visit(set, parent.abstract);
  chargeExpansion(context, groups.size + 1, path);
  return [...groups].map(([key, group]) => collected(context, parent, key, group));
}

/** Two fields of one response key must be one field. @throws SvcError validation-failed */
function checkSameField(context: SelectionContext, first: FieldNode, node: FieldNode, path: Path): void {
  const name = node.name.value;
  if (first.name.value !== name) {
    const key = node.alias === undefined ? name : node.alias.value;
    throw new SvcError(
      'validation-failed',
      `selection of both '${first.name.value}' and '${name}' specify the same response name, '${key}'`,
      { path },
    );
  }
  if (argumentText(context, first) !== argumentText(context, node)) {
    throw new SvcError('validation-failed', `inconsistent arguments between multiple selections of field '${name}'`, { path });
  }
}

/** @throws SvcError validation-failed if the operation has collected too many fields */
function chargeExpansion({ expansion }: SelectionContext, fields: number, path: Path): void {
  expansion.left -= fields;
  if (expansion.left < 0) {
    throw new SvcError(
      'validation-failed',
      'the operation selects too many fields, counted for each type that an interface or union may be',
      { path },
    );
  }
}

/** @param within abstract type that must have the field too; `null` for no such limit */
function definitionOf(parent: SelectionParent, within: AbstractType | null, name: string, path: Path): OutputField | null {
  if (name === '__typename') return null;
  if (within !== null && !abstractTypeHas(within, name)) throw fieldNotFound(name, within.name, path, suggestFields(name, within));
  const field = outputField(parent.type, name) ?? parent.metaFields?.get(name);
  if (field === undefined)
    throw parent.explainMissing?.(name, path) ?? fieldNotFound(name, parent.type.name, path, suggestFields(name, parent.type));
  return field;
}

function checkLeaf(node: FieldNode, field: OutputField | null, path: Path): void {
  const type = field === null ? null : namedTypeOf(field.type);
  if (type === null || type.kind === 'scalar' || type.kind === 'enum') {
    if (node.selectionSet !== undefined)
      throw new SvcError('validation-failed', 'unexpected subselection set for non-object field', { path });
  } else if (node.selectionSet === undefined) {
    throw new SvcError('validation-failed', `missing selection set for '${type.name}'`, { path });
  }
}

function collected(context: SelectionContext, parent: SelectionParent, responseKey: string, group: FieldGroup): CollectedField {
  const { field, path, nodes } = group;
  const first = nodes[0] as FieldNode;
  const args = argumentsOf(context, first, field?.args ?? NO_ARGUMENTS, path);
  let last: { readonly type: ObjectType; readonly fields: readonly CollectedField[] } | undefined;
  return {
    responseKey,
    name: first.name.value,
    field,
    typeName: parent.type.name,
    args,
    path,
    select(type) {
      if (last?.type !== type) {
        const sets = nodes.flatMap((node) => (node.selectionSet === undefined ? [] : [node.selectionSet]));
        const declared = field === null ? null : namedTypeOf(field.type);
        const abstract = declared?.kind === 'union' || declared?.kind === 'interface' ? declared : null;
        last = { type, fields: collectFields(context, sets, { type, abstract }, at(path, 'selectionSet')) };
      }
      return last.fields;
    },
    join: (make) => context.joins.add(path, make),
  };
}

function argumentsOf(
  context: SelectionContext,
  node: FieldNode,
  definitions: ReadonlyMap<string, InputField>,
  path: Path,
): ReadonlyMap<string, InputValue> {
  const nodes: readonly ArgumentNode[] = node.arguments ?? [];
  if (nodes.length === 0 && definitions.size === 0) return NO_INPUTS;
  const argsPath = at(path, 'args');
  const inputs = new Map<string, InputValue>();
  for (const { name, value } of nodes) {
    const definition = definitions.get(name.value);
    if (definition === undefined)
      throw new SvcError('validation-failed', `'${node.name.value}' has no argument named '${name.value}'`, {
        path,
        ...suggest(name.value, () => definitions.keys()),
      });
    const input = inputAt(context, value, definition, at(argsPath, name.value));
    if (input !== undefined) inputs.set(name.value, input);
  }
  for (const definition of definitions.values()) {
    if (definition.type.nonNull && definition.default === undefined && !inputs.has(definition.name))
      throw missingRequired(definition.name, argsPath);
  }
  return inputs;
}

function argumentText(context: SelectionContext, node: FieldNode): string {
  if (node.arguments === undefined || node.arguments.length === 0) return '';
  let text = context.argumentTexts.get(node);
  if (text === undefined) {
    text = canonicalArguments(node);
    context.argumentTexts.set(node, text);
  }
  return text;
}
