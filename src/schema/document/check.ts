/**
 * The rules of a document that need no types, in one pass over what the operation reaches: every
 * fragment is visited once, and its size is added wherever it is spread, so that the work stays
 * linear in the document however large the expanded operation would be.
 */
import { type ArgumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode, type ValueNode } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import { at, type Path, ROOT } from '../../util/path.ts';
import { checkDirectives } from '../directives.ts';
import type { OperationDocument } from '../document.ts';
import type { OperationSize } from '../translation.ts';
import { maxDocumentLength } from './scan.ts';

export interface DocumentLimits {
  /** Levels of fields, fragments, lists and input objects. */
  readonly maxDepth: number;
  /** Fields and input values, fragments expanded. */
  readonly maxValues: number;
  /** Fields with a selection of their own, fragments expanded. */
  readonly maxObjects: number;
  /** Fields with an alias, fragments expanded. */
  readonly maxAliases: number;
  /** Tokens of a document; its values may be as long with fragments expanded as a document may be without. */
  readonly maxTokens: number;
}

/** Characters that aliases may have on the average, where there are as many as there may be: each row of an answer has them all. */
const ALIAS_LENGTH = 64;

export interface DocumentFacts {
  /** How often the operation reads each variable, fragments expanded; one that it does not read is not there. */
  readonly variableUses: ReadonlyMap<string, number>;
  readonly size: OperationSize;
  /** Nodes visited by the check: bounded by the size of the document. */
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
  /** Characters of them. */
  readonly aliasLength: number;
}

/** @throws SvcError validation-failed */
export function checkDocument(
  { operation, fragments }: OperationDocument,
  declared: { has(name: string): boolean },
  limits: DocumentLimits,
): DocumentFacts {
  let reads = new Reads();
  const fragmentReads = new Map<string, Reads>();
  const sizes = new Map<string, Size>();
  const open: string[] = [];
  let visited = 0;

  const tooDeep = (): SvcError => new SvcError('validation-failed', `the operation is nested deeper than ${limits.maxDepth} levels`);
  const tooLarge = (): SvcError => new SvcError('validation-failed', `the operation has more than ${limits.maxValues} fields and values`);
  const tooMany = (count: number, what: string): SvcError =>
    new SvcError('validation-failed', `the operation has more than ${count} ${what}`);

  function valueNodes(node: ValueNode, depth: number, path: Path): number {
    visited += 1;
    if (depth > limits.maxDepth) throw tooDeep();
    if (node.kind === Kind.VARIABLE) {
      if (!declared.has(node.name.value)) throw new SvcError('validation-failed', `unbound variable "${node.name.value}"`);
      addTo(reads.variables, node.name.value, 1);
      return 1;
    }
    let nodes = 1;
    if ('value' in node && typeof node.value === 'string') reads.length += node.value.length;
    if (node.kind === Kind.LIST) for (const item of node.values) nodes += valueNodes(item, depth + 1, path);
    else if (node.kind === Kind.OBJECT) {
      refuseRepeated(node.fields, 'input field', path);
      for (const field of node.fields) {
        reads.length += field.name.value.length;
        nodes += valueNodes(field.value, depth + 1, path);
      }
    }
    return nodes;
  }

  function argumentNodes(nodes: readonly ArgumentNode[] | undefined, path: Path): number {
    if (nodes === undefined || nodes.length === 0) return 0;
    refuseRepeated(nodes, 'argument', path);
    let sum = 0;
    for (const node of nodes) sum += valueNodes(node.value, 1, path);
    return sum;
  }

  function directiveNodes(
    node: { readonly directives?: OperationDocument['operation']['directives'] },
    location: Parameters<typeof checkDirectives>[1],
    path: Path,
  ): number {
    const { directives } = node;
    if (directives === undefined || directives.length === 0) return 0;
    checkDirectives(directives, location, path);
    let sum = 0;
    for (const directive of directives) sum += argumentNodes(directive.arguments, path);
    return sum;
  }

  /** @param level levels above this selection set in the way that the walk came; bounds the recursion */
  function selectionSize(set: SelectionSetNode, level: number, path: Path): Size {
    if (level > limits.maxDepth) throw tooDeep();
    let depth = 0;
    let values = 0;
    let levels = 0;
    let objects = 0;
    let aliases = 0;
    let aliasLength = 0;
    for (const selection of set.selections) {
      visited += 1;
      let inner: Size | undefined;
      let counted = true;
      if (selection.kind === Kind.FIELD) {
        const fieldPath = at(path, selection.name.value);
        values += 1 + directiveNodes(selection, 'FIELD', fieldPath) + argumentNodes(selection.arguments, fieldPath);
        if (selection.alias !== undefined) {
          aliases += 1;
          aliasLength += selection.alias.value.length;
        }
        counted = selection.name.value !== '__schema' && selection.name.value !== '__type';
        if (counted && levels === 0) levels = 1;
        if (selection.selectionSet !== undefined) {
          objects += 1;
          inner = selectionSize(selection.selectionSet, level + 1, at(fieldPath, 'selectionSet'));
        }
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        values += 1 + directiveNodes(selection, 'INLINE_FRAGMENT', path);
        inner = selectionSize(selection.selectionSet, level + 1, path);
      } else {
        values += 1 + directiveNodes(selection, 'FRAGMENT_SPREAD', path);
        inner = fragmentSize(selection.name.value, level + 1, path);
        addTo(reads.fragments, selection.name.value, 1);
      }
      if (inner !== undefined) {
        values += inner.values;
        objects += inner.objects;
        aliases += inner.aliases;
        aliasLength += inner.aliasLength;
        if (inner.depth > depth) depth = inner.depth;
        const below = selection.kind === Kind.FIELD ? inner.levels + 1 : inner.levels;
        if (counted && below > levels) levels = below;
      }
      if (values > limits.maxValues) throw tooLarge();
      if (objects > limits.maxObjects) throw tooMany(limits.maxObjects, 'fields with a selection');
      if (aliases > limits.maxAliases) throw tooMany(limits.maxAliases, 'aliases');
      if (aliasLength > limits.maxAliases * ALIAS_LENGTH) throw tooMany(limits.maxAliases * ALIAS_LENGTH, 'characters of aliases');
    }
    if (level + depth > limits.maxDepth) throw tooDeep();
    return { depth: depth + 1, values, levels, objects, aliases, aliasLength };
  }

  function fragmentSize(name: string, level: number, path: Path): Size {
    const known = sizes.get(name);
    if (known !== undefined) {
      if (level + known.depth - 1 > limits.maxDepth) throw tooDeep();
      return known;
    }
    const fragment = fragments.get(name);
    if (fragment === undefined) throw new SvcError('validation-failed', `reference to undefined fragment "${name}"`, { path });
    const start = open.indexOf(name);
    if (start >= 0)
      throw new SvcError('validation-failed', `the fragment definition(s) ${conjunction(open.slice(start))} form a cycle`, { path });
    open.push(name);
    const outside = reads;
    reads = new Reads();
    const fragmentPath = at(path, name);
    const own = directiveNodes(fragment satisfies FragmentDefinitionNode, 'FRAGMENT_DEFINITION', fragmentPath);
    const inner = selectionSize(fragment.selectionSet, level, at(fragmentPath, 'selectionSet'));
    open.pop();
    fragmentReads.set(name, reads);
    reads = outside;
    const size = { ...inner, values: inner.values + own };
    sizes.set(name, size);
    return size;
  }

  const location = operation.operation === 'query' ? 'QUERY' : operation.operation === 'mutation' ? 'MUTATION' : 'SUBSCRIPTION';
  directiveNodes(operation, location, ROOT);
  for (const definition of operation.variableDefinitions ?? []) directiveNodes(definition, 'VARIABLE_DEFINITION', ROOT);
  const { levels, objects, values, aliases } = selectionSize(operation.selectionSet, 1, at(ROOT, 'selectionSet'));
  const expanded = expandedReads(reads, fragmentReads);
  const maxLength = maxDocumentLength(limits.maxTokens);
  if (expanded.length > maxLength) throw tooMany(maxLength, 'characters in its values');
  return { variableUses: expanded.variables, size: { depth: levels, values, objects, aliases }, visited };
}

/** What an operation or a fragment reads by itself, and how often it spreads each fragment. */
class Reads {
  readonly variables = new Map<string, number>();
  readonly fragments = new Map<string, number>();
  /** Characters of literals. */
  length = 0;
}

/** @param fragments in the order in which they were done with: none spreads a later one */
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

function refuseRepeated(nodes: readonly { readonly name: { readonly value: string } }[], what: string, path: Path): void {
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
