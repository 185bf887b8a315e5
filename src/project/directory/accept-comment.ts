/** Comments that accept a warning of the linter: `# svc-lint-accept: <rule> <reason>`. */
import { isMap, isNode, type Node, type YAMLMap, type YAMLSeq } from 'yaml';

export const ACCEPT_KEYWORD = 'svc-lint-accept';

/** @param text a line of a comment, with or without its `#` */
export function isAcceptComment(text: string): boolean {
  return new RegExp(`^#?\\s*${ACCEPT_KEYWORD}\\b`).test(text);
}

/**
 * Moves the comments that accept warnings of the first item from the collection to that item. The parser attaches them to the collection,
 * where they would be left above the next item if the first one is removed.
 */
export function attachAcceptances(collection: YAMLSeq | YAMLMap): void {
  const item = isMap(collection) ? collection.items[0]?.key : collection.items[0];
  const lines = collection.commentBefore?.split('\n') ?? [];
  const moved = lines.filter(isAcceptComment);
  if (moved.length === 0 || !isNode(item)) return;
  const first: Node = item;
  first.commentBefore = [...moved, ...(first.commentBefore == null ? [] : [first.commentBefore])].join('\n');
  const left = lines.filter((line) => !isAcceptComment(line));
  collection.commentBefore = left.length === 0 ? null : left.join('\n');
}
