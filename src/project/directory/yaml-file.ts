/** One YAML file as a document that keeps comments, and its values as JSON. */
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
import { failure, type Problem, ProjectFailure, reasonOf } from '../failure.ts';

/** Bytes of a file. */
const LARGEST_FILE = 64 * 1024 * 1024;
/** Nodes that aliases of one file may stand for. */
const MOST_ALIASED_NODES = 200_000;
const DEEPEST = 200;
/** Parts of a file but for spaces: scalars, marks and ends of lines. Each takes some 500 bytes and 3 microseconds. */
const MOST_PARTS = 2_000_000;
/** Errors of one file that are reported. The parser ends at this number, as it finds one in every character of some files. */
const MOST_ERRORS = 100;

const includeTag: ScalarTag = { tag: '!include', identify: () => false, resolve: (text) => text };

/** Numbers that a double does not keep are printed as they were written. */
const exactNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof JsonNumber,
  resolve: (text) => new JsonNumber(text),
  // Never of a text that is read: the types of the core schema are tried before.
  test: /^(?!)/,
  stringify: ({ value }) => String(value),
};

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: true,
  intAsBigInt: true,
  // Compares each key with all before it; `duplicateKeys` does not.
  uniqueKeys: false,
  customTags: [includeTag, exactNumber],
} as const;
const STYLE: ToStringOptions = { lineWidth: 0, indent: 2, indentSeq: true };

export interface YamlFile {
  /** Absolute. */
  readonly path: string;
  /** For messages. */
  readonly shown: string;
  readonly text: string;
  readonly document: Document;
  readonly lines: LineCounter;
}

/**
 * @param shown how messages name the file
 * @throws ProjectFailure with line and column of each error
 */
export function parseYamlFile(path: string, shown: string, text: string): YamlFile {
  if (text.length > LARGEST_FILE) throw failure('too-large', `the file has more than ${LARGEST_FILE} characters`, { file: shown });
  const lines = new LineCounter();
  let document: Document;
  try {
    document = withoutTraces(() => composed(text, lines));
  } catch (thrown) {
    // Nesting without end exhausts the parser's stack.
    throw failure('yaml', thrown instanceof RangeError ? 'nested too deep' : reasonOf(thrown), { file: shown });
  }
  const problemAt = (message: string, offset: number): Problem => {
    const { line, col } = lines.linePos(offset);
    return { code: 'yaml', message, file: shown, line, column: col };
  };
  const errors = [
    ...document.errors.slice(0, MOST_ERRORS).map(({ message, pos }) => problemAt(message, pos[0])),
    ...duplicateKeys(document).map((offset) => problemAt('Map keys must be unique', offset)),
  ];
  if (errors.length > 0) throw new ProjectFailure(errors.slice(0, MOST_ERRORS));
  return { path, shown, text, document, lines };
}

/** The first document of a text; it has errors where there are several. */
function composed(text: string, lines: LineCounter): Document {
  let errors = 0;
  function* bounded(tokens: Iterable<CST.Token>): Generator<CST.Token> {
    for (const token of tokens) {
      yield token;
      if (token.type === 'error') errors += 1;
      if (errors >= MOST_ERRORS) return;
    }
  }
  function* parsed(): Generator<CST.Token> {
    const parser = new Parser(lines.addNewLine);
    const guard = new Guard();
    lines.addNewLine(0);
    for (const lexeme of new Lexer().lex(text)) {
      guard.pass(lexeme);
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
  // An empty text has a document, too.
  return first as Document;
}

/** Before a scalar of the next lexeme. */
const SCALAR = '\u001f';
const EMPTY_BEFORE_COMMA: ReadonlySet<string> = new Set([',', '[', '{', '?']);
const BLOCK_MARKS: ReadonlySet<string> = new Set(['-', '?', ':']);

/** Ends the parser in a malformed file before it has built a tree of it, which takes gigabytes for some megabytes. */
class Guard {
  #parts = 0;
  #depth = 0;
  /** Marks of one line that open one another: `- - -`. */
  #marks = 0;
  #empty = 0;
  #before = '';
  #isText = false;

  /** @throws Error */
  pass(lexeme: string): void {
    if (this.#isText) {
      this.#isText = false;
      return;
    }
    if (lexeme === SCALAR) this.#isText = true;
    else if (/^[ \t]+$/.test(lexeme)) return;
    this.#parts += 1;
    if (this.#parts > MOST_PARTS) throw new Error(`the file has more than ${MOST_PARTS} values, marks and lines`);
    if (lexeme === '[' || lexeme === '{') this.#depth += 1;
    else if (lexeme === ']' || lexeme === '}') this.#depth = Math.max(0, this.#depth - 1);
    this.#marks = BLOCK_MARKS.has(lexeme) && BLOCK_MARKS.has(this.#before) ? this.#marks + 1 : 0;
    if (Math.max(this.#depth, this.#marks) > DEEPEST) throw new RangeError();
    if (lexeme === ',' && EMPTY_BEFORE_COMMA.has(this.#before)) this.#empty += 1;
    if (this.#empty > MOST_ERRORS) throw new Error(`lists and objects have more than ${MOST_ERRORS} commas with nothing before them`);
    this.#before = lexeme;
  }
}

/** Runs work whose errors are values: each would keep the names of ten functions. */
function withoutTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Returns the offsets of keys that their map has twice. */
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
      return found.length < MOST_ERRORS ? undefined : visit.BREAK;
    },
  });
  return found;
}

/** A file that does not exist yet, with this content. */
export function newYamlFile(path: string, shown: string, content: Json): YamlFile {
  const file = parseYamlFile(path, shown, '');
  file.document.contents = createNode(file, content) as Document['contents'];
  return file;
}

/** The document as text. */
export function printYamlFile(file: YamlFile): string {
  const { document, text } = file;
  const { contents } = document;
  // `{a: 1}` or `{ a: 1 }`: as the file has it so far.
  const flowCollectionPadding = !/(?:[:-] +|, *)[{[][^\s{}[\]]/.test(text) || /(?:[:-] +|, *)[{[] +\S/.test(text);
  // An empty collection is what an empty section is.
  const style = { ...STYLE, ...indentationOf(file) };
  visit(document, { Pair: (_, pair) => (isMergeKey(pair) ? undefined : quoteMergeKey(pair)) });
  return document.toString(isSeq(contents) || isMap(contents) ? { ...style, flowCollectionPadding } : style);
}

/** How a file indents, read from the first map and the first list below a key. */
function indentationOf({ document, lines }: YamlFile): { readonly indent?: number; readonly indentSeq?: boolean } {
  const columnOf = (node: unknown): number | undefined => {
    const offset = isNode(node) ? node.range?.[0] : undefined;
    return offset === undefined ? undefined : lines.linePos(offset).col;
  };
  const found: { indent?: number; indentSeq?: boolean } = {};
  visit(document, {
    Pair: (_, { key, value }) => {
      const isBlock = isCollection(value) && value.flow !== true && value.items.length > 0;
      const [outer, inner] = [columnOf(key), isBlock ? columnOf(value) : undefined];
      if (outer === undefined || inner === undefined) return undefined;
      if (isSeq(value)) found.indentSeq ??= inner > outer;
      if (inner > outer) found.indent ??= inner - outer;
      return found.indent !== undefined && found.indentSeq !== undefined ? visit.BREAK : undefined;
    },
  });
  return found;
}

/** The text with every alias and merge key replaced by what it stands for; undefined: there are none. */
export function withoutAliases({ path, shown, text }: YamlFile): string | undefined {
  // Read anew: the nodes of the file belong to whoever reads it.
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

/** A node for the value: plain where unambiguous, else double quotes; several lines as a block. */
export function createNode({ document }: YamlFile, value: Json): Node {
  const node = document.createNode(value, { aliasDuplicateObjects: false }) as Node;
  visit(node, { Pair: (_, pair) => quoteMergeKey(pair) });
  return node;
}

/** A member without a value yet. */
export function createMember({ document }: YamlFile, key: string): Pair<Node, Node | null> {
  const pair = document.createPair(key, null);
  quoteMergeKey(pair);
  return pair as Pair<Node, Node | null>;
}

/** The key `<<` of a value is no merge key. The printer takes off its quotes, but not those of a text with a tag. */
function quoteMergeKey({ key }: Pair): void {
  if (!isScalar(key) || key.value !== '<<') return;
  key.type = 'QUOTE_DOUBLE';
  key.tag = 'tag:yaml.org,2002:str';
}

/** Where a node is, for messages. */
export function placeOf(file: YamlFile, node: Node | null | undefined): Pick<Problem, 'file' | 'line' | 'column'> {
  const offset = node?.range?.[0];
  if (offset === undefined) return { file: file.shown };
  const { line, col } = file.lines.linePos(offset);
  return { file: file.shown, line, column: col };
}

/** The text of a key: `1`, `true` and `null` are names as they are written. */
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

/** Members whose values are names: a bare number or `true` there is text. */
const NAMES: ReadonlySet<string> = new Set(['role', 'role_name', 'name', 'schema', 'collection', 'type_name', 'custom_name']);

export function scalarJson(node: Scalar, member: string | undefined): Json {
  const { value } = node;
  if (typeof value === 'string' || value === null) return value;
  if (member !== undefined && NAMES.has(member)) return node.source ?? String(value);
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

/** Targets of the aliases of a document: the nearest node before each that has its anchor. */
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

/** Bounds what the aliases of a file may stand for. */
export class Expansion {
  #nodes = 0;
  readonly #file: YamlFile;
  #targets: ReadonlyMap<Alias, Node> | undefined;

  constructor(file: YamlFile) {
    this.#file = file;
  }

  /** @throws ProjectFailure */
  enter(node: Node, depth: number, aliased: boolean): void {
    if (depth > DEEPEST) throw failure('yaml', `nested deeper than ${DEEPEST}`, placeOf(this.#file, node));
    if (!aliased) return;
    this.#nodes += 1;
    if (this.#nodes > MOST_ALIASED_NODES)
      throw failure('yaml', `the aliases stand for more than ${MOST_ALIASED_NODES} values`, placeOf(this.#file, node));
  }

  /** What an alias stands for. @throws ProjectFailure */
  resolve(node: Node): Node {
    if (!isAlias(node)) return node;
    this.#targets ??= aliasTargets(this.#file.document);
    const target = this.#targets.get(node);
    if (target === undefined) throw failure('yaml', `there is no anchor "${node.source}" before this alias`, placeOf(this.#file, node));
    return target;
  }
}

/** The path that an include names, in each of its four spellings; undefined: the node is none. */
export function includedPath(node: Node | null | undefined): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'string') return undefined;
  const text = node.tag === '!include' ? node.value : /^!include\s+(.*)$/s.exec(node.value)?.[1];
  if (text === undefined) return undefined;
  const path = text.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(path);
  return quoted === null ? path : (quoted[2] as string);
}
