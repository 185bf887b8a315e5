/** The fenced blocks of a page, with their info strings. */

export interface Block {
  readonly language: string;
  /** The first word after the language; empty if there is none. */
  readonly kind: string;
  /** The words `name=value` after that. */
  readonly settings: ReadonlyMap<string, string>;
  readonly text: string;
  readonly line: number;
}

/** The words that each language permits; other languages are no examples. `shown` marks a block that is only displayed. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  graphql: ['run', 'shown'],
  http: ['run', 'shown'],
  json: ['metadata', 'variables', 'answer', 'shown'],
  sql: ['setup', 'shown'],
  text: ['answer', ''],
  sh: ['service', 'sample', 'run', 'background', 'reset', 'shown', ''],
};
/** Blocks in a list are indented. */
const FENCED = /^( *)```(\S*)([^\n]*)\n([\s\S]*?)^\1```$/gm;
/** A file of this name is written. */
const FILE = 'file';
/** The first line of a GraphQL example. Headers follow, one in each comment. */
const REQUEST = '# POST http://localhost:8080/v1/';

/**
 * @returns the blocks of a page in order
 * @throws Error with the lines of blocks that look like examples without being marked, or whose file, source or request is
 * not in the text that rendered pages show
 */
export function blocksOf(page: string): readonly Block[] {
  const blocks = [...page.matchAll(FENCED)].map(({ 1: indent = '', 2: language = '', 3: words = '', 4: text = '', index }) => {
    const given = words.trim().split(/\s+/).filter(Boolean);
    return {
      language,
      kind: given.find((word) => !word.includes('=')) ?? '',
      settings: new Map(given.filter((word) => word.includes('=')).map(split)),
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd(),
      line: page.slice(0, index).split('\n').length,
    };
  });
  const faults = [...blocks.filter((block) => !isKnown(block)).map(({ line }) => line), ...indentedExamples(page)];
  if (faults.length > 0) throw new Error(`examples that do not say whether and how they run, in lines ${faults.join(', ')}`);
  const untold = blocks.filter((block) => !isTold(block, page)).map(({ line }) => line);
  if (untold.length > 0)
    throw new Error(`nothing that readers see tells the file, the source or the request of the examples in lines ${untold.join(', ')}`);
  return blocks;
}

/** The text above a block names its file, the text right before it its source. GraphQL operations begin with their request. */
function isTold({ language, kind, settings, text, line }: Block, page: string): boolean {
  if (language === 'graphql' && kind === 'run') return settings.size === 0 && text.startsWith(REQUEST);
  const above = page.split('\n').slice(0, line - 1);
  const before = above.slice(above.findLastIndex((each) => /^ *```/.test(each)) + 1).join('\n');
  const prose = above.join('\n').replaceAll(FENCED, '');
  const isNamed = (name: string, shown: string): boolean => !settings.has(name) || shown.includes(`\`${settings.get(name)}\``);
  return isNamed('file', prose) && isNamed('source', before);
}

function split(word: string): [string, string] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}

function isKnown({ language, kind, settings, text }: Block): boolean {
  if (settings.has(FILE)) return kind === '';
  const known = KINDS[language];
  if (known === undefined) return kind === '' && !looksLikeRequest(text);
  return known.includes(kind) && (kind !== '' || !looksLikeRequest(text));
}

function looksLikeRequest(text: string): boolean {
  return /^\s*(?:curl\b|\{"(?:type|query)":)/m.test(text);
}

/** Indented code blocks have no info string. */
function indentedExamples(page: string): readonly number[] {
  const lines = page.replaceAll(FENCED, (block) => block.replaceAll(/[^\n]/g, '')).split('\n');
  return lines.flatMap((line, i) => (/^ {4}/.test(line) && looksLikeRequest(line) ? [i + 1] : []));
}
