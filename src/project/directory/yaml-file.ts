/** One YAML file as a document that keeps comments, and its values as JSON. */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type ScalarTag,
  type ToStringOptions,
  visit,
} from 'yaml';
import { type Json, JsonNumber, parseJson } from '../../util/json.ts';
import { failure, type Problem, ProjectFailure, reasonOf } from '../failure.ts';

/** Bytes of a file. */
const LARGEST_FILE = 64 * 1024 * 1024;
/** Nodes that aliases of one file may stand for. */
const MOST_ALIASED_NODES = 200_000;
const DEEPEST = 200;

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
  uniqueKeys: true,
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
    document = parseDocument(text, { ...OPTIONS, customTags: [...OPTIONS.customTags], lineCounter: lines, prettyErrors: false });
  } catch (thrown) {
    // Nesting without end exhausts the parser's stack.
    throw failure('yaml', thrown instanceof RangeError ? 'nested too deep' : reasonOf(thrown), { file: shown });
  }
  if (document.errors.length > 0) {
    throw new ProjectFailure(
      document.errors.map((error): Problem => {
        const { line, col } = lines.linePos(error.pos[0]);
        return { code: 'yaml', message: error.message, file: shown, line, column: col };
      }),
    );
  }
  return { path, shown, text, document, lines };
}

/** A file that does not exist yet, with this content. */
export function newYamlFile(path: string, shown: string, content: Json): YamlFile {
  const file = parseYamlFile(path, shown, '');
  file.document.contents = createNode(file, content) as Document['contents'];
  return file;
}

/** The document as text. */
export function printYamlFile({ document, text }: YamlFile): string {
  const { contents } = document;
  // `{a: 1}` or `{ a: 1 }`: as the file has it so far.
  const flowCollectionPadding = !/(?:[:-] +|, *)[{[][^\s{}[\]]/.test(text) || /(?:[:-] +|, *)[{[] +\S/.test(text);
  // An empty collection is what an empty section is.
  return document.toString(isSeq(contents) || isMap(contents) ? { ...STYLE, flowCollectionPadding } : { ...STYLE });
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
  return document.createNode(value, { aliasDuplicateObjects: false }) as Node;
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

/** Bounds what the aliases of a file may stand for. */
export class Expansion {
  #nodes = 0;
  readonly #file: YamlFile;

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
    const target = node.resolve(this.#file.document);
    if (target === undefined) throw failure('yaml', `there is no anchor "${node.source}" before this alias`, placeOf(this.#file, node));
    return target as Node;
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
