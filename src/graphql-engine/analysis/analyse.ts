/**
 * Selections and variables of a stored operation, independent of the values of its variables, with all of its problems at once. Requests
 * are not checked here but during translation.
 */
import { type FieldNode, type FragmentDefinitionNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import { at, type Path, printPath, ROOT } from '../../util/path.ts';
import { abstractTypeHas, abstractTypeNamed } from '../abstract-type.ts';
import type { Definitions } from '../document.ts';
import { checkDocument, type DocumentLimits } from '../document/check.ts';
import { STRING_SCALAR } from '../input/built-in-scalars.ts';
import { canonicalArguments } from '../input/literal-json.ts';
import { type IntrospectionOptions, introspectionFields } from '../introspection.ts';
import { createAnswerCache } from '../introspection/cache.ts';
import {
  typeRef,
  namedTypeOf,
  type ObjectType,
  type OutputField,
  outputField,
  type OutputTypeRef,
  type RootTypes,
  type AbstractType,
} from '../types.ts';
import { declareVariables, type VariableDeclaration } from '../variables.ts';
import { checkArguments, type InputNamedType } from './arguments.ts';

export interface OperationAnalysis {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | null;
  readonly variables: readonly AnalysedVariable[];
  /** Fields by response key, in the order of the document, without invalid ones. */
  readonly fields: ReadonlyMap<string, SelectedField>;
  /** For example `$.author.name: field 'name' not found in object 'author'`. */
  readonly problems: readonly string[];
}

export interface AnalysedVariable {
  readonly declaration: VariableDeclaration;
  /** The type inside the lists of the declaration; null if the variable is not used at a position with a known type. */
  readonly type: InputNamedType | null;
}

export interface SelectedField {
  readonly type: OutputTypeRef;
  /** Fields of objects and unions; all fields of all members. */
  readonly fields: ReadonlyMap<string, SelectedField>;
}

const NO_PARENT = { query: 'no queries exist', mutation: 'no mutations exist', subscription: 'no subscriptions exist' } as const;

/** @param limits as for requests */
export function analyseOperation(
  roots: RootTypes,
  operation: OperationDefinitionNode,
  fragments: Definitions['fragments'],
  limits: DocumentLimits,
): OperationAnalysis {
  const problems: string[] = [];
  const report = (path: Path, message: string): void => void problems.push(`${printPath(path)}: ${message}`);
  const fields = new Map<string, FieldDraft>();
  const types = new Map<string, InputNamedType>();
  let declared: ReadonlyMap<string, VariableDeclaration> = new Map();
  const kind = operation.operation;
  try {
    declared = declareVariables(operation);
    // Limits the walk below as well, which expands fragments.
    checkDocument({ operation, fragments }, declared, limits);
    const root = roots[kind];
    if (root === null) throw new SvcError('validation-failed', NO_PARENT[kind]);
    const parent = { type: root, abstract: null, meta: kind === 'mutation' ? null : introspectionFields(roots, withoutAnswers()) };
    new Walk(fragments, declared, types, report).collect(operation.selectionSet, parent, ROOT, fields);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    report(error.path, error.message);
  }
  return {
    kind,
    name: operation.name?.value ?? null,
    variables: [...declared.values()].map((declaration) => ({ declaration, type: types.get(declaration.name) ?? null })),
    fields,
    problems: [...new Set(problems)],
  };
}

/** Options for fields of introspection that are only checked. */
function withoutAnswers(): IntrospectionOptions {
  return { maxCharacters: 0, answers: createAnswerCache(0) };
}

const TYPENAME: OutputTypeRef = typeRef('String', () => STRING_SCALAR, true);

interface Parent {
  readonly type: ObjectType;
  readonly abstract: AbstractType | null;
  readonly meta: ReadonlyMap<string, OutputField> | null;
}

interface FieldDraft extends SelectedField {
  readonly node: FieldNode;
  readonly fields: Map<string, FieldDraft>;
}

class Walk {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #declared: ReadonlyMap<string, VariableDeclaration>;
  readonly #types: Map<string, InputNamedType>;
  readonly #report: (path: Path, message: string) => void;

  constructor(
    fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    declared: ReadonlyMap<string, VariableDeclaration>,
    types: Map<string, InputNamedType>,
    report: (path: Path, message: string) => void,
  ) {
    this.#fragments = fragments;
    this.#declared = declared;
    this.#types = types;
    this.#report = report;
  }

  collect(set: SelectionSetNode, parent: Parent, path: Path, into: Map<string, FieldDraft>, within = parent.abstract): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        this.#field(selection, parent, path, into, within);
        continue;
      }
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value);
      if (fragment === undefined) continue;
      const condition = fragment.typeCondition?.name.value;
      if (condition === undefined) this.collect(fragment.selectionSet, parent, path, into, within);
      else if (condition === parent.type.name) this.collect(fragment.selectionSet, parent, path, into, null);
      else {
        const abstract = abstractTypeNamed(parent.type, parent.abstract, condition);
        if (abstract !== undefined) this.collect(fragment.selectionSet, parent, path, into, abstract);
      }
    }
  }

  #field(node: FieldNode, parent: Parent, path: Path, into: Map<string, FieldDraft>, within: AbstractType | null): void {
    const name = node.name.value;
    const key = node.alias?.value ?? name;
    const place = at(path, name);
    const isHidden = name === '__typename' || (within !== null && !abstractTypeHas(within, name));
    const definition = isHidden ? undefined : (outputField(parent.type, name) ?? parent.meta?.get(name));
    if (definition === undefined && name !== '__typename') {
      const owner = (within ?? parent.type).name;
      this.#report(place, `field '${name}' not found in object '${owner}'`);
      return;
    }
    const type = definition?.type ?? TYPENAME;
    const known = into.get(key);
    if (known !== undefined && known.node.name.value !== name) {
      this.#report(path, `selection of both '${known.node.name.value}' and '${name}' specify the same response name, '${key}'`);
      return;
    }
    if (known !== undefined && canonicalArguments(known.node) !== canonicalArguments(node)) {
      this.#report(path, `inconsistent arguments between multiple selections of field '${name}'`);
    }
    checkArguments(node, definition?.args ?? new Map(), place, { declared: this.#declared, types: this.#types, report: this.#report });
    const draft = known ?? { node, type, fields: new Map<string, FieldDraft>() };
    into.set(key, draft);
    this.#below(node, type, place, draft.fields);
  }

  #below(node: FieldNode, type: OutputTypeRef, place: Path, into: Map<string, FieldDraft>): void {
    const inner = namedTypeOf(type);
    if (inner.kind === 'scalar' || inner.kind === 'enum') {
      if (node.selectionSet !== undefined) this.#report(place, 'unexpected subselection set for non-object field');
    } else if (node.selectionSet === undefined) this.#report(place, `missing selection set for '${inner.name}'`);
    else if (inner.kind === 'object') this.collect(node.selectionSet, { type: inner, abstract: null, meta: null }, place, into);
    else for (const member of inner.members()) this.collect(node.selectionSet, { type: member, abstract: inner, meta: null }, place, into);
  }
}
