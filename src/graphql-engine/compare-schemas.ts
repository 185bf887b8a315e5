/**
 * What two schemas of one role differ in. Both are walked, but for the types that are settled by objects that both have: of most
 * types about tables that is known without making them.
 */
import { SCHEMA } from './introspection/meta-types.ts';
import { type Slices, startSlices } from './introspection/slices.ts';
import { createTypeWalk } from './introspection/type-walk.ts';
import { isBuiltIn, printNamedType, printRoots } from './sdl.ts';
import { type InputField, type NamedType, type OutputField, type RootTypes, settledBy, type TypeRef } from './types.ts';

export interface SchemaPair {
  readonly before: RootTypes;
  readonly after: RootTypes;
  /** Whether what the object settles is the same in both. */
  readonly settled: (by: object) => boolean;
  /** Called at every pause; what it throws ends the work. */
  readonly goOn?: () => void;
}

/** Documents of type definitions. */
export interface DifferingTexts {
  readonly before: string;
  readonly after: string;
}

type Types = ReadonlyMap<string, NamedType>;

/** The types that a walk found, and those that it passed by. */
interface Found {
  readonly types: Types;
  readonly passed: Types;
}

const NOTHING_SETTLED = (): boolean => false;

/**
 * The types that differ, whole. Types that are the same in both, and to which these refer, stand without what they hold, as
 * `type author`, so that each text is a document of its own; those of default values are whole, because values are read by them.
 * @returns null where nothing differs
 */
export async function compareSchemas({ before, after, settled, goOn }: SchemaPair): Promise<DifferingTexts | null> {
  const slices = startSlices(goOn);
  const [was, is] = await foundIn(before, after, settled, slices);
  const names = [...new Set([...was.keys(), ...is.keys()])].sort();
  const texts: Differing[] = [];
  for (const name of names) {
    const [one, other] = [was.get(name), is.get(name)];
    if (one === other || isBuiltIn((one ?? other) as NamedType)) continue;
    const [a, b] = [await textOf(one, slices), await textOf(other, slices)];
    if (a !== b) texts.push({ name, one, other, before: a, after: b });
    if (slices.due()) await slices.next();
  }
  if (texts.length === 0) return null;
  const context = await contextOf(texts, after, slices);
  const documentOf = (roots: RootTypes, side: 'before' | 'after'): string =>
    `${[printRoots(roots), ...texts.flatMap((each) => each[side] ?? []), ...context].join('\n\n')}\n`;
  return { before: documentOf(before, 'before'), after: documentOf(after, 'after') };
}

interface Differing {
  readonly name: string;
  readonly one: NamedType | undefined;
  readonly other: NamedType | undefined;
  /** null: there is no such type. */
  readonly before: string | null;
  readonly after: string | null;
}

async function textOf(type: NamedType | undefined, slices: Slices): Promise<string | null> {
  return type === undefined ? null : printNamedType(type, new Set(), '', slices);
}

/** The types of both that may differ, and perhaps others. */
async function foundIn(
  before: RootTypes,
  after: RootTypes,
  settled: (by: object) => boolean,
  slices: Slices,
): Promise<readonly [Types, Types]> {
  const [was, is] = [await walked(before, settled, slices), await walked(after, settled, slices)];
  // What is settled and is found on one side alone is in one schema only, with all that it leads to.
  if (!sameKeys(was.passed, is.passed)) {
    return [(await walked(before, NOTHING_SETTLED, slices)).types, (await walked(after, NOTHING_SETTLED, slices)).types];
  }
  return [await complete(was, is.types, slices), await complete(is, was.types, slices)];
}

async function walked(roots: RootTypes, settled: (by: object) => boolean, slices: Slices): Promise<Found> {
  const passed = new Map<string, NamedType>();
  const walk = createTypeWalk(roots, [SCHEMA], (type) => {
    const by = settledBy(type);
    if (by === undefined || !settled(by)) return false;
    passed.set(type.name, type);
    return true;
  });
  return { types: byName(await walk.all(slices)), passed };
}

/** With those of the other side that are behind what was passed by, such as scalars. */
async function complete({ types, passed }: Found, others: Types, slices: Slices): Promise<Types> {
  if (passed.size === 0 || [...others.keys()].every((name) => types.has(name))) return types;
  const behind = byName(await createTypeWalk(null, [...passed.values()]).all(slices));
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

/** Definitions of the types that differing ones refer to and that do not differ themselves, the roots among them. */
async function contextOf(differing: readonly Differing[], roots: RootTypes, slices: Slices): Promise<readonly string[]> {
  const told = new Set(differing.map(({ name }) => name));
  const stubs = new Map<string, NamedType>();
  for (const root of [roots.query, roots.mutation, roots.subscription])
    if (root !== null && !told.has(root.name)) stubs.set(root.name, root);
  const whole = new Map<string, NamedType>();
  const queue = differing.flatMap(({ one, other }) => [one, other].filter((type) => type !== undefined));
  for (const type of queue) {
    for (const { type: found, hasDefault } of referencesOf(type)) {
      if (told.has(found.name) || isBuiltIn(found)) continue;
      if (!hasDefault && !whole.has(type.name)) stubs.set(found.name, found);
      else if (!whole.has(found.name)) {
        whole.set(found.name, found);
        queue.push(found);
      }
    }
    if (slices.due()) await slices.next();
  }
  const texts = new Map([...stubs].map(([name, { kind }]) => [name, `${KEYWORDS[kind]} ${name}`]));
  for (const [name, type] of whole) texts.set(name, await printNamedType(type, new Set(), '', slices));
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
