/** Finds the place in a GraphQL document that an error names by its path. */
import { tokensOf } from './graphql-document.ts';

type Token = ReturnType<typeof tokensOf>[number];

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A field of a selection set. Places are indices into the list of tokens. */
interface Entry {
  readonly key: Token;
  /** Index after the opening parenthesis. */
  readonly argumentsAt: number | undefined;
  readonly setAt: number | undefined;
}

interface Selection {
  readonly fields: readonly Entry[];
  /** Selection sets of inline fragments. */
  readonly insideAt: readonly number[];
  readonly spreads: readonly string[];
}

/** Splits a path: `$.selectionSet.album.args.where` has four steps. List indices are skipped. */
function stepsOf(path: string): readonly string[] {
  return [...path.matchAll(/\.([A-Za-z_]\w*)|\['([^']*)'\]/g)].map(([, plain, quoted]) => plain ?? quoted ?? '');
}

/**
 * @param path path of an error of the service
 * @param operation name of the operation that was run, in a document with several
 * @returns undefined if the path leads to nothing in the document
 */
export function placeOfPath(text: string, path: string, operation?: string): Span | undefined {
  const tokens = tokensOf(text).filter(({ kind }) => kind !== 'comment');
  const [first, ...steps] = stepsOf(path);
  if (first !== 'selectionSet' || steps.length === 0) return undefined;
  const { operations, fragments } = definitionsOf(tokens);
  const start = operations.find(({ name }) => operation === undefined || name === operation)?.setAt;
  return start === undefined ? undefined : fieldAt(tokens, fragments, start, steps, new Set());
}

interface Definitions {
  readonly operations: readonly { readonly name: string | undefined; readonly setAt: number }[];
  readonly fragments: ReadonlyMap<string, number>;
}

function definitionsOf(tokens: readonly Token[]): Definitions {
  const operations: { name: string | undefined; setAt: number }[] = [];
  const fragments = new Map<string, number>();
  let at = 0;
  while (at < tokens.length) {
    const word = tokens[at]?.text;
    const next = tokens[at + 1];
    const name = word !== '{' && next?.kind === 'name' ? next.text : undefined;
    while (at < tokens.length && tokens[at]?.text !== '{') at = tokens[at]?.text === '(' ? afterClosing(tokens, at + 1) : at + 1;
    if (at >= tokens.length) break;
    if (word === 'fragment') {
      if (name !== undefined) fragments.set(name, at + 1);
    } else operations.push({ name, setAt: at + 1 });
    at = afterClosing(tokens, at + 1);
  }
  return { operations, fragments };
}

/** Returns the index after the bracket that closes the one opened before `start`. */
function afterClosing(tokens: readonly Token[], start: number): number {
  let depth = 1;
  let at = start;
  for (; at < tokens.length && depth > 0; at++) {
    const { text, kind } = tokens[at] as Token;
    if (kind !== 'punctuator') continue;
    if (text === '{' || text === '(' || text === '[') depth++;
    else if (text === '}' || text === ')' || text === ']') depth--;
  }
  return at;
}

/** Reads the selection set that begins at `start`. */
function setAt(tokens: readonly Token[], start: number): Selection {
  const fields: Entry[] = [];
  const insideAt: number[] = [];
  const spreads: string[] = [];
  let at = start;
  while (at < tokens.length && tokens[at]?.text !== '}') {
    const token = tokens[at] as Token;
    at++;
    if (token.text === '...') {
      const next = tokens[at];
      if (next?.kind === 'name' && next.text !== 'on') {
        spreads.push(next.text);
        at = afterDirectives(tokens, at + 1);
        continue;
      }
      if (next?.text === 'on') at += 2;
      at = afterDirectives(tokens, at);
      if (tokens[at]?.text === '{') {
        insideAt.push(at + 1);
        at = afterClosing(tokens, at + 1);
      }
      continue;
    }
    if (token.kind !== 'name') continue;
    if (tokens[at]?.text === ':') at += 2;
    let argumentsAt: number | undefined;
    if (tokens[at]?.text === '(') {
      argumentsAt = at + 1;
      at = afterClosing(tokens, at + 1);
    }
    at = afterDirectives(tokens, at);
    let inner: number | undefined;
    if (tokens[at]?.text === '{') {
      inner = at + 1;
      at = afterClosing(tokens, at + 1);
    }
    fields.push({ key: token, argumentsAt, setAt: inner });
  }
  return { fields, insideAt, spreads };
}

function afterDirectives(tokens: readonly Token[], start: number): number {
  let at = start;
  while (tokens[at]?.kind === 'directive') {
    at++;
    if (tokens[at]?.text === '(') at = afterClosing(tokens, at + 1);
  }
  return at;
}

function fieldAt(
  tokens: readonly Token[],
  fragments: ReadonlyMap<string, number>,
  start: number,
  [key, next, ...rest]: readonly string[],
  seen: Set<string>,
): Span | undefined {
  const { fields, insideAt, spreads } = setAt(tokens, start);
  const found = fields.find((field) => field.key.text === key);
  if (found !== undefined) {
    const deeper =
      next === 'selectionSet' && found.setAt !== undefined && rest.length > 0
        ? fieldAt(tokens, fragments, found.setAt, rest, seen)
        : next === 'args' && found.argumentsAt !== undefined
          ? valueAt(tokens, found.argumentsAt, rest)
          : undefined;
    return deeper ?? spanOf(found.key);
  }
  const steps = [...(key === undefined ? [] : [key]), ...(next === undefined ? [] : [next]), ...rest];
  for (const inside of insideAt) {
    const deeper = fieldAt(tokens, fragments, inside, steps, seen);
    if (deeper !== undefined) return deeper;
  }
  for (const name of spreads) {
    const fragment = fragments.get(name);
    if (fragment === undefined || seen.has(name)) continue;
    const deeper = fieldAt(tokens, fragments, fragment, steps, new Set([...seen, name]));
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** Finds the key of an argument or of an object within one, as deep as the steps lead. */
function valueAt(tokens: readonly Token[], start: number, [key, ...rest]: readonly string[]): Span | undefined {
  if (key === undefined) return undefined;
  const end = afterClosing(tokens, start);
  let depth = 0;
  for (let at = start; at < end; at++) {
    const token = tokens[at] as Token;
    if (token.text === '{' || token.text === '(') depth++;
    else if (token.text === '}' || token.text === ')') depth--;
    // Lists have no step of their own, so their elements have the same depth.
    if (depth === 0 && token.kind === 'name' && token.text === key && tokens[at + 1]?.text === ':') {
      let inner = at + 2;
      while (tokens[inner]?.text === '[') inner++;
      const deeper = tokens[inner]?.text === '{' ? valueAt(tokens, inner + 1, rest) : undefined;
      return deeper ?? spanOf(token);
    }
  }
  return undefined;
}

function spanOf({ from, to }: Token): Span {
  return { from, to };
}
