/** Reads and prints actions and their types as SDL: `type Mutation { login(name: String!): Login! }` and the types that it uses. */
import { type Token, tokensOf } from './graphql-document.ts';
import { equalJson, isObject, type Json, type JsonObject, objectsIn } from './json.ts';
import { TokenCursor } from './token-cursor.ts';

/** Lists of `custom_types`. */
const TYPE_LISTS = ['input_objects', 'objects', 'scalars', 'enums'] as const;
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

/** @throws DocumentError for text that is not SDL, and for SDL that actions do not support */
export function parseActionDocument(text: string): ActionDocument {
  return new ActionReader(text).document();
}

class ActionReader {
  readonly #text: string;
  readonly #tokens: TokenCursor;
  readonly #actions: ActionSignature[] = [];
  readonly #types: Record<TypeList, JsonObject[]> = { input_objects: [], objects: [], scalars: [], enums: [] };
  readonly #names = new Set<string>();

  constructor(text: string) {
    const tokens = tokensOf(text);
    rejectUnknown(text, tokens);
    this.#text = text;
    this.#tokens = new TokenCursor(tokens, (expected, token) => this.#errorAt(token, `expected ${expected}`));
  }

  document(): ActionDocument {
    while (this.#tokens.next !== undefined) this.#definition();
    return { actions: this.#actions, types: this.#types };
  }

  #definition(): void {
    const description = this.#description();
    this.#tokens.skip('extend');
    const keyword = this.#name('a kind of definition');
    const list = LISTS.get(keyword.text) ?? this.#reject(`expected type, input, enum or scalar instead of ${keyword.text}`, keyword);
    const identifier = this.#name(`the ${keyword.text}`);
    if (this.#tokens.has('implements')) this.#reject('custom types cannot implement interfaces');
    this.#rejectExtras('a type');
    const root = list === 'objects' ? ROOTS.get(identifier.text) : undefined;
    if (root !== undefined) {
      this.#actions.push(...this.#listOf('{', '}', 'an action', () => this.#signature(root)));
      return;
    }
    if (this.#names.has(identifier.text)) this.#reject(`the type ${identifier.text} is defined twice`, identifier);
    this.#names.add(identifier.text);
    this.#types[list].push({ name: identifier.text, ...description, ...this.#membersOf(list) });
  }

  #membersOf(list: TypeList): JsonObject {
    if (list === 'scalars') return {};
    if (list === 'enums') return { values: this.#listOf('{', '}', 'a value', () => this.#enumValue()) };
    return { fields: this.#listOf('{', '}', 'a field', (): JsonObject => ({ ...this.#field('a field') })) };
  }

  #signature(root: 'query' | 'mutation'): ActionSignature {
    const description = this.#description();
    const name = this.#name('an action').text;
    const args = this.#tokens.has('(') ? this.#listOf('(', ')', 'an argument', () => this.#field('an argument')) : [];
    this.#tokens.take(':');
    const outputType = this.#tokens.type('the name of a type');
    this.#rejectExtras('an action');
    return { name, type: root, arguments: args, outputType, ...description };
  }

  #field(what: string): ActionField {
    const description = this.#description();
    const name = this.#name(what).text;
    if (this.#tokens.has('(')) this.#reject('fields of custom types cannot have arguments');
    this.#tokens.take(':');
    const type = this.#tokens.type('the name of a type');
    this.#rejectExtras(what);
    return { name, type, ...description };
  }

  #enumValue(): JsonObject {
    const description = this.#description();
    const value = this.#name('a value').text;
    if (this.#tokens.next?.kind !== 'directive') return { value, ...description };
    const directive = this.#tokens.any('a directive');
    if (directive.text !== '@deprecated') this.#reject('enum values support only the directive @deprecated', directive);
    if (this.#tokens.has('(')) this.#reject('@deprecated does not support a reason here');
    return { value, ...description, is_deprecated: true };
  }

  #listOf<T>(open: string, close: string, what: string, item: () => T): readonly T[] {
    this.#tokens.take(open);
    const items: T[] = [];
    while (!this.#tokens.has(close)) {
      if (this.#tokens.next === undefined) this.#tokens.fail(close);
      items.push(item());
    }
    if (items.length === 0) this.#tokens.fail(what);
    this.#tokens.take(close);
    return items;
  }

  #name(what: string): Token {
    return this.#tokens.ofKind('name', `the name of ${what}`);
  }

  #description(): { readonly description?: string } {
    const description = this.#tokens.description();
    return description === undefined ? {} : { description: textOf(description) };
  }

  #rejectExtras(what: string): void {
    if (this.#tokens.has('=')) this.#reject(`${what} cannot have a default value`);
    if (this.#tokens.next?.kind === 'directive') this.#reject(`${what} cannot have directives`);
  }

  #reject(message: string, token = this.#tokens.next): never {
    throw this.#errorAt(token, message);
  }

  /** @param token undefined for the end of the text */
  #errorAt(token: Token | undefined, message: string): DocumentError {
    const { length } = this.#text;
    const { from, to } = token ?? { from: Math.max(0, length - 1), to: length };
    return new DocumentError(`line ${lineAt(this.#text, from)}: ${message}`, from, to);
  }
}

const LISTS: ReadonlyMap<string, TypeList> = new Map([
  ['input', 'input_objects'],
  ['type', 'objects'],
  ['scalar', 'scalars'],
  ['enum', 'enums'],
]);
const ROOTS: ReadonlyMap<string, 'query' | 'mutation'> = new Map([
  ['Query', 'query'],
  ['Mutation', 'mutation'],
]);

/** Rejects characters between tokens, which the tokenizer skips. */
function rejectUnknown(text: string, tokens: readonly Token[]): void {
  const starts = [...tokens.map(({ from }) => from), text.length];
  for (const [index, start] of starts.entries()) {
    const end = tokens[index - 1]?.to ?? 0;
    const unknown = /[^\s,\ufeff]/.exec(text.slice(end, start));
    if (unknown === null) continue;
    const at = end + unknown.index;
    throw new DocumentError(`line ${lineAt(text, at)}: unexpected ${unknown[0]}`, at, at + 1);
  }
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
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
