/** How the schema of a role differs from what it was, in lines that people read. */
import type { JsonObject } from '../util/json.ts';
import type { Sliced } from '../util/sliced.ts';

/** What is told of one kind of difference: the rest is counted. */
const MOST_LISTED = 500;

export interface SchemaDifference {
  /** `album.cost: numeric`, or a type: `input numeric_comparison_exp`. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly before: string; readonly after: string }[];
}

/** Lines, or members, of one step. */
const STEP = 32;

/** @param before SDL as `printRoleSchema` prints it */
export function* schemaDifference(before: string, after: string): Sliced<SchemaDifference> {
  const [old, now] = [yield* membersOf(before), yield* membersOf(after)];
  const added: string[] = [];
  const removed: string[] = [];
  const changed: { before: string; after: string }[] = [];
  let count = 0;
  for (const [key, line] of now) {
    if (++count % STEP === 0) yield;
    const was = old.get(key);
    // Of a type that is new its members are no news.
    if (was === undefined) {
      if (isTypeKey(key) || old.has(typeOf(key))) added.push(line);
    } else if (was !== line) changed.push({ before: was, after: line });
  }
  for (const [key, line] of old) {
    if (++count % STEP === 0) yield;
    if (!now.has(key) && (isTypeKey(key) || now.has(typeOf(key)))) removed.push(line);
  }
  return { added, removed, changed };
}

/** As it is answered: long lists are cut, with how many there are. */
export function encodeDifference({ added, removed, changed }: SchemaDifference): JsonObject {
  return {
    added: added.slice(0, MOST_LISTED),
    removed: removed.slice(0, MOST_LISTED),
    changed: changed.slice(0, MOST_LISTED).map(({ before, after }) => ({ before, after })),
    counts: { added: added.length, removed: removed.length, changed: changed.length },
  };
}

function isTypeKey(key: string): boolean {
  return !key.includes('.');
}

function typeOf(key: string): string {
  return key.slice(0, key.indexOf('.'));
}

const TYPE_LINE = /^(?:type|input|interface|enum|union|scalar) ([_A-Za-z0-9]+)/;
const MEMBER_LINE = /^ {2}([_A-Za-z0-9]+)/;

/** A line for each type and each of its members, without descriptions. */
function* membersOf(sdl: string): Sliced<ReadonlyMap<string, string>> {
  const members = new Map<string, string>();
  let type = '';
  let member: { readonly key: string; text: string } | null = null;
  let count = 0;
  for (let start = 0; start < sdl.length; ) {
    if (++count % STEP === 0) yield;
    const found = sdl.indexOf('\n', start);
    const end = found < 0 ? sdl.length : found;
    const line = sdl.slice(start, end);
    start = end + 1;
    if (member !== null) {
      // Arguments that stand on lines of their own, with what describes them.
      if (!/^ {4}"/.test(line)) member.text += /^ {4}/.test(line) ? `${line.trim()}, ` : line.trim();
      if (line.startsWith('  )')) {
        members.set(member.key, member.text.replace(', )', ')'));
        member = null;
      }
      continue;
    }
    const typed = TYPE_LINE.exec(line);
    if (typed !== null) {
      type = typed[1] as string;
      members.set(type, line.replace(/ \{$/, ''));
      continue;
    }
    const named = type === '' ? null : MEMBER_LINE.exec(line);
    if (named === null) continue;
    const key = `${type}.${named[1]}`;
    const text = `${type}.${line.trim()}`;
    if (line.endsWith('(')) member = { key, text };
    else members.set(key, text);
  }
  return members;
}
