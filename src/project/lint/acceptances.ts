/** Warnings that the files accept with a reason, in a comment above their cause: `# svc-lint-accept: <rule> <reason>`. */
import { isMap, Lexer, visit } from 'yaml';
import { nearest } from '../../model/nearest.ts';
import { ACCEPT_KEYWORD, isAcceptComment } from '../directory/accept-comment.ts';
import type { YamlFile } from '../directory/yaml-file.ts';
import type { FilePlace, Problem } from '../failure.ts';
import { RULES } from './rules.ts';

/** A comment of this form, from its `#` to the end of the line. */
interface AcceptComment {
  readonly offset: number;
  readonly text: string;
}

export interface Acceptance {
  readonly place: FilePlace;
  readonly rule: string;
  readonly reason: string;
  covers(problem: Problem): boolean;
}

export interface ReadAcceptances {
  readonly acceptances: readonly Acceptance[];
  /** Comments that are invalid. */
  readonly problems: readonly Problem[];
}

const FORM = `# ${ACCEPT_KEYWORD}: <rule> <reason>`;

/** Returns the acceptances of a YAML file. Each covers the item or member that begins on the next line, or on its own line. */
export function acceptancesIn(file: YamlFile): ReadAcceptances {
  const acceptances: Acceptance[] = [];
  const problems: Problem[] = [];
  for (const { offset, text } of commentsOf(file.text)) {
    const { line, col } = file.lines.linePos(offset);
    const place = { file: file.shown, line, column: col };
    const read = readComment(text, place);
    if ('problem' in read) problems.push(read.problem);
    else {
      const target = targetOf(file, offset);
      const covers = (problem: Problem): boolean => {
        const at = problem.file === file.shown ? offsetOf(file, problem) : undefined;
        return target !== undefined && at !== undefined && at >= target.from && at < target.to;
      };
      acceptances.push({ ...read, place, covers });
    }
  }
  return { acceptances, problems };
}

/** Returns the acceptances of a file that is not a part of the metadata. They can only be about the file itself. */
export function acceptancesOfOrphan(shown: string, text: string): ReadAcceptances {
  const acceptances: Acceptance[] = [];
  const problems: Problem[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    const start = line.indexOf('#');
    if (start < 0 || line.slice(0, start).trim() !== '' || !isAcceptComment(line.slice(start))) continue;
    const place = { file: shown, line: i + 1, column: start + 1 };
    const read = readComment(line.slice(start), place);
    if ('problem' in read) problems.push(read.problem);
    else if (read.rule === 'orphan') acceptances.push({ ...read, place, covers: ({ code, file }) => code === 'orphan' && file === shown });
  }
  return { acceptances, problems };
}

/** @param text a file that is not a part of the metadata */
export function isAcceptedOrphan(text: string): boolean {
  return acceptancesOfOrphan('', text).acceptances.length > 0;
}

function readComment(text: string, place: FilePlace): { readonly rule: string; readonly reason: string } | { readonly problem: Problem } {
  const wrong = (code: string, message: string): { readonly problem: Problem } => ({ problem: { code, message, ...place } });
  const [, rule, reason = ''] = new RegExp(`^#\\s*${ACCEPT_KEYWORD}:\\s+(\\S+)\\s*(.*)$`).exec(text.trim()) ?? [];
  if (rule === undefined) return wrong('invalid-acceptance', `an accepted warning has the form ${FORM}`);
  if (!(RULES as readonly string[]).includes(rule)) {
    const meant = nearest(rule, RULES);
    const hint = meant === undefined ? `the rules are ${RULES.join(', ')}` : `did you mean "${meant}"?`;
    return wrong('unknown-rule', `there is no lint rule "${rule}": ${hint}`);
  }
  if (!/[\p{L}\p{N}]/u.test(reason))
    return wrong('missing-reason', `an accepted warning needs a reason: # ${ACCEPT_KEYWORD}: ${rule} <reason>`);
  return { rule, reason };
}

/** The lexeme that precedes each scalar. */
const SCALAR = '\u001f';
/** Lexemes that are not a part of the text. */
const MARKS: ReadonlySet<string> = new Set([SCALAR, '\u0002', '\u0018']);

function commentsOf(text: string): readonly AcceptComment[] {
  if (!text.includes(ACCEPT_KEYWORD)) return [];
  const found: AcceptComment[] = [];
  let offset = 0;
  let before = '';
  for (const lexeme of new Lexer().lex(text)) {
    if (before !== SCALAR && lexeme.startsWith('#') && isAcceptComment(lexeme)) found.push({ offset, text: lexeme });
    if (before === SCALAR || !MARKS.has(lexeme)) offset += lexeme.length;
    before = before === SCALAR ? '' : lexeme;
  }
  return found;
}

/** Returns the range of the outermost item or member that begins on the line below a comment, or on the line that it ends. */
function targetOf(file: YamlFile, comment: number): { readonly from: number; readonly to: number } | undefined {
  const { lines, text, document } = file;
  const own = lines.linePos(comment).line;
  const isTrailing = text.slice(lines.lineStarts[own - 1], comment).trim() !== '';
  const line = isTrailing ? own : lineBelow(text, own, lines.linePos(comment).col - 1);
  const isOnLine = (offset: number | undefined): offset is number => offset !== undefined && lines.linePos(offset).line === line;
  let found: { readonly from: number; readonly to: number } | undefined;
  visit(document, {
    Pair: (_, { key, value }) => {
      const [from, keyEnd] = rangeOf(key);
      if (!isOnLine(from)) return undefined;
      found = { from, to: rangeOf(value)[1] ?? keyEnd ?? from };
      return visit.BREAK;
    },
    Node: (key, node) => {
      // A file that is one object is covered as a whole.
      const isItem = typeof key === 'number' || (key === null && isMap(node));
      const [from, to] = rangeOf(node);
      if (!isItem || !isOnLine(from)) return undefined;
      found = { from, to: to ?? from };
      return visit.BREAK;
    },
  });
  return found;
}

function rangeOf(node: unknown): readonly [number?, number?] {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  return Array.isArray(range) ? (range as unknown as readonly [number, number]) : [];
}

/**
 * Returns the next line, from 1, that is neither blank nor a comment. None if it is indented less than the comment, whose item was removed
 * then.
 */
function lineBelow(text: string, line: number, indent: number): number {
  const below = text.split('\n').slice(line);
  const next = below.findIndex((each) => !/^\s*(?:#.*)?$/.test(each));
  const isOutside = (below[next] ?? '').search(/\S/) < indent;
  return next < 0 || isOutside ? Number.POSITIVE_INFINITY : line + next + 1;
}

function offsetOf({ lines }: YamlFile, { line, column = 1 }: FilePlace): number | undefined {
  const start = line === undefined ? undefined : lines.lineStarts[line - 1];
  return start === undefined ? undefined : start + column - 1;
}
