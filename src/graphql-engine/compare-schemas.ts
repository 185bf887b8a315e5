/**
 * Differences between two schemas of one role. Both are walked, except for types that are derived from objects that both have: most types
 * about tables are known to be equal without being built.
 */
import { SCHEMA } from './introspection/meta-types.ts';
import { type YieldTimer, startYieldTimer } from './introspection/yield-timer.ts';
import { createTypeWalk } from './introspection/type-walk.ts';
import { isBuiltIn, printNamedType, printRoots } from './sdl.ts';
import { type InputField, type NamedType, type OutputField, type RootTypes, derivedFrom, type TypeRef } from './types.ts';

export interface SchemaPair {
  readonly before: RootTypes;
  readonly after: RootTypes;
  /** Returns true if the object that a type is derived from is the same in both. */
  readonly isUnchanged: (by: object) => boolean;
  /** Called after every pause; an error that it throws ends the work. */
  readonly onResume?: () => void;
}

/** Documents of type definitions. */
export interface DifferingTexts {
  readonly before: string;
  readonly after: string;
}

type Types = ReadonlyMap<string, NamedType>;

/** The types that a walk found, and those that it skipped. */
interface WalkResult {
  readonly types: Types;
  readonly skipped: Types;
}

const NOTHING_UNCHANGED = (): boolean => false;

/**
 * Returns the complete definitions of types that differ. Equal types that these refer to are stubs such as `type author`, so that each text
 * is a document of its own; types with default values are complete, because values are parsed by type.
 * @returns null if nothing differs
 */
export async function compareSchemas({ before, after, isUnchanged: settled, onResume: goOn }: SchemaPair): Promise<DifferingTexts | null> {
  const timer = startYieldTimer(goOn);
  const [typesBefore, typesAfter] = await walkBoth(before, after, settled, timer);
  const names = [...new Set([...typesBefore.keys(), ...typesAfter.keys()])].sort();
  const texts: Differing[] = [];
  for (const name of names) {
    const [one, other] = [typesBefore.get(name), typesAfter.get(name)];
    if (one === other || isBuiltIn((one ?? other) as NamedType)) continue;
    const [a, b] = [await textOf(one, timer), await textOf(other, timer)];
    if (a !== b) texts.push({ name, one, other, before: a, after: b });
    if (timer.due()) await timer.yield();
  }
  if (texts.length === 0) return null;
  const context = await contextOf(texts, after, timer);
  const documentOf = (roots: RootTypes, side: 'before' | 'after'): string =>
    `${[printRoots(roots), ...texts.flatMap((each) => each[side] ?? []), ...context].join('\n\n')}\n`;
  return { before: documentOf(before, 'before'), after: documentOf(after, 'after') };
}

interface Differing {
  readonly name: string;
  readonly one: NamedType | undefined;
  readonly other: NamedType | undefined;
  /** `null` if there is no such type. */
  readonly before: string | null;
  readonly after: string | null;
}

async function textOf(type: NamedType | undefined, timer: YieldTimer): Promise<string | null> {
  return type === undefined ? null : printNamedType(type, new Set(), '', timer);
}

/** Returns the types of both schemas that may differ, and perhaps others. */
async function walkBoth(
  before: RootTypes,
  after: RootTypes,
  settled: (by: object) => boolean,
  timer: YieldTimer,
): Promise<readonly [Types, Types]> {
  const [typesBefore, typesAfter] = [await walkTypes(before, settled, timer), await walkTypes(after, settled, timer)];
  // A skipped type that only one walk found belongs to that schema only, with everything that it leads to.
  if (!sameKeys(typesBefore.skipped, typesAfter.skipped)) {
    return [(await walkTypes(before, NOTHING_UNCHANGED, timer)).types, (await walkTypes(after, NOTHING_UNCHANGED, timer)).types];
  }
  return [await complete(typesBefore, typesAfter.types, timer), await complete(typesAfter, typesBefore.types, timer)];
}

async function walkTypes(roots: RootTypes, settled: (by: object) => boolean, timer: YieldTimer): Promise<WalkResult> {
  const skipped = new Map<string, NamedType>();
  const walk = createTypeWalk(roots, [SCHEMA], (type) => {
    const by = derivedFrom(type);
    if (by === undefined || !settled(by)) return false;
    skipped.set(type.name, type);
    return true;
  });
  return { types: byName(await walk.all(timer)), skipped };
}

/** Adds types of the other side that only skipped types lead to, such as scalars. */
async function complete({ types, skipped }: WalkResult, others: Types, timer: YieldTimer): Promise<Types> {
  if (skipped.size === 0 || [...others.keys()].every((name) => types.has(name))) return types;
  const behind = byName(await createTypeWalk(null, [...skipped.values()]).all(timer));
  const all = new Map(types);
  for (const name of others.keys()) {
    const type = behind.get(name);
    if (type !== undefined && !all.has(name)) all.set(name, type);
  }
  return all;
}

function sameKeys(a: Types, b: Types): boolean {
  return a.size === b.size && [...a.keys()].every((name) => b.has(name));
}

function byName(types: readonly NamedType[]): Types {
  return new Map(types.map((type) => [type.name, type]));
}

const KEYWORDS: { readonly [kind in NamedType['kind']]: string } = {
  scalar: 'scalar',
  enum: 'enum',
  union: 'union',
  interface: 'interface',
  object: 'type',
  'input-object': 'input',
};

/** Returns definitions of the equal types that differing ones refer to, including the roots. */
async function contextOf(differing: readonly Differing[], roots: RootTypes, timer: YieldTimer): Promise<readonly string[]> {
  const definedNames = new Set(differing.map(({ name }) => name));
  const stubs = new Map<string, NamedType>();
  for (const root of [roots.query, roots.mutation, roots.subscription])
    if (root !== null && !definedNames.has(root.name)) stubs.set(root.name, root);
  const whole = new Map<string, NamedType>();
  const queue = differing.flatMap(({ one, other }) => [one, other].filter((type) => type !== undefined));
  for (const type of queue) {
    for (const { type: found, hasDefault } of referencesOf(type)) {
      if (definedNames.has(found.name) || isBuiltIn(found)) continue;
      if (!hasDefault && !whole.has(type.name)) stubs.set(found.name, found);
      else if (!whole.has(found.name)) {
        whole.set(found.name, found);
        queue.push(found);
      }
    }
    if (timer.due()) await timer.yield();
  }
  const texts = new Map([...stubs].map(([name, { kind }]) => [name, `${KEYWORDS[kind]} ${name}`]));
  for (const [name, type] of whole) texts.set(name, await printNamedType(type, new Set(), '', timer));
  return [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
}

interface Reference {
  readonly type: NamedType;
  readonly hasDefault: boolean;
}

function* referencesOf(type: NamedType): Iterable<Reference> {
  if (type.kind === 'input-object') yield* referencesOfInputs(type.fields());
  if (type.kind === 'object' || type.kind === 'interface') yield* referencesOfOutputs(type.fields());
  if (type.kind === 'union' || type.kind === 'interface') for (const member of type.members()) yield { type: member, hasDefault: false };
  if (type.kind === 'object' || type.kind === 'interface')
    for (const each of type.interfaces?.() ?? []) yield { type: each, hasDefault: false };
}

function* referencesOfOutputs(fields: ReadonlyMap<string, OutputField>): Iterable<Reference> {
  for (const { type, args } of fields.values()) {
    yield { type: innerType(type), hasDefault: false };
    yield* referencesOfInputs(args);
  }
}

function* referencesOfInputs(fields: ReadonlyMap<string, InputField>): Iterable<Reference> {
  for (const field of fields.values()) yield { type: innerType(field.type), hasDefault: field.default !== undefined };
}

function innerType(ref: TypeRef): NamedType {
  return ref.kind === 'list' ? innerType(ref.item) : ref.type();
}
