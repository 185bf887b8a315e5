/** Difference between two schemas of a role, as readable lines. */
import type { JsonObject } from '../util/json.ts';
import type { Cooperative } from '../util/cooperative.ts';

/** Maximum number of lines of each kind in an answer. */
const MAX_LISTED = 500;

export interface SchemaDifference {
  /** `album.cost: numeric`, or a type: `input numeric_comparison_exp`. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly before: string; readonly after: string }[];
}

/** Lines or members per cooperative step. */
const STEP = 32;

/** @param before SDL printed by `printRoleSchema` @param after the same */
export function* schemaDifference(before: string, after: string): Cooperative<SchemaDifference> {
  const [old, now] = [yield* membersOf(before), yield* membersOf(after)];
  const added: string[] = [];
  const removed: string[] = [];
  const changed: { before: string; after: string }[] = [];
  let count = 0;
  for (const [key, line] of now) {
    if (++count % STEP === 0) yield;
    const was = old.get(key);
    // Members of a new type are not listed.
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

/** Encodes the difference for an answer, with shortened lists and full counts. */
export function encodeDifference({ added, removed, changed }: SchemaDifference): JsonObject {
  return {
    added: added.slice(0, MAX_LISTED),
    removed: removed.slice(0, MAX_LISTED),
    changed: changed.slice(0, MAX_LISTED).map(({ before, after }) => ({ before, after })),
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

/** Returns a line for each type and each member, without descriptions. */
function* membersOf(sdl: string): Cooperative<ReadonlyMap<string, string>> {
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
      // Arguments on lines of their own, with their descriptions.
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
