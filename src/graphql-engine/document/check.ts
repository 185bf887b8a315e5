/**
 * Checks the rules of a document that need no types, in one pass over everything that the operation reaches: every fragment is visited once
 * and its size is added wherever it is spread, so the work is linear in the document, however large the expanded operation is.
 */
import { type ArgumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode, type ValueNode } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import { at, type Path, ROOT } from '../../util/path.ts';
import { checkDirectives } from '../directives.ts';
import type { OperationDocument } from '../document.ts';
import type { OperationSize } from '../translation.ts';
import { maxDocumentLength } from './scan.ts';

export interface DocumentLimits {
  /** Maximum levels of fields, fragments, lists and input objects. */
  readonly maxDepth: number;
  /** Maximum fields and input values, with fragments expanded. */
  readonly maxValues: number;
  /** Maximum fields with a selection, with fragments expanded. */
  readonly maxObjects: number;
  /** Maximum fields with an alias, with fragments expanded. */
  readonly maxAliases: number;
  /** Maximum tokens of a document. With fragments expanded, its values have at most as many characters as a document without fragments. */
  readonly maxTokens: number;
}

/** Maximum average characters of aliases if there are as many as permitted: each row of an answer contains all of them. */
const ALIAS_LENGTH = 64;

export interface DocumentFacts {
  /** Number of reads of each variable, with fragments expanded. Variables that are not read are missing. */
  readonly variableUses: ReadonlyMap<string, number>;
  readonly size: OperationSize;
  /** Nodes visited by the check: at most the size of the document. */
  readonly visited: number;
}

interface Size {
  readonly depth: number;
  readonly values: number;
  /** Levels of fields alone, without those of introspection. */
  readonly levels: number;
  /** Fields with a selection. */
  readonly objects: number;
  readonly aliases: number;
  /** Total characters of aliases. */
  readonly aliasLength: number;
}

/** @throws SvcError validation-failed */
export function checkDocument(
  document: OperationDocument,
  declared: { has(name: string): boolean },
  limits: DocumentLimits,
): DocumentFacts {
  return new DocumentCheck(document, declared, limits).run();
}

class DocumentCheck {
  readonly #operation: OperationDocument['operation'];
  readonly #fragments: OperationDocument['fragments'];
  readonly #declared: { has(name: string): boolean };
  readonly #limits: DocumentLimits;
  /** Reads of the operation, or of the fragment that is being visited. */
  #reads = new Reads();
  readonly #fragmentReads = new Map<string, Reads>();
  readonly #sizes = new Map<string, Size>();
  readonly #open: string[] = [];
  #visited = 0;

  constructor({ operation, fragments }: OperationDocument, declared: { has(name: string): boolean }, limits: DocumentLimits) {
    this.#operation = operation;
    this.#fragments = fragments;
    this.#declared = declared;
    this.#limits = limits;
  }

  run(): DocumentFacts {
    const { operation: kind, variableDefinitions = [], selectionSet } = this.#operation;
    const location = kind === 'query' ? 'QUERY' : kind === 'mutation' ? 'MUTATION' : 'SUBSCRIPTION';
    this.#directiveNodes(this.#operation, location, ROOT);
    for (const definition of variableDefinitions) this.#directiveNodes(definition, 'VARIABLE_DEFINITION', ROOT);
    const { levels, objects, values, aliases } = this.#selectionSize(selectionSet, 1, at(ROOT, 'selectionSet'));
    const expanded = expandedReads(this.#reads, this.#fragmentReads);
    const maxLength = maxDocumentLength(this.#limits.maxTokens);
    if (expanded.length > maxLength) throw tooMany(maxLength, 'characters in its values');
    return { variableUses: expanded.variables, size: { depth: levels, values, objects, aliases }, visited: this.#visited };
  }

  #tooDeep(): SvcError {
    return new SvcError('validation-failed', `the operation is nested deeper than ${this.#limits.maxDepth} levels`);
  }

  #valueNodes(node: ValueNode, depth: number, path: Path): number {
    this.#visited += 1;
    if (depth > this.#limits.maxDepth) throw this.#tooDeep();
    if (node.kind === Kind.VARIABLE) {
      if (!this.#declared.has(node.name.value)) throw new SvcError('validation-failed', `unbound variable "${node.name.value}"`);
      addTo(this.#reads.variables, node.name.value, 1);
      return 1;
    }
    let nodes = 1;
    if ('value' in node && typeof node.value === 'string') this.#reads.length += node.value.length;
    if (node.kind === Kind.LIST) for (const item of node.values) nodes += this.#valueNodes(item, depth + 1, path);
    else if (node.kind === Kind.OBJECT) {
      rejectRepeated(node.fields, 'input field', path);
      for (const field of node.fields) {
        this.#reads.length += field.name.value.length;
        nodes += this.#valueNodes(field.value, depth + 1, path);
      }
    }
    return nodes;
  }

  #argumentNodes(nodes: readonly ArgumentNode[] | undefined, path: Path): number {
    if (nodes === undefined || nodes.length === 0) return 0;
    rejectRepeated(nodes, 'argument', path);
    let sum = 0;
    for (const node of nodes) sum += this.#valueNodes(node.value, 1, path);
    return sum;
  }

  #directiveNodes(
    node: { readonly directives?: OperationDocument['operation']['directives'] },
    location: Parameters<typeof checkDirectives>[1],
    path: Path,
  ): number {
    const { directives } = node;
    if (directives === undefined || directives.length === 0) return 0;
    checkDirectives(directives, location, path);
    let sum = 0;
    for (const directive of directives) sum += this.#argumentNodes(directive.arguments, path);
    return sum;
  }

  /** @param level levels above this selection set on the path of the walk; limits the recursion */
  #selectionSize(set: SelectionSetNode, level: number, path: Path): Size {
    if (level > this.#limits.maxDepth) throw this.#tooDeep();
    const size = { depth: 0, values: 0, levels: 0, objects: 0, aliases: 0, aliasLength: 0 };
    for (const selection of set.selections) {
      this.#visited += 1;
      if (selection.kind === Kind.FIELD) this.#addField(size, selection, level, path);
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        size.values += 1 + this.#directiveNodes(selection, 'INLINE_FRAGMENT', path);
        addInner(size, this.#selectionSize(selection.selectionSet, level + 1, path), 0);
      } else {
        size.values += 1 + this.#directiveNodes(selection, 'FRAGMENT_SPREAD', path);
        addInner(size, this.#fragmentSize(selection.name.value, level + 1, path), 0);
        addTo(this.#reads.fragments, selection.name.value, 1);
      }
      this.#rejectLarge(size);
    }
    if (level + size.depth > this.#limits.maxDepth) throw this.#tooDeep();
    size.depth += 1;
    return size;
  }

  #addField(size: Total, { name, alias, arguments: given, directives, selectionSet }: FieldNode, level: number, path: Path): void {
    const fieldPath = at(path, name.value);
    size.values += 1 + this.#directiveNodes({ directives }, 'FIELD', fieldPath) + this.#argumentNodes(given, fieldPath);
    if (alias !== undefined) {
      size.aliases += 1;
      size.aliasLength += alias.value.length;
    }
    const isCounted = name.value !== '__schema' && name.value !== '__type';
    if (isCounted && size.levels === 0) size.levels = 1;
    if (selectionSet === undefined) return;
    size.objects += 1;
    const inner = this.#selectionSize(selectionSet, level + 1, at(fieldPath, 'selectionSet'));
    addInner(size, isCounted ? inner : { ...inner, levels: 0 }, isCounted ? 1 : 0);
  }

  #rejectLarge({ values, objects, aliases, aliasLength }: Size): void {
    const { maxValues, maxObjects, maxAliases } = this.#limits;
    if (values > maxValues) throw tooMany(maxValues, 'fields and values');
    if (objects > maxObjects) throw tooMany(maxObjects, 'fields with a selection');
    if (aliases > maxAliases) throw tooMany(maxAliases, 'aliases');
    if (aliasLength > maxAliases * ALIAS_LENGTH) throw tooMany(maxAliases * ALIAS_LENGTH, 'characters of aliases');
  }

  #fragmentSize(name: string, level: number, path: Path): Size {
    const known = this.#sizes.get(name);
    if (known !== undefined) {
      if (level + known.depth - 1 > this.#limits.maxDepth) throw this.#tooDeep();
      return known;
    }
    const fragment = this.#fragments.get(name);
    if (fragment === undefined) throw new SvcError('validation-failed', `reference to undefined fragment "${name}"`, { path });
    const start = this.#open.indexOf(name);
    if (start >= 0)
      throw new SvcError('validation-failed', `the fragment definition(s) ${conjunction(this.#open.slice(start))} form a cycle`, { path });
    this.#open.push(name);
    const outside = this.#reads;
    this.#reads = new Reads();
    const fragmentPath = at(path, name);
    const own = this.#directiveNodes(fragment satisfies FragmentDefinitionNode, 'FRAGMENT_DEFINITION', fragmentPath);
    const inner = this.#selectionSize(fragment.selectionSet, level, at(fragmentPath, 'selectionSet'));
    this.#open.pop();
    this.#fragmentReads.set(name, this.#reads);
    this.#reads = outside;
    const size = { ...inner, values: inner.values + own };
    this.#sizes.set(name, size);
    return size;
  }
}

function tooMany(count: number, what: string): SvcError {
  return new SvcError('validation-failed', `the operation has more than ${count} ${what}`);
}

type Total = { -readonly [K in keyof Size]: Size[K] };

/** @param levels levels of fields around the added size */
function addInner(size: Total, inner: Size, levels: number): void {
  size.values += inner.values;
  size.objects += inner.objects;
  size.aliases += inner.aliases;
  size.aliasLength += inner.aliasLength;
  size.depth = Math.max(size.depth, inner.depth);
  size.levels = Math.max(size.levels, inner.levels + levels);
}

/** Direct reads of an operation or a fragment, and the number of times that it spreads each fragment. */
class Reads {
  readonly variables = new Map<string, number>();
  readonly fragments = new Map<string, number>();
  /** Characters of literals. */
  length = 0;
}

/** @param fragments ordered so that no fragment spreads a later one */
function expandedReads(operation: Reads, fragments: ReadonlyMap<string, Reads>): Pick<Reads, 'variables' | 'length'> {
  if (fragments.size === 0) return operation;
  const variables = new Map(operation.variables);
  const spread = new Map(operation.fragments);
  let { length } = operation;
  for (const [name, reads] of [...fragments].reverse()) {
    const times = spread.get(name) ?? 0;
    length += times * reads.length;
    for (const [variable, count] of reads.variables) addTo(variables, variable, times * count);
    for (const [inner, count] of reads.fragments) addTo(spread, inner, times * count);
  }
  return { variables, length };
}

function addTo(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

function rejectRepeated(nodes: readonly { readonly name: { readonly value: string } }[], what: string, path: Path): void {
  if (nodes.length < 2) return;
  const names = new Set<string>();
  for (const { name } of nodes) {
    if (names.has(name.value)) throw new SvcError('parse-failed', `multiple definitions for ${what} "${name.value}"`, { path });
    names.add(name.value);
  }
}

/** `a`, `a and b`, `a, b and c` */
function conjunction(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
