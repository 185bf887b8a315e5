/**
 * Finds the positions in a document that the path of an error names. Documents are parsed without positions, which only errors need; so
 * the document of an error is parsed once more.
 */
import { type ASTNode, type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse, type SelectionSetNode } from 'graphql';
import type { TextLocation } from '../../errors/svc-error.ts';
import type { Path } from '../../util/path.ts';

/** Maximum characters and tokens of a document whose errors get positions: parsing it again takes a few milliseconds. */
const MAX_CHARACTERS = 64 * 1024;
const MAX_TOKENS = 10_000;
/** Maximum positions of an error: several fields with equal names may have one path. With more, none is given. */
const MAX_LOCATIONS = 10;
/** Maximum selections and arguments that a search looks at. */
const MAX_VISITS = 50_000;

/** A node on the way. */
interface Place {
  readonly node: ASTNode;
  /** The next key of this field is the name of an argument. */
  readonly isArguments?: boolean;
}

/**
 * @param path such as `$.selectionSet.author.args.where.name`; a prefix that exists in the document suffices
 * @returns positions of the nodes at the path, at most ten; none if the path does not lead into a selection, or the document is invalid or
 *   too large
 */
export function locationsOf(query: string, operationName: string | null, path: Path): readonly TextLocation[] {
  const [first, ...keys] = keysOf(path);
  if (first !== 'selectionSet' || query.length > MAX_CHARACTERS) return [];
  const { operation, fragments } = definitionsIn(query, operationName);
  return operation === undefined ? [] : new Search(fragments).positions(operation, keys);
}

/** @returns position at which an operation declares a variable; none if it does not, or the document is invalid or too large */
export function variableLocations(query: string, operationName: string | null, name: string): readonly TextLocation[] {
  if (query.length > MAX_CHARACTERS) return [];
  const declared = definitionsIn(query, operationName).operation?.variableDefinitions ?? [];
  return positionsOf(declared.filter(({ variable }) => variable.name.value === name));
}

/** @returns position of the only root field, else of the operation; none if the document is too large */
export function operationLocations(query: string, operationName: string | null): readonly TextLocation[] {
  if (query.length > MAX_CHARACTERS) return [];
  const { operation } = definitionsIn(query, operationName);
  if (operation === undefined) return [];
  const [root, ...others] = operation.selectionSet.selections;
  return positionsOf([root?.kind === Kind.FIELD && others.length === 0 ? root : operation]);
}

interface Definitions {
  readonly operation: OperationDefinitionNode | undefined;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

function definitionsIn(query: string, operationName: string | null): Definitions {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of parsed(query) ?? []) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
    else if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const operation = operationName === null ? operations[0] : operations.find(({ name }) => name?.value === operationName);
  return { operation, fragments };
}

function positionsOf(nodes: readonly ASTNode[]): readonly TextLocation[] {
  return nodes.flatMap(({ loc }) => (loc === undefined ? [] : [{ line: loc.startToken.line, column: loc.startToken.column }]));
}

function parsed(query: string): readonly ASTNode[] | null {
  try {
    return parse(query, { maxTokens: MAX_TOKENS }).definitions;
  } catch {
    // A syntax error has its own position.
    return null;
  }
}

function keysOf(path: Path): readonly (string | number)[] {
  const keys: (string | number)[] = [];
  for (let each = path; each.parent !== undefined; each = each.parent) keys.push(each.key);
  return keys.reverse();
}

class Search {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  #visits = 0;

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#fragments = fragments;
  }

  /** @returns positions; none if the search takes too long or finds too many */
  positions({ selectionSet }: OperationDefinitionNode, keys: readonly (string | number)[]): readonly TextLocation[] {
    let places: readonly Place[] = [{ node: selectionSet }];
    for (const key of keys) {
      // A fragment that is spread several times is followed once.
      const spread = new Set<string>();
      const next = places.flatMap((place) => this.#step(place, key, spread));
      if (this.#visits > MAX_VISITS) return [];
      if (next.length === 0) break;
      places = [...new Map(next.map((place) => [place.node, place])).values()];
    }
    if (places.length > MAX_LOCATIONS) return [];
    return positionsOf(places.map(({ node }) => node));
  }

  /** Returns the nodes at a key of a node; none if it has no such key. */
  #step(place: Place, key: string | number, spread: Set<string>): readonly Place[] {
    const { node, isArguments } = place;
    switch (node.kind) {
      case Kind.FRAGMENT_DEFINITION:
        return key === 'selectionSet' ? [{ node: node.selectionSet }] : [];
      case Kind.SELECTION_SET:
        return this.#selected(node, key, spread);
      case Kind.FIELD:
        if (isArguments) return this.#named(node.arguments, key);
        if (key === 'args') return [{ node, isArguments: true }];
        return key === 'selectionSet' && node.selectionSet !== undefined ? [{ node: node.selectionSet }] : [];
      case Kind.ARGUMENT:
      case Kind.OBJECT_FIELD: {
        // A variable, and a single value in the place of a list, stand for what is inside.
        if (node.value.kind === Kind.VARIABLE || (key === 0 && node.value.kind !== Kind.LIST)) return [place];
        return this.#step({ node: node.value }, key, spread);
      }
      case Kind.OBJECT:
        return this.#named(node.fields, key);
      case Kind.LIST: {
        const item = typeof key === 'number' ? node.values[key] : undefined;
        return item === undefined ? [] : [{ node: item }];
      }
      case Kind.VARIABLE:
        return [place];
      default:
        return [];
    }
  }

  #named(nodes: readonly (ASTNode & { readonly name: { readonly value: string } })[] = [], key: string | number): readonly Place[] {
    this.#visits += nodes.length;
    return nodes.filter(({ name }) => name.value === key).map((node) => ({ node }));
  }

  /** Fields with this name, through fragments, and the definition of a fragment that is spread under this name. */
  #selected({ selections }: SelectionSetNode, key: string | number, spread: Set<string>): readonly Place[] {
    const found: Place[] = [];
    for (const selection of selections) {
      if (++this.#visits > MAX_VISITS) return [];
      if (selection.kind === Kind.INLINE_FRAGMENT) found.push(...this.#selected(selection.selectionSet, key, spread));
      else if (selection.kind === Kind.FIELD) {
        if (selection.name.value === key) found.push({ node: selection });
      } else {
        const { value } = selection.name;
        const fragment = this.#fragments.get(value);
        if (fragment === undefined || spread.has(value)) continue;
        spread.add(value);
        if (value === key) found.push({ node: fragment });
        found.push(...this.#selected(fragment.selectionSet, key, spread));
      }
    }
    return found;
  }
}
