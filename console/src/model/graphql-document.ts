/** Reads GraphQL documents while they are being written: tokens, the context at a cursor, operations, formatting. Nothing here throws. */

export interface Token {
  readonly kind: 'name' | 'punctuator' | 'variable' | 'string' | 'number' | 'comment' | 'directive';
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const TOKENS =
  /("""[\s\S]*?(?:"""|$)|"(?:[^"\\\n]|\\.)*"?)|(#[^\n]*)|(\$\w*)|(@\w*)|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\.\.\.|[{}()[\]:=!|&])/g;
const KINDS = ['string', 'comment', 'variable', 'directive', 'number', 'name', 'punctuator'] as const;

export function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKENS)].map((match) => {
    const index = KINDS.findIndex((_, place) => match[place + 1] !== undefined);
    return { kind: KINDS[index] ?? 'punctuator', text: match[0], from: match.index, to: match.index + match[0].length };
  });
}

export type OperationKind = 'query' | 'mutation' | 'subscription';

/** Context of a cursor. */
export type CursorPlace =
  | { readonly kind: 'document' }
  /** In a selection set. `path` leads from the root type, or from `type` in a fragment. */
  | { readonly kind: 'fields'; readonly operation: OperationKind; readonly type: string | undefined; readonly path: readonly string[] }
  /** In the arguments of the last field of the path, or in an object within one. */
  | {
      readonly kind: 'arguments';
      readonly operation: OperationKind;
      readonly type: string | undefined;
      readonly path: readonly string[];
      readonly keys: readonly string[];
    }
  /** At the value of the last key. */
  | {
      readonly kind: 'value';
      readonly operation: OperationKind;
      readonly type: string | undefined;
      readonly path: readonly string[];
      readonly keys: readonly string[];
    }
  | { readonly kind: 'none' };

interface Frame {
  readonly mark: '{' | '(' | 'object' | '[' | 'variables' | 'directive';
  /** Field of a selection set; undefined for that of the operation. */
  readonly name: string | undefined;
  readonly fragmentType?: string | undefined;
}

/** Returns the context at a position. The document need not be complete. */
export function placeAt(text: string, at: number): CursorPlace {
  const all = tokensOf(text.slice(0, at));
  const last = all.at(-1);
  if (last !== undefined && (last.kind === 'comment' || last.kind === 'string') && last.to === at) return { kind: 'none' };
  // The word at the cursor is still being typed.
  const tokens = last !== undefined && last.to === at && (last.kind === 'name' || last.kind === 'variable') ? all.slice(0, -1) : all;
  let operation: OperationKind = 'query';
  let frames: Frame[] = [];
  let name: string | undefined;
  let fragmentType: string | undefined;
  let before: Token | undefined;
  let beforeThat: Token | undefined;
  for (const token of tokens) {
    if (token.kind === 'comment') continue;
    const top = frames.at(-1);
    if (token.kind === 'name') {
      if (top === undefined) {
        if (token.text === 'query' || token.text === 'mutation' || token.text === 'subscription') operation = token.text;
        if (before?.text === 'on') fragmentType = token.text;
      } else if (top.mark === '{') {
        if (before?.text === 'on' && beforeThat?.text === '...') fragmentType = token.text;
        else if (before?.text !== '...') {
          name = token.text;
          fragmentType = undefined;
        }
      } else if (before?.text !== ':') name = token.text;
    } else if (token.text === '{') {
      if (top === undefined) frames.push({ mark: '{', name: undefined, fragmentType });
      else if (top.mark === '{') frames.push({ mark: '{', name: fragmentType === undefined ? name : undefined, fragmentType });
      else frames.push({ mark: 'object', name: top.mark === '[' ? undefined : name });
      fragmentType = undefined;
      name = undefined;
    } else if (token.text === '(') {
      if (top === undefined) frames.push({ mark: 'variables', name: undefined });
      else frames.push({ mark: before?.kind === 'directive' ? 'directive' : '(', name });
      name = undefined;
    } else if (token.text === '[') {
      if (top !== undefined && top.mark !== '{') frames.push({ mark: '[', name });
      name = undefined;
    } else if (token.text === '}' || token.text === ')' || token.text === ']') {
      const closed = frames.at(-1);
      frames = frames.slice(0, -1);
      name = closed?.mark === '(' || closed?.mark === 'directive' ? closed.name : undefined;
      if (frames.length === 0 && token.text === '}') operation = 'query';
    }
    beforeThat = before;
    before = token;
  }
  const top = frames.at(-1);
  if (top === undefined) return { kind: 'document' };
  if (top.mark === 'variables' || top.mark === 'directive') return { kind: 'none' };
  const selections = frames.filter(({ mark }) => mark === '{');
  const start = selections.findLastIndex((frame) => frame.fragmentType !== undefined);
  const type = start < 0 ? undefined : selections[start]?.fragmentType;
  const path = selections.slice(start < 0 ? 0 : start).flatMap((frame) => frame.name ?? []);
  if (top.mark === '{') return { kind: 'fields', operation, type, path };
  const inside = frames.slice(frames.findLastIndex(({ mark }) => mark === '{') + 1);
  const [call, ...values] = inside;
  const keys = values.flatMap((frame) => frame.name ?? []);
  const where = { operation, type, path: [...path, ...(call?.name === undefined ? [] : [call.name])] };
  if (before?.text === ':' && name !== undefined) return { kind: 'value', ...where, keys: [...keys, name] };
  if (top.mark === '[') return { kind: 'value', ...where, keys };
  return { kind: 'arguments', ...where, keys };
}

export interface OperationInDocument {
  readonly kind: OperationKind;
  readonly name: string | undefined;
  readonly from: number;
  readonly to: number;
}

/** Lists the operations of a document. */
export function operationsOf(text: string): readonly OperationInDocument[] {
  const found: OperationInDocument[] = [];
  let depth = 0;
  let start: { kind: OperationKind | 'fragment'; name: string | undefined; from: number } | undefined;
  for (const token of tokensOf(text)) {
    if (token.kind === 'comment') continue;
    if (depth === 0 && start === undefined) {
      if (token.text === '{') start = { kind: 'query', name: undefined, from: token.from };
      else if (/^(?:query|mutation|subscription|fragment)$/.test(token.text)) {
        start = { kind: token.text as OperationKind | 'fragment', name: undefined, from: token.from };
        continue;
      }
    } else if (depth === 0 && start !== undefined && start.name === undefined && token.kind === 'name')
      start = { ...start, name: token.text };
    if (/^[{([]$/.test(token.text)) depth++;
    else if (/^[})\]]$/.test(token.text)) {
      depth = Math.max(0, depth - 1);
      if (depth === 0 && token.text === '}' && start !== undefined) {
        if (start.kind !== 'fragment') found.push({ kind: start.kind, name: start.name, from: start.from, to: token.to });
        start = undefined;
      }
    }
  }
  return found;
}

/** Formats a document. Comments stay. */
export function formatDocument(text: string): string {
  let out = '';
  let depth = 0;
  let parentheses = 0;
  let before: Token | undefined;
  const newLine = (): void => {
    out = `${out.trimEnd()}\n${'  '.repeat(depth)}`;
  };
  // Braces in parentheses are values, which stay on one line.
  for (const token of tokensOf(text)) {
    const sameLine = before !== undefined && !text.slice(before.to, token.from).includes('\n');
    if (token.kind === 'comment') {
      if (before !== undefined && sameLine) out = `${out.trimEnd()} `;
      else if (before !== undefined) newLine();
      out += token.text;
      newLine();
    } else if (parentheses > 0) {
      if (token.text === '(' || token.text === '[' || token.text === '{') parentheses++;
      if (/^[)\]}]$/.test(token.text)) parentheses--;
      const isTight = /^[)\]}:!]$/.test(token.text) || before === undefined || /^[([{]$/.test(before.text);
      const separator =
        before?.text === ':' || before?.text === '=' || token.text === '=' || before?.kind === 'comment' || token.kind === 'directive'
          ? ' '
          : ', ';
      out = isTight ? out.trimEnd() : `${out.trimEnd()}${separator}`;
      out += token.text;
    } else if (token.text === '{') {
      out = `${out.trimEnd()}${before === undefined || before.text === '}' ? '' : ' '}{`;
      depth++;
      newLine();
    } else if (token.text === '}') {
      depth = Math.max(0, depth - 1);
      newLine();
      out += '}';
      if (depth === 0) out += '\n';
      newLine();
    } else if (token.text === '(') {
      parentheses = 1;
      out = `${out.trimEnd()}(`;
    } else if (token.text === ':' || token.text === '!') out = `${out.trimEnd()}${token.text} `;
    else if (token.text === '...') {
      if (before !== undefined && before.text !== '{' && before.text !== '}') newLine();
      out += '...';
    } else if (before === undefined || before.text === '{' || before.text === '}' || before.kind === 'comment') out += token.text;
    else if (before.text === ':' || before.text === '...')
      out = `${out.trimEnd()}${before.text === '...' && token.text !== 'on' ? '' : ' '}${token.text}`;
    else if (token.kind === 'directive' || depth === 0 || before.text === 'on' || before.kind === 'directive')
      out = `${out.trimEnd()} ${token.text}`;
    else {
      newLine();
      out += token.text;
    }
    before = token;
  }
  return `${out.trim()}\n`;
}
