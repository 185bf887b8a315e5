/** Permission of a role for a remote schema, edited by selecting fields: each selection turns one SDL document into another. */
import { coreOf } from './action-document.ts';
import { isObject, type Json, type JsonObject, objectsIn } from './json.ts';
import type { DefinitionKeyword, DefinitionNode, InputNode, MemberNode, SchemaDocument } from './schema-document.ts';

export interface RemoteInput {
  readonly name: string;
  readonly type: string;
  readonly default: string | undefined;
}

export interface RemoteMember extends RemoteInput {
  readonly description: string;
  readonly arguments: readonly RemoteInput[];
}

export interface RemoteType {
  readonly name: string;
  readonly keyword: DefinitionKeyword;
  readonly interfaces: readonly string[];
  readonly members: readonly RemoteMember[];
  /** Types that implement the interface; empty for other kinds. */
  readonly possible: readonly string[];
}

export interface RemoteTypes {
  readonly types: ReadonlyMap<string, RemoteType>;
  readonly roots: readonly { readonly operation: 'query' | 'mutation' | 'subscription'; readonly type: string }[];
}

const BUILT_IN: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);
const CONVENTIONAL = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const;
const KINDS: Readonly<Record<string, DefinitionKeyword>> = {
  OBJECT: 'type',
  INTERFACE: 'interface',
  INPUT_OBJECT: 'input',
  ENUM: 'enum',
  UNION: 'union',
  SCALAR: 'scalar',
};

/** Reads an introspection result. */
export function remoteTypes(introspection: Json): RemoteTypes {
  const data = isObject(introspection) ? introspection['data'] : undefined;
  const schema = isObject(data) && isObject(data['__schema']) ? data['__schema'] : {};
  const types = new Map<string, RemoteType>();
  for (const type of objectsIn(schema['types'])) {
    const name = String(type['name']);
    const keyword = KINDS[String(type['kind'])];
    if (name.startsWith('__') || keyword === undefined || BUILT_IN.has(name)) continue;
    const membersOf = (json: Json | undefined): readonly RemoteMember[] => objectsIn(json).map((each) => memberOf(each));
    const possible = objectsIn(type['possibleTypes']).map((each) => String(each['name']));
    types.set(name, {
      name,
      keyword,
      interfaces: objectsIn(type['interfaces']).map((each) => String(each['name'])),
      members:
        keyword === 'enum'
          ? membersOf(type['enumValues'])
          : keyword === 'input'
            ? membersOf(type['inputFields'])
            : keyword === 'union'
              ? possible.map((each) => ({ name: each, type: '', default: undefined, description: '', arguments: [] }))
              : membersOf(type['fields']),
      possible: keyword === 'interface' ? possible : [],
    });
  }
  const roots = (['query', 'mutation', 'subscription'] as const).flatMap((operation) => {
    const root = schema[`${operation}Type`];
    return isObject(root) ? [{ operation, type: String(root['name']) }] : [];
  });
  return { types, roots };
}

function memberOf(json: JsonObject): RemoteMember {
  const type = json['type'];
  return {
    name: String(json['name']),
    type: isObject(type) ? typeText(type) : '',
    default: typeof json['defaultValue'] === 'string' ? json['defaultValue'] : undefined,
    description: typeof json['description'] === 'string' ? json['description'] : '',
    arguments: objectsIn(json['args']).map((each) => memberOf(each)),
  };
}

function typeText(type: JsonObject): string {
  const inner = isObject(type['ofType']) ? typeText(type['ofType']) : '';
  if (type['kind'] === 'NON_NULL') return `${inner}!`;
  return type['kind'] === 'LIST' ? `[${inner}]` : String(type['name']);
}

export function definitionNamed(document: SchemaDocument, name: string): DefinitionNode | undefined {
  return document.find((each) => each.name === name && each.keyword !== 'schema');
}

export function isTicked(document: SchemaDocument, type: string, member: string): boolean {
  return definitionNamed(document, type)?.members.some((each) => each.name === member) ?? false;
}

/** Types of the server in a document, roots first; a root may have no members yet. */
export function shownTypes(document: SchemaDocument, { types, roots }: RemoteTypes): readonly RemoteType[] {
  const declared = document.flatMap(({ name }) => types.get(name) ?? []);
  const first = roots.flatMap(({ type }) => types.get(type) ?? []);
  return [...first, ...declared.filter((each) => !first.includes(each))];
}

/** Adds members of a type to a document with everything that they need, or removes them with everything that only they needed. */
export function tickedAll(
  document: SchemaDocument,
  remote: RemoteTypes,
  type: string,
  members: readonly string[],
  on: boolean,
): SchemaDocument {
  const found = remote.types.get(type);
  if (found === undefined) return document;
  const before = definitionNamed(document, type);
  const selected = new Set(before?.members.map(({ name }) => name));
  for (const each of members) {
    if (on) selected.add(each);
    else selected.delete(each);
  }
  const next = membersOf(found, selected, before);
  const replaced =
    before === undefined
      ? [...document, newDefinition(found, next)]
      : document.map((each) => (each === before ? { ...each, members: next } : each));
  return tidied(on ? completed(replaced, remote) : replaced, remote);
}

/** Members in the order of the server, then those that it no longer has. */
function membersOf(type: RemoteType, selected: ReadonlySet<string>, before: DefinitionNode | undefined): readonly MemberNode[] {
  const known = type.members
    .filter(({ name }) => selected.has(name))
    .map((each) => before?.members.find(({ name }) => name === each.name) ?? nodeOf(each));
  const unknown = (before?.members ?? []).filter(({ name }) => selected.has(name) && !type.members.some((each) => each.name === name));
  return [...known, ...unknown];
}

function nodeOf(member: RemoteMember): MemberNode {
  return { ...inputOf(member), arguments: member.arguments.map(inputOf) };
}

function inputOf({ name, type, default: value }: RemoteInput): InputNode {
  return { name, type, ...(value === undefined ? {} : { default: value }), directives: [] };
}

function newDefinition({ keyword, name, interfaces }: RemoteType, members: readonly MemberNode[]): DefinitionNode {
  return { keyword, name, interfaces, directives: [], members };
}

/** Declares types that are only referenced: inputs, enums and unions whole, others with their scalar fields that need no argument. */
function completed(document: SchemaDocument, remote: RemoteTypes): SchemaDocument {
  const all = [...document];
  const declare = (name: string): void => {
    const type = remote.types.get(name);
    if (type === undefined || all.some((each) => each.name === name)) return;
    const isWhole = type.keyword === 'input' || type.keyword === 'enum' || type.keyword === 'union';
    const first = type.members.filter(
      (each) => isWhole || (isLeaf(each.type, remote) && each.arguments.every((argument) => !argument.type.endsWith('!'))),
    );
    // A type needs at least one field.
    const chosen = first.length > 0 ? first : type.members.slice(0, 1);
    all.push(newDefinition(type, chosen.map(nodeOf)));
    for (const each of type.possible) declare(each);
  };
  for (let at = 0; at < all.length; at++) for (const name of namesIn(all[at])) declare(name);
  return all;
}

function isLeaf(type: string, { types }: RemoteTypes): boolean {
  const found = types.get(coreOf(type));
  return found === undefined || found.keyword === 'scalar' || found.keyword === 'enum';
}

function namesIn(definition: DefinitionNode | undefined): readonly string[] {
  if (definition === undefined || definition.keyword === 'schema' || definition.keyword === 'enum') return [];
  if (definition.keyword === 'union') return definition.members.map(({ name }) => name);
  return definition.members.flatMap((each) => [coreOf(each.type), ...each.arguments.map(({ type }) => coreOf(type))]);
}

/** Removes empty definitions, references to them and unreachable definitions; adds `schema` where the root types need it. */
function tidied(document: SchemaDocument, remote: RemoteTypes): SchemaDocument {
  const roots = new Set(remote.roots.map(({ type }) => type));
  let all = document.filter((each) => each.keyword !== 'schema');
  for (;;) {
    const empty = new Set(all.filter(({ keyword, members }) => members.length === 0 && keyword !== 'scalar').map(({ name }) => name));
    const reached = reachedFrom(all, roots);
    const next = all
      .filter(({ name }) => !empty.has(name) && reached.has(name))
      .map((each): DefinitionNode => {
        const interfaces = each.interfaces.filter((name) => reached.has(name) && !empty.has(name));
        const members = each.members.filter((member) => !empty.has(each.keyword === 'union' ? member.name : coreOf(member.type)));
        const isSame = interfaces.length === each.interfaces.length && members.length === each.members.length;
        return isSame ? each : { ...each, interfaces, members };
      });
    const isSettled = next.length === all.length && next.every((each, index) => each === all[index]);
    all = next;
    if (isSettled) break;
  }
  const isPlain = remote.roots.every(({ operation, type }) => type === CONVENTIONAL[operation]);
  const present = remote.roots.filter(({ type }) => all.some(({ name }) => name === type));
  if (isPlain || present.length === 0) return all;
  const members = present.map(({ operation, type }): MemberNode => ({ name: operation, type, arguments: [], directives: [] }));
  return [{ keyword: 'schema', name: '', interfaces: [], directives: [], members }, ...all];
}

function reachedFrom(document: SchemaDocument, roots: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>();
  const follow = (name: string): void => {
    const definition = document.find((each) => each.name === name);
    if (definition === undefined || found.has(name)) return;
    found.add(name);
    for (const each of [...namesIn(definition), ...definition.interfaces]) follow(each);
    // Values of an interface have one of these types.
    if (definition.keyword === 'interface') for (const each of document) if (each.interfaces.includes(name)) follow(each.name);
  };
  for (const root of roots) follow(root);
  return found;
}

/** An argument or input field of a role: present, preset or removed. */
export interface InputState {
  readonly isThere: boolean;
  /** Text of the preset; undefined if the client passes the value. */
  readonly preset: string | undefined;
}

const PRESET = /^@preset\(\s*value:\s*([\s\S]*?)\s*,?\s*\)$/;

/** @param argument undefined for a field of an input object */
export function inputState(document: SchemaDocument, type: string, member: string, argument?: string): InputState {
  const found = definitionNamed(document, type)?.members.find(({ name }) => name === member);
  const input = argument === undefined ? found : found?.arguments.find(({ name }) => name === argument);
  const literal = input?.directives.map((each) => PRESET.exec(each)?.[1]).find((each) => each !== undefined);
  return { isThere: input !== undefined, preset: literal === undefined ? undefined : textOf(literal) };
}

/** Prints a string without quotes, and anything else as GraphQL writes it. */
function textOf(literal: string): string {
  if (!/^"(?!"")/.test(literal)) return literal;
  try {
    const text = JSON.parse(literal) as string;
    return literalOf(text) === literal ? text : literal;
  } catch {
    return literal;
  }
}

/** Quotes anything but numbers, lists, objects, `true`, `false` and `null`. */
function literalOf(text: string): string {
  return /^(?:-?\d+(?:\.\d+)?|true|false|null|[[{][\s\S]*|"[\s\S]*")$/.test(text) ? text : JSON.stringify(text);
}

/** Sets the state of an argument or input field. */
export function withInput(
  document: SchemaDocument,
  remote: RemoteTypes,
  place: { readonly type: string; readonly member: string; readonly argument?: string | undefined },
  state: InputState,
): SchemaDocument {
  const { type, member, argument } = place;
  const preset = (input: InputNode): InputNode => {
    const others = input.directives.filter((each) => !each.startsWith('@preset'));
    const added = state.preset === undefined ? [] : [`@preset(value: ${literalOf(state.preset)})`];
    return { ...input, directives: [...others, ...added] };
  };
  const known = remote.types.get(type)?.members.find(({ name }) => name === member);
  const next = document.map((each): DefinitionNode => {
    if (each.name !== type || each.keyword === 'schema') return each;
    return {
      ...each,
      members: each.members.map((field): MemberNode => {
        if (field.name !== member) return field;
        if (argument === undefined) return { ...preset(field), arguments: field.arguments };
        const present = new Set(field.arguments.map(({ name }) => name));
        if (state.isThere) present.add(argument);
        else present.delete(argument);
        const order = known?.arguments.map(({ name }) => name) ?? [];
        const inputs = [...new Set([...order, ...field.arguments.map(({ name }) => name)])].flatMap((name) => {
          if (!present.has(name)) return [];
          const before = field.arguments.find((input) => input.name === name);
          const fresh = known?.arguments.find((input) => input.name === name);
          const input = before ?? (fresh === undefined ? undefined : inputOf(fresh));
          return input === undefined ? [] : [name === argument ? preset(input) : input];
        });
        return { ...field, arguments: inputs };
      }),
    };
  });
  return tidied(completed(next, remote), remote);
}
