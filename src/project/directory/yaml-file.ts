/** A YAML file as a document that preserves comments, and its values as JSON. */
import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type ScalarTag,
  type ToStringOptions,
  visit,
  YAMLParseError,
} from 'yaml';
import { type Json, JsonNumber, parseJson } from '../../util/json.ts';
import { failure, type FilePlace, type Problem, ProjectFailure, reasonOf } from '../failure.ts';
import { MAX_DEPTH } from './reading-limits.ts';

/** Maximum number of nodes to which the aliases of one file expand. */
const MAX_ALIASED_NODES = 200_000;
/** Maximum number of scalars, marks and line ends of a file. Each takes about 500 bytes and 3 microseconds. */
const MAX_PARTS = 2_000_000;
/** Maximum number of reported errors of a file. The parser stops there, because it finds an error in every character of some files. */
const MAX_ERRORS = 100;

const includeTag: ScalarTag = { tag: '!include', identify: () => false, resolve: (text) => text };

/** Preserves numbers that a double cannot represent. */
const exactNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof JsonNumber,
  resolve: (text) => new JsonNumber(text),
  // Never matches: the types of the core schema read all numbers.
  test: /^(?!)/,
  stringify: ({ value }) => String(value),
};

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: true,
  intAsBigInt: true,
  // Compares each key with all previous ones; `duplicateKeys` uses a set.
  uniqueKeys: false,
  customTags: [includeTag, exactNumber],
} as const;
const STYLE: ToStringOptions = { lineWidth: 0, indent: 2, indentSeq: true };

export interface YamlFile {
  /** Absolute path. */
  readonly path: string;
  /** Path for messages. */
  readonly shown: string;
  readonly text: string;
  readonly document: Document;
  readonly lines: LineCounter;
}

/**
 * @param shown path for messages
 * @throws ProjectFailure with line and column of each error
 */
export function parseYamlFile(path: string, shown: string, text: string): YamlFile {
  const lines = new LineCounter();
  let document: Document;
  try {
    document = withoutTraces(() => composed(text, lines));
  } catch (thrown) {
    const place = thrown instanceof TooDeep ? lines.linePos(thrown.offset) : undefined;
    throw failure('yaml', reasonOf(thrown), { file: shown, ...(place === undefined ? {} : { line: place.line, column: place.col }) });
  }
  const problemAt = (message: string, offset: number): Problem => {
    const { line, col } = lines.linePos(offset);
    return { code: 'yaml', message, file: shown, line, column: col };
  };
  const errors = [
    ...document.errors.slice(0, MAX_ERRORS).map(({ message, pos }) => problemAt(message, pos[0])),
    ...duplicateKeys(document).map((offset) => problemAt('Map keys must be unique', offset)),
  ];
  if (errors.length > 0) throw new ProjectFailure(errors.slice(0, MAX_ERRORS));
  return { path, shown, text, document, lines };
}

/** Returns the first document of a text, with an error if there are several. */
function composed(text: string, lines: LineCounter): Document {
  let errors = 0;
  function* bounded(tokens: Iterable<CST.Token>): Generator<CST.Token> {
    for (const token of tokens) {
      rejectDeep(token);
      yield token;
      if (token.type === 'error') errors += 1;
      if (errors >= MAX_ERRORS) return;
    }
  }
  function* parsed(): Generator<CST.Token> {
    const parser = new Parser(lines.addNewLine);
    const guard = new Guard();
    lines.addNewLine(0);
    for (const lexeme of new Lexer().lex(text)) {
      guard.pass(lexeme, parser.offset);
      yield* parser.next(lexeme);
    }
    yield* parser.end();
  }
  const composer = new Composer({ ...OPTIONS, customTags: [...OPTIONS.customTags], prettyErrors: false });
  let first: Document.Parsed | undefined;
  for (const document of composer.compose(bounded(parsed()), true, text.length)) {
    if (first === undefined) first = document;
    else {
      first.errors.push(new YAMLParseError([document.range[0], document.range[1]], 'MULTIPLE_DOCS', 'the file has more than one document'));
      break;
    }
  }
  // An empty text also has a document.
  return first as Document;
}

class TooDeep extends Error {
  /** Offset in the text. */
  readonly offset: number;

  constructor(offset: number) {
    super(`nested deeper than ${MAX_DEPTH}`);
    this.offset = offset;
  }
}

/** Rejects a document whose nesting would exhaust the stack, that of the composer first. @throws TooDeep */
function rejectDeep(token: CST.Token): void {
  if (token.type !== 'document' || token.value === undefined) return;
  let level: CST.Token[] = [token.value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new TooDeep(level[0]?.offset ?? 0);
    level = level.flatMap((each) => ('items' in each ? each.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat()) : []));
  }
}

/** Lexeme before a scalar. */
const SCALAR = '\u001f';
const EMPTY_BEFORE_COMMA: ReadonlySet<string> = new Set([',', '[', '{', '?']);
const BLOCK_MARKS: ReadonlySet<string> = new Set(['-', '?', ':']);

/** Stops the parser in a malformed file before it builds a tree, which takes gigabytes for some megabytes. */
class Guard {
  #parts = 0;
  #depth = 0;
  /** Nested marks of one line: `- - -`. */
  #marks = 0;
  #empty = 0;
  #before = '';
  #isText = false;

  /** @param offset of the lexeme @throws Error */
  pass(lexeme: string, offset: number): void {
    if (this.#isText) {
      this.#isText = false;
      return;
    }
    if (lexeme === SCALAR) this.#isText = true;
    else if (/^[ \t]+$/.test(lexeme)) return;
    this.#parts += 1;
    if (this.#parts > MAX_PARTS) throw new Error(`the file has more than ${MAX_PARTS} values, marks and lines`);
    if (lexeme === '[' || lexeme === '{') this.#depth += 1;
    else if (lexeme === ']' || lexeme === '}') this.#depth = Math.max(0, this.#depth - 1);
    this.#marks = BLOCK_MARKS.has(lexeme) && BLOCK_MARKS.has(this.#before) ? this.#marks + 1 : 0;
    if (Math.max(this.#depth, this.#marks) > MAX_DEPTH) throw new TooDeep(offset);
    if (lexeme === ',' && EMPTY_BEFORE_COMMA.has(this.#before)) this.#empty += 1;
    if (this.#empty > MAX_ERRORS) throw new Error(`lists and objects have more than ${MAX_ERRORS} commas without a value before them`);
    this.#before = lexeme;
  }
}

/** Runs work without stack traces: the many errors of a file would each store one. */
function withoutTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Returns the offsets of duplicate keys. */
function duplicateKeys(document: Document): readonly number[] {
  const found: number[] = [];
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<string>();
      for (const pair of map.items as Pair<Node>[]) {
        if (isMergeKey(pair) || !isScalar(pair.key)) continue;
        const key = `${typeof pair.key.value} ${String(pair.key.value)}`;
        if (seen.has(key)) found.push(pair.key.range?.[0] ?? 0);
        seen.add(key);
      }
      return found.length < MAX_ERRORS ? undefined : visit.BREAK;
    },
  });
  return found;
}

/** Makes a new file with this content. */
export function newYamlFile(path: string, shown: string, content: Json): YamlFile {
  const file = parseYamlFile(path, shown, '');
  file.document.contents = createNode(file, content) as Document['contents'];
  return file;
}

export function printYamlFile(file: YamlFile): string {
  const { document, text } = file;
  const { contents } = document;
  // `{a: 1}` or `{ a: 1 }`, as in the file so far.
  const flowCollectionPadding = !/(?:[:-] +|, *)[{[][^\s{}[\]]/.test(text) || /(?:[:-] +|, *)[{[] +\S/.test(text);
  const style = { ...STYLE, ...indentationOf(file) };
  visit(document, { Pair: (_, pair) => (isMergeKey(pair) ? undefined : quoteMergeKey(pair)) });
  return document.toString(isSeq(contents) || isMap(contents) ? { ...style, flowCollectionPadding } : style);
}

/** Detects the indentation of a file from the first map and the first list below a key. */
function indentationOf({ document, lines }: YamlFile): { readonly indent?: number; readonly indentSeq?: boolean } {
  const placeOf = (node: unknown): { readonly line: number; readonly col: number } | undefined => {
    const offset = isNode(node) ? node.range?.[0] : undefined;
    return offset === undefined ? undefined : lines.linePos(offset);
  };
  const found: { indent?: number; indentSeq?: boolean } = {};
  visit(document, {
    Pair: (_, { key, value }) => {
      const isBlock = isCollection(value) && value.flow !== true && value.items.length > 0;
      const [outer, inner] = [placeOf(key), isBlock ? placeOf(value) : undefined];
      // A list or map on the line of its key was empty in the file.
      if (outer === undefined || inner === undefined || inner.line === outer.line) return undefined;
      if (isSeq(value)) found.indentSeq ??= inner.col > outer.col;
      if (inner.col > outer.col) found.indent ??= inner.col - outer.col;
      return found.indent !== undefined && found.indentSeq !== undefined ? visit.BREAK : undefined;
    },
  });
  return found;
}

/** Returns the text with all aliases and merge keys expanded; `undefined` if there are none. */
export function withoutAliases({ path, shown, text }: YamlFile): string | undefined {
  // Parsed again, because other readers use the nodes of the file.
  const file = parseYamlFile(path, shown, text);
  const { document } = file;
  const expansion = new Expansion(file);
  let found = false;
  visit(document, {
    Alias: (_, alias) => {
      found = true;
      const clone = (expansion.resolve(alias) as Node).clone() as Node;
      visit(clone, (__, node) => expansion.enter(node as Node, 0, true));
      return clone;
    },
  });
  if (!found) return undefined;
  visit(document, {
    Map: (_, map) => {
      const merges = map.items.filter((pair) => isMergeKey(pair as Pair)) as Pair<Node, Node | null>[];
      if (merges.length === 0) return undefined;
      const own = map.items.filter((pair) => !isMergeKey(pair as Pair)) as Pair[];
      for (const { value } of merges)
        for (const part of isSeq(value) ? value.items : [value])
          for (const pair of isMap(part) ? (part.items as Pair[]) : [])
            if (!own.some((each) => keyText(each) === keyText(pair))) own.push(pair);
      map.items = own;
      return map;
    },
    Node: (_, node) => {
      if ('anchor' in node) delete node.anchor;
      return undefined;
    },
  });
  return printYamlFile(file);
}

/**
 * Creates a node for a value: plain if unambiguous, or else in double quotes; several lines as a block.
 * @param member key of the value in its object
 */
export function createNode({ document }: YamlFile, value: Json, member?: string): Node {
  const node = document.createNode(value, { aliasDuplicateObjects: false }) as Node;
  tagName(node, member);
  visit(node, {
    Pair(_, pair) {
      quoteMergeKey(pair);
      tagName(pair.value, keyText(pair));
    },
  });
  return node;
}

/** Gives a number or boolean its type where a bare one would be a name. */
function tagName(node: unknown, member: string | undefined): void {
  if (!isScalar(node) || member === undefined || !NAMES.has(member) || typeof node.value === 'string' || node.value === null) return;
  const type = typeof node.value === 'boolean' ? 'bool' : /^-?\d+$/.test(String(node.value)) ? 'int' : 'float';
  node.tag = `tag:yaml.org,2002:${type}`;
}

/** Creates a pair without a value. */
export function createMember({ document }: YamlFile, key: string): Pair<Node, Node | null> {
  const pair = document.createPair(key, null);
  quoteMergeKey(pair);
  return pair as Pair<Node, Node | null>;
}

/** Quotes the key `<<` of a value, which is not a merge key. The printer removes the quotes unless the text has a tag. */
function quoteMergeKey({ key }: Pair): void {
  if (!isScalar(key) || key.value !== '<<') return;
  key.type = 'QUOTE_DOUBLE';
  key.tag = 'tag:yaml.org,2002:str';
}

/** Returns the place of a node for messages. */
export function placeOf(file: YamlFile, node: Node | null | undefined): FilePlace {
  const offset = node?.range?.[0];
  if (offset === undefined) return { file: file.shown };
  const { line, col } = file.lines.linePos(offset);
  return { file: file.shown, line, column: col };
}

/** Returns the text of a key, also for `1`, `true` and `null`. */
export function keyText(pair: Pair): string {
  const { key } = pair;
  if (isScalar(key)) return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
  return String(key);
}

export function isMergeKey(pair: Pair): boolean {
  return (
    isScalar(pair.key) &&
    (pair.key.value === '<<' || typeof pair.key.value === 'symbol') &&
    pair.key.type !== 'QUOTE_DOUBLE' &&
    pair.key.type !== 'QUOTE_SINGLE'
  );
}

/** Keys whose values are names, so that a bare number or `true` without a tag is text. */
const NAMES: ReadonlySet<string> = new Set(['role', 'role_name', 'name', 'schema', 'collection', 'type_name', 'custom_name']);

export function scalarJson(node: Scalar, member: string | undefined): Json {
  const { value } = node;
  if (typeof value === 'string' || value === null) return value;
  if (member !== undefined && NAMES.has(member) && node.tag === undefined) return node.source ?? String(value);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return parseJson(String(value));
  if (value instanceof JsonNumber) return value;
  if (typeof value === 'number') {
    const source = node.source ?? String(value);
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(source)) return parseJson(source);
    if (Number.isFinite(value)) return value;
    return source;
  }
  return String(value);
}

/** Returns the targets of aliases: the nearest preceding node with the anchor. */
function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target !== undefined) targets.set(node, target);
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node);
      return undefined;
    },
  });
  return targets;
}

/** Resolves the aliases of a file, and limits their expansion. */
export class Expansion {
  #nodes = 0;
  readonly #file: YamlFile;
  #targets: ReadonlyMap<Alias, Node> | undefined;

  constructor(file: YamlFile) {
    this.#file = file;
  }

  /** @throws ProjectFailure */
  enter(node: Node, depth: number, aliased: boolean): void {
    if (depth > MAX_DEPTH) throw failure('yaml', `nested deeper than ${MAX_DEPTH}`, placeOf(this.#file, node));
    if (!aliased) return;
    this.#nodes += 1;
    if (this.#nodes > MAX_ALIASED_NODES)
      throw failure('yaml', `the aliases expand to more than ${MAX_ALIASED_NODES} values`, placeOf(this.#file, node));
  }

  /** Returns the target of an alias, or the node itself. @throws ProjectFailure */
  resolve(node: Node): Node {
    if (!isAlias(node)) return node;
    this.#targets ??= aliasTargets(this.#file.document);
    const target = this.#targets.get(node);
    if (target === undefined) throw failure('yaml', `there is no anchor "${node.source}" before this alias`, placeOf(this.#file, node));
    return target;
  }
}

/** Returns the path of an include in any of its four forms; `undefined` for other nodes. */
export function includedPath(node: Node | null | undefined): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'string') return undefined;
  const text = node.tag === '!include' ? node.value : /^!include\s+(.*)$/s.exec(node.value)?.[1];
  if (text === undefined) return undefined;
  const path = text.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(path);
  return quoted === null ? path : (quoted[2] as string);
}
