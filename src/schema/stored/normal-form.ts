/** Comparison of documents for the allow-list: as parsed, without `__typename`. */
import { type DocumentNode, Kind, print, type SelectionSetNode, visit } from 'graphql';
import { parseDocument } from '../../graphql-engine/document.ts';

/**
 * Returns a text that is equal for documents that differ in white space, comments and `__typename` only. @throws SvcError validation-failed
 */
export function normalForm(query: string, maxTokens: number): string {
  return print(withoutTypename(parseDocument(query, maxTokens)));
}

function withoutTypename(document: DocumentNode): DocumentNode {
  return visit(document, {
    SelectionSet(node): SelectionSetNode | undefined {
      const selections = node.selections.filter((selection) => selection.kind !== Kind.FIELD || selection.name.value !== '__typename');
      return selections.length === node.selections.length ? undefined : { ...node, selections };
    },
  });
}
