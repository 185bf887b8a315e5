/** Reads and prints actions and their types as SDL: `type Mutation { login(name: String!): Login! }` and the types that it uses. */
import { tokensOf } from './graphql-document.ts';
import { equalJson, isObject, type Json, type JsonObject, objectsIn } from './json.ts';

/** Lists of `custom_types`. */
export const TYPE_LISTS = ['input_objects', 'objects', 'scalars', 'enums'] as const;
type TypeList = (typeof TYPE_LISTS)[number];

export interface ActionField {
  readonly name: string;
  /** Such as `[Item!]!`. */
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
  /** The types in the form of `custom_types`, without relationships. */
  readonly types: JsonObject;
}

/** A syntax error with its position. */
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

/** @throws DocumentError for text that is not SDL, and for SDL that actions do not support */
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
  const has = (text: string): boolean => peek().kind === 'punctuator' && peek().text === text;
  const expect = (text: string): Token => (has(text) ? take() : fail(`expected ${text}`));
  const name = (what: string): Token => (peek().kind === 'name' ? take() : fail(`expected the name of ${what}`));
  const described = (): { readonly description?: string } => (peek().kind === 'string' ? { description: textOf(take().text) } : {});
  const type = (): string => {
    let core: string;
    if (has('[')) {
      take();
      core = `[${type()}]`;
      expect(']');
    } else core = name('a type').text;
    if (!has('!')) return core;
    take();
    return `${core}!`;
  };
  const rejectExtras = (what: string): void => {
    if (has('=')) fail(`${what} cannot have a default value`);
    if (peek().kind === 'directive') fail(`${what} cannot have directives`);
  };
  const listOf = <T>(open: string, close: string, what: string, item: () => T): readonly T[] => {
    expect(open);
    const items: T[] = [];
    while (!has(close)) {
      if (peek() === end) fail(`expected ${close}`);
      items.push(item());
    }
    if (items.length === 0) fail(`expected ${what}`);
    expect(close);
    return items;
  };
  const field = (what: string): ActionField => {
    const description = described();
    const identifier = name(what).text;
    if (has('(')) fail('fields of custom types cannot have arguments');
    expect(':');
    const of = type();
    rejectExtras(what);
    return { name: identifier, type: of, ...description };
  };
  const signature = (root: 'query' | 'mutation'): ActionSignature => {
    const description = described();
    const identifier = name('an action').text;
    const args = has('(') ? listOf('(', ')', 'an argument', () => field('an argument')) : [];
    expect(':');
    const outputType = type();
    rejectExtras('an action');
    return { name: identifier, type: root, arguments: args, outputType, ...description };
  };
  const enumValue = (): JsonObject => {
    const description = described();
    const value = name('a value').text;
    if (peek().kind !== 'directive') return { value, ...description };
    if (take().text !== '@deprecated') fail('enum values support only the directive @deprecated', tokens[at - 1]);
    if (has('(')) fail('@deprecated does not support a reason here');
    return { value, ...description, is_deprecated: true };
  };
  const actions: ActionSignature[] = [];
  const lists: Record<TypeList, JsonObject[]> = { input_objects: [], objects: [], scalars: [], enums: [] };
  const names = new Set<string>();
  while (peek() !== end) {
    const description = described();
    if (peek().text === 'extend') take();
    const keyword = name('a kind of definition');
    if (!['type', 'input', 'enum', 'scalar'].includes(keyword.text))
      fail(`expected type, input, enum or scalar instead of ${keyword.text}`, keyword);
    const identifier = name(`the ${keyword.text}`);
    const isRoot = keyword.text === 'type' && (identifier.text === 'Query' || identifier.text === 'Mutation');
    if (peek().text === 'implements') fail('custom types cannot implement interfaces');
    rejectExtras('a type');
    if (isRoot) {
      actions.push(...listOf('{', '}', 'an action', () => signature(identifier.text === 'Query' ? 'query' : 'mutation')));
      continue;
    }
    if (names.has(identifier.text)) fail(`the type ${identifier.text} is defined twice`, identifier);
    names.add(identifier.text);
    const head = { name: identifier.text, ...description };
    if (keyword.text === 'scalar') lists.scalars.push(head);
    else if (keyword.text === 'enum') lists.enums.push({ ...head, values: listOf('{', '}', 'a value', enumValue) });
    else {
      const fields = listOf('{', '}', 'a field', (): JsonObject => ({ ...field('a field') }));
      lists[keyword.text === 'type' ? 'objects' : 'input_objects'].push({ ...head, fields });
    }
  }
  return { actions, types: lists };
}

function readTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const token of tokensOf(text)) {
    rejectUnknown(text, end, token.from);
    end = token.to;
    if (token.kind !== 'comment') tokens.push(token);
  }
  rejectUnknown(text, end, text.length);
  return tokens;
}

/** Rejects characters between tokens, which the tokenizer skips. */
function rejectUnknown(text: string, from: number, to: number): void {
  const unknown = /[^\s,\ufeff]/.exec(text.slice(from, to));
  if (unknown === null) return;
  const at = from + unknown.index;
  throw new DocumentError(`line ${text.slice(0, at).split('\n').length}: unexpected ${unknown[0]}`, at, at + 1);
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

/** Returns the named type in a text such as `[Item!]!`. */
export function coreOf(type: string): string {
  return type.replace(/[[\]!\s]/g, '');
}

/** All custom types, with the list that contains them. */
export function typesIn(types: Json | undefined): readonly { readonly list: TypeList; readonly type: JsonObject; readonly name: string }[] {
  if (!isObject(types)) return [];
  return TYPE_LISTS.flatMap((list) => objectsIn(types[list]).map((type) => ({ list, type, name: String(type['name']) })));
}

export function typeNamed(types: Json | undefined, name: string): JsonObject | undefined {
  return typesIn(types).find((each) => each.name === name)?.type;
}

/** Names of the custom types that can be reached from other types by their fields. */
export function reachable(types: Json | undefined, from: readonly string[]): ReadonlySet<string> {
  const byName = new Map(typesIn(types).map(({ name, type }) => [name, type]));
  const found = new Set<string>();
  const follow = (name: string): void => {
    const type = byName.get(name);
    if (type === undefined || found.has(name)) return;
    found.add(name);
    for (const field of objectsIn(type['fields'])) follow(coreOf(String(field['type'])));
  };
  for (const each of from) follow(coreOf(each));
  return found;
}

/** Types of the arguments and of the output of an action in the metadata. */
export function namedBy(action: JsonObject): readonly string[] {
  const definition = isObject(action['definition']) ? action['definition'] : {};
  return [...objectsIn(definition['arguments']).map(({ type }) => String(type)), String(definition['output_type'] ?? '')];
}

/** Names of types that no action uses. */
export function unusedTypes(types: Json | undefined, actions: readonly JsonObject[]): readonly string[] {
  const used = reachable(types, actions.flatMap(namedBy));
  return typesIn(types)
    .map(({ name }) => name)
    .filter((name) => !used.has(name));
}

/** Signature of an action in the metadata. */
export function signatureOf(action: JsonObject): ActionSignature {
  const definition = isObject(action['definition']) ? action['definition'] : {};
  return {
    name: String(action['name']),
    type: definition['type'] === 'query' ? 'query' : 'mutation',
    arguments: objectsIn(definition['arguments']).map(fieldOf),
    outputType: String(definition['output_type'] ?? ''),
    ...(typeof action['comment'] === 'string' ? { description: action['comment'] } : {}),
  };
}

function fieldOf({ name, type, description }: JsonObject): ActionField {
  return { name: String(name), type: String(type), ...(typeof description === 'string' ? { description } : {}) };
}

/** Prints actions and the types with these names; all types without `names`. */
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
    else if (list === 'enums') blocks.push(`${head} {\n${objectsIn(type['values']).map(printValue).join('\n')}\n}`);
    else
      blocks.push(
        `${head} {\n${objectsIn(type['fields'])
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
  // A block string would lose spaces at its ends, and would end at these quotes.
  if (description !== description.trim() || /\r|"""|["\\]$|^"/.test(description)) return `${indent}${JSON.stringify(description)}\n`;
  const lines = description.split('\n');
  if (lines.length === 1) return `${indent}"""${lines[0]}"""\n`;
  return `${indent}"""\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}\n${indent}"""\n`;
}

/**
 * Merges edited types into the custom types: the edited ones replace those that were shown, all others stay. A type keeps its position
 * and its relationships, which SDL does not have.
 * @param shown names of the types in the text before it was edited
 * @throws Error for an edited type that differs from one of the same name that was not shown
 */
export function mergedTypes(all: Json | undefined, shown: ReadonlySet<string>, edited: JsonObject): JsonObject {
  const before = isObject(all) ? all : {};
  const after = typesIn(edited);
  for (const { name, type } of after) {
    const hidden = shown.has(name) ? undefined : typeNamed(all, name);
    if (hidden !== undefined && !equalJson(plain(hidden), type))
      throw new Error(`Another action has a different type ${name}. Refer to it by name without defining it, or rename this one.`);
  }
  const result: Record<string, Json> = { ...before };
  for (const list of TYPE_LISTS) {
    const old = objectsIn(before[list]);
    const own = after.filter((each) => each.list === list);
    const stays = old.flatMap((type): JsonObject[] => {
      const name = String(type['name']);
      const next = own.find((each) => each.name === name)?.type;
      if (next !== undefined) return [shown.has(name) ? { ...unmanaged(type), ...next, ...relationshipsOf(type) } : type];
      // A type that becomes an enum, for example, leaves this list.
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
  return rest['fields'] === undefined ? rest : { ...rest, fields: objectsIn(rest['fields']).map(clean) };
}

function unmanaged(type: JsonObject): JsonObject {
  const { name: _n, description: _d, fields: _f, values: _v, relationships: _r, ...rest } = type;
  return rest;
}

function relationshipsOf(type: JsonObject): JsonObject {
  const relationships = objectsIn(type['relationships']);
  return relationships.length === 0 ? {} : { relationships };
}

/** Removes types by name. */
export function withoutTypes(all: Json | undefined, names: readonly string[]): JsonObject {
  const before = isObject(all) ? all : {};
  const left = TYPE_LISTS.map((list) => [list, objectsIn(before[list]).filter(({ name }) => !names.includes(String(name)))] as const);
  return { ...before, ...Object.fromEntries(left) };
}

/** Finds the type that an error message of the service quotes in a text; without one, the first name that it quotes. */
export function placesOfError(message: string, text: string): readonly { readonly from: number; readonly to: number }[] {
  const quoted = [/\btype:? "([^"]+)"/.exec(message)?.[1], ...[...message.matchAll(/"([^"]+)"/g)].map(([, name]) => name)];
  const tokens = tokensOf(text).filter(({ kind }) => kind === 'name');
  for (const name of quoted) {
    const found = name === undefined ? [] : tokens.filter((token) => token.text === coreOf(name));
    if (found.length > 0) return found.map(({ from, to }) => ({ from, to }));
  }
  return [];
}

/** Puts a signature into the definition of an action; keys that SDL does not have are preserved. */
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
