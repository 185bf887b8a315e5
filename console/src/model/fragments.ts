/** Fragments of a document: those that contain themselves, and the fields that selections amount to. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentNode,
  type OperationNode,
  parseDocument,
  type SelectionNode,
} from './graphql-ast.ts';

/**
 * Returns the text of one of several operations, with the fragments that it uses. A document of one operation stays as it is.
 * @throws DocumentFault for a syntax error
 */
export function oneOperation(text: string, index: number): string {
  const document = parseDocument(text);
  const operation = document.operations[index] ?? document.operations[0];
  if (operation === undefined || document.operations.length === 1) return text;
  const { used } = walk(document, operation);
  const spans = [operation, ...document.fragments.filter(({ name }) => used.has(name)).map(({ whole }) => whole)];
  return `${spans.map(({ from, to }) => text.slice(from, to)).join('\n\n')}\n`;
}

/** Returns the spreads at which fragments begin to contain themselves, as they are met from an operation. */
export function cyclicSpreads(document: DocumentNode, operation: OperationNode): ReadonlySet<SelectionNode> {
  return walk(document, operation).cyclic;
}

/** Walks over the operation and each fragment that it uses once. */
function walk(document: DocumentNode, operation: OperationNode) {
  const fragments = fragmentsOf(document);
  const cyclic = new Set<SelectionNode>();
  const open = new Set<string>();
  const used = new Set<string>();
  const visit = (selections: readonly SelectionNode[]): void => {
    for (const selection of selections) {
      if (selection.kind !== 'spread') {
        visit(selection.selections ?? []);
        continue;
      }
      const { name } = selection;
      if (open.has(name)) cyclic.add(selection);
      if (used.has(name)) continue;
      used.add(name);
      open.add(name);
      visit(fragments.get(name)?.selections ?? []);
      open.delete(name);
    }
  };
  visit(operation.selections);
  return { cyclic, used };
}

/** Names of the fragments that a selection is inside of. */
type OpenFragments = ReadonlySet<string>;

/** Selections of an object, which is of the type `of`. */
export interface SelectionPart<T> {
  readonly of: T;
  readonly selections: readonly SelectionNode[];
  readonly open: OpenFragments;
  /** True if they apply only under a condition. */
  readonly isOptional: boolean;
}

/** A selection of a field of the type `of`. */
export interface SelectedField<T> extends Omit<SelectionPart<T>, 'selections'> {
  readonly node: FieldNode;
}

/**
 * Returns the selected fields by the name that they have in the response. Fragments that contain themselves are left out there.
 * @param typeOf returns the type of a fragment with another type condition than that of the part
 */
export async function selectedFields<T extends { readonly name: string }>(
  document: DocumentNode,
  parts: readonly SelectionPart<T>[],
  typeOf: (name: string) => Promise<T>,
): Promise<ReadonlyMap<string, readonly SelectedField<T>[]>> {
  const fragments = fragmentsOf(document);
  const found = new Map<string, SelectedField<T>[]>();
  // A fragment adds nothing when it is spread again under the same or more conditions.
  const required = new Set<string>();
  const optional = new Set<string>();
  const add = async ({ of, selections, open, isOptional: isPartOptional }: SelectionPart<T>): Promise<void> => {
    for (const selection of selections) {
      const isOptional = isPartOptional || selection.directives.some(({ name }) => name === 'include' || name === 'skip');
      if (selection.kind === 'field') {
        const name = selection.alias ?? selection.name;
        const selected = found.get(name) ?? [];
        selected.push({ of, node: selection, open, isOptional });
        found.set(name, selected);
        continue;
      }
      const isSpread = selection.kind === 'spread';
      const inner = isSpread ? fragments.get(selection.name) : selection;
      if (inner === undefined) continue;
      const narrows = inner.type !== undefined && inner.type.name !== of.name;
      const isInnerOptional = isOptional || narrows;
      if (isSpread) {
        const { name } = selection;
        if (open.has(name) || required.has(name) || (isInnerOptional && optional.has(name))) continue;
        (isInnerOptional ? optional : required).add(name);
      }
      await add({
        of: narrows ? await typeOf(inner.type.name) : of,
        selections: inner.selections,
        open: isSpread ? new Set([...open, selection.name]) : open,
        isOptional: isInnerOptional,
      });
    }
  };
  for (const part of parts) await add(part);
  return found;
}

function fragmentsOf({ fragments }: DocumentNode): ReadonlyMap<string, FragmentNode> {
  return new Map(fragments.map((each) => [each.name, each]));
}
