/**
 * Finds the positions in a document that the path of an error names. Documents are parsed without positions, which only errors need; so
 * the document of an error is parsed once more.
 */
import { type ASTNode, type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse, type SelectionSetNode } from 'graphql';
import type { TextLocation } from '../../errors/svc-error.ts';
import type { Path } from '../../util/path.ts';

/** Maximum characters of a document whose errors get positions: parsing it again takes about 10 ms. */
const MAX_CHARACTERS = 128 * 1024;
const MAX_TOKENS = 20_000;
/** Maximum positions of an error, and nodes that are followed for it: several fields with equal names may have one path. */
const MAX_LOCATIONS = 3;
const MAX_NODES = 1_000;

/** A node on the way, and the role of its next key: a field has keys for its arguments and its selection. */
interface Place {
  readonly node: ASTNode;
  readonly isArguments?: true;
}

/**
 * @param path such as `$.selectionSet.author.args.where.name`; a prefix that exists in the document suffices
 * @returns positions of the nodes at the path, at most three; of the operation for `$`; none if the path is not one of
 *   the document, or the document is invalid or too large
 */
export function locationsOf(query: string, operationName: string | null, path: Path): readonly TextLocation[] {
  if (query.length > MAX_CHARACTERS) return [];
  const document = parsed(query);
  if (document === null) return [];
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
    else if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const operation = operationName === null ? operations[0] : operations.find(({ name }) => name?.value === operationName);
  if (operation === undefined) return [];
  let places: readonly Place[] = [{ node: operation }];
  for (const [index, key] of keysOf(path).entries()) {
    const next = places.flatMap((place) => step(place, key, fragments)).slice(0, MAX_NODES);
    // A path outside of the document, such as `$.query`, has no position.
    if (next.length === 0 && index === 0) return [];
    if (next.length === 0) break;
    places = next;
  }
  return places.slice(0, MAX_LOCATIONS).flatMap(({ node: { loc } }) => {
    return loc === undefined ? [] : [{ line: loc.startToken.line, column: loc.startToken.column }];
  });
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

/** Returns the nodes at a key of a node; none if it has no such key. */
function step(
  { node, isArguments }: Place,
  key: string | number,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): readonly Place[] {
  switch (node.kind) {
    case Kind.OPERATION_DEFINITION:
    case Kind.FRAGMENT_DEFINITION:
      return key === 'selectionSet' ? [{ node: node.selectionSet }] : [];
    case Kind.SELECTION_SET:
      return selected(node, key, fragments);
    case Kind.FIELD:
      if (isArguments) return named(node.arguments, key);
      if (key === 'args') return [{ node, isArguments: true }];
      return key === 'selectionSet' && node.selectionSet !== undefined ? [{ node: node.selectionSet }] : [];
    case Kind.ARGUMENT:
    case Kind.OBJECT_FIELD:
      return step({ node: node.value }, key, fragments);
    case Kind.OBJECT:
      return named(node.fields, key);
    case Kind.LIST: {
      const item = typeof key === 'number' ? node.values[key] : undefined;
      return item === undefined ? [] : [{ node: item }];
    }
    default:
      return [];
  }
}

function named(nodes: readonly (ASTNode & { readonly name: { readonly value: string } })[] = [], key: string | number): readonly Place[] {
  return nodes.filter(({ name }) => name.value === key).map((node) => ({ node }));
}

/** Fields with this name, through fragments, and the definition of a fragment that is spread under this name. */
function selected(set: SelectionSetNode, key: string | number, fragments: ReadonlyMap<string, FragmentDefinitionNode>): readonly Place[] {
  const found: Place[] = [];
  const spread = new Set<string>();
  const visit = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else if (selection.kind === Kind.FIELD) {
        if (selection.name.value === key) found.push({ node: selection });
      } else {
        const { value } = selection.name;
        const fragment = fragments.get(value);
        if (fragment === undefined || spread.has(value)) continue;
        spread.add(value);
        if (value === key) found.push({ node: fragment });
        visit(fragment.selectionSet);
      }
    }
  };
  visit(set);
  return found;
}
