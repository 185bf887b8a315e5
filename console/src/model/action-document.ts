/** Actions and their types as SDL: `type Mutation { login(name: String!): Login! }` with the types that it uses, and back. */
import { tokensOf } from './graphql-document.ts';
import { equalJson, isList, isObject, type Json, type JsonObject } from './json.ts';

/** Lists of `custom_types`. */
export const TYPE_LISTS = ['input_objects', 'objects', 'scalars', 'enums'] as const;
type TypeList = (typeof TYPE_LISTS)[number];

export interface ActionField {
  readonly name: string;
  /** As it is written: `[Item!]!`. */
  readonly type: string;
  readonly description?: string;
}

export interface ActionSignature {
  readonly name: string;
  readonly type: 'query' | 'mutation';
  readonly arguments: readonly ActionField[];
  readonly outputType: string;
  readonly description?: string;
}

export interface ActionDocument {
  readonly actions: readonly ActionSignature[];
  /** In the form of `custom_types`, without relationships. */
  readonly types: JsonObject;
}

/** What cannot be read, and where. */
export class DocumentError extends Error {
  readonly from: number;
  readonly to: number;
  constructor(message: string, from: number, to: number) {
    super(message);
    this.name = 'DocumentError';
    this.from = from;
    this.to = to;
  }
}

interface Token {
  readonly kind: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** @throws DocumentError at what is no SDL, or is nothing that actions have */
export function parseActionDocument(text: string): ActionDocument {
  const tokens = readTokens(text);
  let at = 0;
  const end: Token = { kind: 'end', text: 'the end', from: Math.max(0, text.length - 1), to: text.length };
  const peek = (): Token => tokens[at] ?? end;
  const fail = (message: string, { from, to }: Token = peek()): never => {
    throw new DocumentError(`line ${text.slice(0, from).split('\n').length}: ${message}`, from, to);
  };
  const take = (): Token => {
    const token = peek();
    at++;
    return token;
  };
  const mark = (wanted: string): Token => (peek().text === wanted && peek().kind === 'mark' ? take() : fail(`${wanted} is expected here`));
  const has = (wanted: string): boolean => peek().kind === 'mark' && peek().text === wanted;
  const name = (what: string): Token => (peek().kind === 'name' ? take() : fail(`the name of ${what} is expected here`));
  const described = (): { readonly description?: string } => (peek().kind === 'string' ? { description: textOf(take().text) } : {});
  const type = (): string => {
    let core: string;
    if (has('[')) {
      take();
      core = `[${type()}]`;
      mark(']');
    } else core = name('a type').text;
    if (!has('!')) return core;
    take();
    return `${core}!`;
  };
  const refuseExtras = (what: string): void => {
    if (has('=')) fail(`${what} has no default value`);
    if (peek().kind === 'directive') fail(`${what} has no directives`);
  };
  const listOf = <T>(open: string, close: string, what: string, item: () => T): readonly T[] => {
    mark(open);
    const items: T[] = [];
    while (!has(close)) {
      if (peek() === end) fail(`${close} is expected here`);
      items.push(item());
    }
    if (items.length === 0) fail(`there is no ${what} here`);
    mark(close);
    return items;
  };
  const field = (what: string): ActionField => {
    const description = described();
    const called = name(what).text;
    if (has('(')) fail('fields of these types take no arguments');
    mark(':');
    const of = type();
    refuseExtras(what);
    return { name: called, type: of, ...description };
  };
  const signature = (root: 'query' | 'mutation'): ActionSignature => {
    const description = described();
    const called = name('an action').text;
    const args = has('(') ? listOf('(', ')', 'argument', () => field('an argument')) : [];
    mark(':');
    const outputType = type();
    refuseExtras('an action');
    return { name: called, type: root, arguments: args, outputType, ...description };
  };
  const enumValue = (): JsonObject => {
    const description = described();
    const value = name('a value').text;
    if (peek().kind !== 'directive') return { value, ...description };
    if (take().text !== '@deprecated') fail('a value has no other directive than @deprecated', tokens[at - 1]);
    if (has('(')) fail('@deprecated takes no reason here');
    return { value, ...description, is_deprecated: true };
  };
  const actions: ActionSignature[] = [];
  const lists: Record<TypeList, JsonObject[]> = { input_objects: [], objects: [], scalars: [], enums: [] };
  const taken = new Set<string>();
  while (peek() !== end) {
    const description = described();
    if (peek().text === 'extend') take();
    const keyword = name('a kind of definition');
    if (!['type', 'input', 'enum', 'scalar'].includes(keyword.text))
      fail(`type, input, enum or scalar is expected in place of ${keyword.text}`, keyword);
    const called = name(`the ${keyword.text}`);
    const isRoot = keyword.text === 'type' && (called.text === 'Query' || called.text === 'Mutation');
    if (peek().text === 'implements') fail('these types implement nothing');
    refuseExtras('a type');
    if (isRoot) {
      actions.push(...listOf('{', '}', 'action', () => signature(called.text === 'Query' ? 'query' : 'mutation')));
      continue;
    }
    if (taken.has(called.text)) fail(`there are two types ${called.text}`, called);
    taken.add(called.text);
    const head = { name: called.text, ...description };
    if (keyword.text === 'scalar') lists.scalars.push(head);
    else if (keyword.text === 'enum') lists.enums.push({ ...head, values: listOf('{', '}', 'value', enumValue) });
    else {
      const fields = listOf('{', '}', 'field', (): JsonObject => ({ ...field('a field') }));
      lists[keyword.text === 'type' ? 'objects' : 'input_objects'].push({ ...head, fields });
    }
  }
  return { actions, types: lists };
}

function readTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const token of tokensOf(text)) {
    refuseStrange(text, end, token.from);
    end = token.to;
    if (token.kind !== 'comment') tokens.push(token);
  }
  refuseStrange(text, end, text.length);
  return tokens;
}

/** The reader of tokens leaves out what it does not know. */
function refuseStrange(text: string, from: number, to: number): void {
  const strange = /[^\s,\ufeff]/.exec(text.slice(from, to));
  if (strange === null) return;
  const at = from + strange.index;
  throw new DocumentError(`line ${text.slice(0, at).split('\n').length}: ${strange[0]} is not expected here`, at, at + 1);
}

function textOf(token: string): string {
  if (!token.startsWith('"""')) return JSON.parse(token.endsWith('"') && token.length > 1 ? token : `${token}"`) as string;
  const lines = token.replace(/^"""/, '').replace(/"""$/, '').replaceAll('\\"""', '"""').split('\n');
  const indents = lines
    .slice(1)
    .filter((line) => line.trim() !== '')
    .map((line) => line.search(/\S/));
  const common = indents.length === 0 ? 0 : Math.min(...indents);
  return lines
    .map((line, index) => (index === 0 ? line : line.slice(common)))
    .join('\n')
    .trim();
}

/** The names of types that a text such as `[Item!]!` has at its core. */
export function coreOf(type: string): string {
  return type.replace(/[[\]!\s]/g, '');
}

const objectsOf = (json: Json | undefined): readonly JsonObject[] => (isList(json) ? json.filter(isObject) : []);

/** All types, with the list that they are in. */
export function typesIn(types: Json | undefined): readonly { readonly list: TypeList; readonly type: JsonObject; readonly name: string }[] {
  if (!isObject(types)) return [];
  return TYPE_LISTS.flatMap((list) => objectsOf(types[list]).map((type) => ({ list, type, name: String(type['name']) })));
}

export function typeNamed(types: Json | undefined, name: string): JsonObject | undefined {
  return typesIn(types).find((each) => each.name === name)?.type;
}

/** Which of the custom types are reached from some types by their fields. */
export function reachable(types: Json | undefined, from: readonly string[]): ReadonlySet<string> {
  const byName = new Map(typesIn(types).map(({ name, type }) => [name, type]));
  const found = new Set<string>();
  const follow = (name: string): void => {
    const type = byName.get(name);
    if (type === undefined || found.has(name)) return;
    found.add(name);
    for (const field of objectsOf(type['fields'])) follow(coreOf(String(field['type'])));
  };
  for (const each of from) follow(coreOf(each));
  return found;
}

/** The types that an action of the metadata names: those of its arguments and its answer. */
export function namedBy(action: JsonObject): readonly string[] {
  const definition = isObject(action['definition']) ? action['definition'] : {};
  return [...objectsOf(definition['arguments']).map(({ type }) => String(type)), String(definition['output_type'] ?? '')];
}

/** The names of types that no action uses. */
export function unusedTypes(types: Json | undefined, actions: readonly JsonObject[]): readonly string[] {
  const used = reachable(types, actions.flatMap(namedBy));
  return typesIn(types)
    .map(({ name }) => name)
    .filter((name) => !used.has(name));
}

/** An action of the metadata as its signature. */
export function signatureOf(action: JsonObject): ActionSignature {
  const definition = isObject(action['definition']) ? action['definition'] : {};
  return {
    name: String(action['name']),
    type: definition['type'] === 'query' ? 'query' : 'mutation',
    arguments: objectsOf(definition['arguments']).map(fieldOf),
    outputType: String(definition['output_type'] ?? ''),
    ...(typeof action['comment'] === 'string' ? { description: action['comment'] } : {}),
  };
}

function fieldOf({ name, type, description }: JsonObject): ActionField {
  return { name: String(name), type: String(type), ...(typeof description === 'string' ? { description } : {}) };
}

/** SDL of actions and of the types with these names, or of all. */
export function printActionDocument(actions: readonly ActionSignature[], types: Json | undefined, names?: ReadonlySet<string>): string {
  const blocks: string[] = [];
  for (const root of ['query', 'mutation'] as const) {
    const fields = actions.filter(({ type }) => type === root);
    if (fields.length > 0) blocks.push(`type ${root === 'query' ? 'Query' : 'Mutation'} {\n${fields.map(printSignature).join('\n')}\n}`);
  }
  for (const { list, type, name } of typesIn(types)) {
    if (names !== undefined && !names.has(name)) continue;
    const head = `${printDescription(type['description'], '')}${KEYWORDS[list]} ${name}`;
    if (list === 'scalars') blocks.push(head);
    else if (list === 'enums') blocks.push(`${head} {\n${objectsOf(type['values']).map(printValue).join('\n')}\n}`);
    else
      blocks.push(
        `${head} {\n${objectsOf(type['fields'])
          .map((each) => `${printDescription(each['description'], '  ')}  ${String(each['name'])}: ${String(each['type'])}`)
          .join('\n')}\n}`,
      );
  }
  return `${blocks.join('\n\n')}\n`;
}

const KEYWORDS: Readonly<Record<TypeList, string>> = { input_objects: 'input', objects: 'type', scalars: 'scalar', enums: 'enum' };

function printSignature({ name, arguments: args, outputType, description }: ActionSignature): string {
  const printed = args.map((each) => `${printInline(each.description)}${each.name}: ${each.type}`);
  const short = `  ${name}${printed.length === 0 ? '' : `(${printed.join(', ')})`}: ${outputType}`;
  const isLong = short.length > 90 || args.some((each) => each.description !== undefined);
  const head = printDescription(description, '  ');
  return head + (isLong && args.length > 0 ? `  ${name}(\n${printed.map((each) => `    ${each}`).join('\n')}\n  ): ${outputType}` : short);
}

function printValue({ value, description, is_deprecated: isDeprecated }: JsonObject): string {
  return `${printDescription(description, '  ')}  ${String(value)}${isDeprecated === true ? ' @deprecated' : ''}`;
}

function printInline(description: string | undefined): string {
  return description === undefined ? '' : `${JSON.stringify(description)} `;
}

function printDescription(description: Json | undefined, indent: string): string {
  if (typeof description !== 'string' || description === '') return '';
  // What a block would lose: blanks at its ends, and quotes that would end it.
  if (description !== description.trim() || /\r|"""|["\\]$|^"/.test(description)) return `${indent}${JSON.stringify(description)}\n`;
  const lines = description.split('\n');
  if (lines.length === 1) return `${indent}"""${lines[0]}"""\n`;
  return `${indent}"""\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}\n${indent}"""\n`;
}

/**
 * The custom types after a part of them was edited: what is written takes the place of what was shown, all others stay. A type keeps
 * its place, and what SDL does not tell of it: its relationships.
 * @param shown names of the types that were in the text before it was edited
 * @throws Error for a written type that is another one of the same name that was not shown
 */
export function mergedTypes(all: Json | undefined, shown: ReadonlySet<string>, written: JsonObject): JsonObject {
  const before = isObject(all) ? all : {};
  const after = typesIn(written);
  for (const { name, type } of after) {
    const hidden = shown.has(name) ? undefined : typeNamed(all, name);
    if (hidden !== undefined && !equalJson(plain(hidden), type))
      throw new Error(`There is another type ${name}, of other actions. Use it by its name alone, or give this one another name.`);
  }
  const result: Record<string, Json> = { ...before };
  for (const list of TYPE_LISTS) {
    const old = objectsOf(before[list]);
    const own = after.filter((each) => each.list === list);
    const stays = old.flatMap((type): JsonObject[] => {
      const name = String(type['name']);
      const next = own.find((each) => each.name === name)?.type;
      if (next !== undefined) return [shown.has(name) ? { ...unmanaged(type), ...next, ...relationshipsKept(type) } : type];
      // A type that becomes an enum, say, is no longer in this list.
      return shown.has(name) || after.some((each) => each.name === name) ? [] : [type];
    });
    const added = own.filter(({ name }) => !old.some((type) => type['name'] === name)).map(({ type }) => type);
    result[list] = [...stays, ...added];
  }
  return result;
}

function plain(type: JsonObject): JsonObject {
  const { relationships: _, ...rest } = type;
  const clean = ({ arguments: _arguments, ...field }: JsonObject): JsonObject => field;
  return rest['fields'] === undefined ? rest : { ...rest, fields: objectsOf(rest['fields']).map(clean) };
}

function unmanaged(type: JsonObject): JsonObject {
  const { name: _n, description: _d, fields: _f, values: _v, relationships: _r, ...rest } = type;
  return rest;
}

function relationshipsKept(type: JsonObject): JsonObject {
  const kept = objectsOf(type['relationships']);
  return kept.length === 0 ? {} : { relationships: kept };
}

/** The custom types without some of them. */
export function withoutTypes(all: Json | undefined, names: readonly string[]): JsonObject {
  const before = isObject(all) ? all : {};
  const left = TYPE_LISTS.map((list) => [list, objectsOf(before[list]).filter(({ name }) => !names.includes(String(name)))] as const);
  return { ...before, ...Object.fromEntries(left) };
}

/** Where a text names what a refusal of the service is about: the type that it quotes, or else the first name that it quotes. */
export function placesOfRefusal(message: string, text: string): readonly { readonly from: number; readonly to: number }[] {
  const quoted = [/\btype:? "([^"]+)"/.exec(message)?.[1], ...[...message.matchAll(/"([^"]+)"/g)].map(([, name]) => name)];
  const tokens = tokensOf(text).filter(({ kind }) => kind === 'name');
  for (const name of quoted) {
    const found = name === undefined ? [] : tokens.filter((token) => token.text === coreOf(name));
    if (found.length > 0) return found.map(({ from, to }) => ({ from, to }));
  }
  return [];
}

/** The definition of an action with what its signature says; what SDL does not tell stays. */
export function withSignature(definition: JsonObject, { arguments: args, outputType, type }: ActionSignature): JsonObject {
  const { kind, retry_conf: retries, ...rest } = definition;
  const isLater = type === 'mutation' && kind === 'asynchronous';
  return {
    ...rest,
    arguments: args.map((each): JsonObject => ({ ...each })),
    output_type: outputType,
    type,
    ...(type === 'query' ? {} : { kind: kind ?? 'synchronous' }),
    ...(isLater && retries !== undefined ? { retry_conf: retries } : {}),
  };
}
