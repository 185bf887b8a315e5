/** Checks a document against the schema of a persona while it is written. Types are read one by one, as for completions. */
import { type FieldType, readRootType, readType, rootTypes, type SchemaPersona } from '../../api/types.ts';
import { similarTo } from '../../model/similar.ts';
import type { Span } from '../../model/document-place.ts';
import {
  type ArgumentNode,
  DocumentFault,
  type DocumentNode,
  type FieldNode,
  type OperationNode,
  parseDocument,
  type SelectionNode,
  type VariableNode,
} from '../../model/graphql-ast.ts';
import { cyclicSpreads } from '../../model/fragments.ts';
import { coreType } from '../../model/graphql-type-text.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';
import { checkValue, type ValueScope } from './check-value.ts';

/** Number of problems at which the check stops. */
const MAX_PROBLEMS = 50;
const LEAVES: readonly string[] = ['SCALAR', 'ENUM'];

/** Returns the problems of a document. Without access to the schema, only those of its syntax. */
export async function checkDocument(as: SchemaPersona, text: string): Promise<readonly CodeMark[]> {
  let document: DocumentNode;
  try {
    document = parseDocument(text);
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error;
    return [{ ...error.span, message: error.message }];
  }
  const check = new DocumentCheck(as, document);
  try {
    for (const operation of document.operations) await check.operation(operation);
  } catch {
    // The role may not introspect the schema: the service reports problems when the document is run.
  }
  return check.problems.toSorted((a, b) => a.from - b.from);
}

/** Fields that are selected from a type. */
interface Parent {
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly hasArguments: boolean;
  readonly isQuery?: boolean;
}

/** Fragments of an operation. */
interface FragmentState {
  /** Spreads at which fragments begin to contain themselves. */
  readonly cyclic: ReadonlySet<SelectionNode>;
  /** Names of those whose check has begun. */
  readonly checked: Set<string>;
}

class DocumentCheck {
  readonly #problems = new Map<string, CodeMark>();
  readonly #as: SchemaPersona;
  readonly #document: DocumentNode;

  constructor(as: SchemaPersona, document: DocumentNode) {
    this.#as = as;
    this.#document = document;
  }

  get problems(): readonly CodeMark[] {
    return [...this.#problems.values()];
  }

  get #isFull(): boolean {
    return this.#problems.size >= MAX_PROBLEMS;
  }

  async operation(operation: OperationNode): Promise<void> {
    if (this.#isFull) return;
    const { kind, variables, selections, from } = operation;
    const scope: ValueScope = {
      as: this.#as,
      variables: new Map(variables.map((each) => [each.name, each])),
      report: (span, message) => this.#report(span, message),
    };
    const fragments = { cyclic: cyclicSpreads(this.#document, operation), checked: new Set<string>() };
    await Promise.all(variables.map((each) => this.#variable(each, scope)));
    const root = (await rootTypes(this.#as))[kind];
    if (root === undefined) return this.#report({ from, to: from + kind.length }, `The schema of this role has no ${kind}.`);
    const parent = { name: root, ...(await readRootType(this.#as, root)), isQuery: kind === 'query' };
    await this.#selections(selections, parent, scope, fragments);
  }

  #report({ from, to }: Span, message: string): void {
    if (!this.#isFull) this.#problems.set(`${from} ${message}`, { from, to, message });
  }

  async #variable({ type, typeSpan, defaultValue }: VariableNode, scope: ValueScope): Promise<void> {
    const name = coreType(type);
    const found = await readType(this.#as, name);
    // Scalars that no field uses can be unknown to a role.
    if (found === undefined) return;
    if (found.fields.size > 0) return this.#report(typeSpan, `${name} is not an input type.`);
    if (defaultValue !== undefined)
      await checkValue(defaultValue, { text: type, name, kind: found.kind }, { ...scope, variables: new Map() });
  }

  async #selections(selections: readonly SelectionNode[], parent: Parent, scope: ValueScope, fragments: FragmentState): Promise<void> {
    if (this.#isFull) return;
    await Promise.all(
      selections.map(async (selection) => {
        await this.#directives(selection, scope);
        if (selection.kind === 'field') return this.#field(selection, parent, scope, fragments);
        if (selection.kind === 'inline') {
          const inner = selection.type === undefined ? parent : await this.#typeOf(selection.type);
          if (inner !== undefined) await this.#selections(selection.selections, inner, scope, fragments);
          return;
        }
        const { name } = selection;
        const fragment = this.#document.fragments.find((each) => each.name === name);
        if (fragment === undefined)
          return this.#report(selection, `The fragment ${name} is not defined.${similarTo(name, namesOf(this.#document.fragments))}`);
        if (fragments.cyclic.has(selection)) return this.#report(selection, `The fragment ${name} contains itself.`);
        // It has the same type wherever it is spread.
        if (fragments.checked.has(name)) return;
        fragments.checked.add(name);
        const inner = await this.#typeOf(fragment.type);
        if (inner !== undefined) await this.#selections(fragment.selections, inner, scope, fragments);
      }),
    );
  }

  /** Reads the type of a fragment, and reports an unknown one. */
  async #typeOf({ name, from, to }: Span & { readonly name: string }): Promise<Parent | undefined> {
    const type = await readType(this.#as, name);
    if (type === undefined) this.#report({ from, to }, `The schema has no type ${name}.`);
    return type === undefined ? undefined : { name, fields: type.fields, hasArguments: true };
  }

  async #field(node: FieldNode, parent: Parent, scope: ValueScope, fragments: FragmentState): Promise<void> {
    const { name, selections } = node;
    if (name === '__typename' || (parent.isQuery === true && (name === '__schema' || name === '__type'))) return;
    const field = parent.fields.get(name);
    if (field === undefined) return this.#report(node, `${parent.name} has no field ${name}.${similarTo(name, parent.fields.keys())}`);
    if (parent.hasArguments) await this.#arguments(node, field, scope);
    const isLeaf = LEAVES.includes(field.kind);
    if (isLeaf && selections !== undefined) return this.#report(node, `${name} is a ${field.text} and has no fields to select.`);
    if (isLeaf) return;
    if (selections === undefined || selections.length === 0) return this.#report(node, `Select at least one field of ${name}.`);
    const type = await readType(this.#as, field.name);
    if (type !== undefined)
      await this.#selections(selections, { name: type.name, fields: type.fields, hasArguments: true }, scope, fragments);
  }

  async #arguments(node: FieldNode, field: FieldType, scope: ValueScope): Promise<void> {
    await Promise.all(node.arguments.map((each) => this.#argument(each, field, scope)));
    for (const { field: name, text, hasDefault } of field.arguments) {
      if (text.endsWith('!') && !hasDefault && !node.arguments.some((each) => each.name === name))
        this.#report(node, `${node.name} needs the argument ${name}: ${text}.`);
    }
  }

  async #argument(node: ArgumentNode, field: FieldType, scope: ValueScope): Promise<void> {
    const found = field.arguments.find((each) => each.field === node.name);
    if (found === undefined)
      return this.#report(node, `${field.field} has no argument ${node.name}.${similarTo(node.name, argumentNames(field))}`);
    await checkValue(node.value, found, scope);
  }

  async #directives({ directives }: SelectionNode, scope: ValueScope): Promise<void> {
    for (const { name, arguments: args } of directives) {
      if (name !== 'include' && name !== 'skip') continue;
      const condition = args.find((each) => each.name === 'if');
      if (condition !== undefined) await checkValue(condition.value, { text: 'Boolean!', name: 'Boolean', kind: 'SCALAR' }, scope);
    }
  }
}

function namesOf(nodes: readonly { readonly name: string }[]): readonly string[] {
  return nodes.map(({ name }) => name);
}

function argumentNames(field: FieldType): readonly string[] {
  return field.arguments.map((each) => each.field);
}
