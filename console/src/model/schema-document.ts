/** SDL as a tree that can be changed and printed. Parts that are not interpreted, such as directives, keep their text. */
import { tokensOf } from './graphql-document.ts';

export interface InputNode {
  readonly name: string;
  readonly type: string;
  /** Text of the default value. */
  readonly default?: string;
  /** Texts of the directives. */
  readonly directives: readonly string[];
  /** Text of the description with its quotes. */
  readonly description?: string;
}

export interface MemberNode extends InputNode {
  /** Empty for enum values and union members, which have only a name. */
  readonly arguments: readonly InputNode[];
}

export type DefinitionKeyword = 'schema' | 'type' | 'interface' | 'input' | 'enum' | 'union' | 'scalar';

export interface DefinitionNode {
  readonly keyword: DefinitionKeyword;
  /** Empty for `schema`. */
  readonly name: string;
  readonly interfaces: readonly string[];
  readonly directives: readonly string[];
  readonly description?: string;
  readonly members: readonly MemberNode[];
}

export type SchemaDocument = readonly DefinitionNode[];

const KEYWORDS: ReadonlySet<string> = new Set(['schema', 'type', 'interface', 'input', 'enum', 'union', 'scalar']);

/** @throws SyntaxError if the text is not SDL of types */
export function parseSchemaDocument(text: string): SchemaDocument {
  const tokens = tokensOf(text).filter(({ kind }) => kind !== 'comment');
  let at = 0;
  const has = (punctuator: string): boolean => tokens[at]?.text === punctuator && tokens[at]?.kind !== 'string';
  const fail = (expected: string): never => {
    const token = tokens[at];
    const line = text.slice(0, token?.from ?? text.length).split('\n').length;
    throw new SyntaxError(
      `line ${line}: expected ${expected} ${token === undefined ? 'at the end' : `instead of ${token.text.slice(0, 20)}`}`,
    );
  };
  const take = (punctuator: string): void => {
    if (!has(punctuator)) fail(punctuator);
    at++;
  };
  const name = (what: string): string => {
    const token = tokens[at];
    if (token?.kind !== 'name') return fail(what);
    at++;
    return token.text;
  };
  const described = (): { readonly description?: string } => {
    const token = tokens[at];
    if (token?.kind !== 'string') return {};
    at++;
    return { description: token.text };
  };
  /** Returns the text of a value, nested brackets included. */
  const value = (): string => {
    const first = tokens[at];
    if (first === undefined || /^[)\]}:=|&]$/.test(first.text)) return fail('a value');
    let depth = 0;
    do {
      const token = tokens[at];
      if (token === undefined) return fail('the end of a value');
      if (token.kind === 'punctuator' && /^[([{]$/.test(token.text)) depth++;
      if (token.kind === 'punctuator' && /^[)\]}]$/.test(token.text)) depth--;
      at++;
    } while (depth > 0);
    return text.slice(first.from, tokens[at - 1]?.to);
  };
  const directives = (): readonly string[] => {
    const found: string[] = [];
    while (tokens[at]?.kind === 'directive') {
      const first = tokens[at];
      at++;
      if (has('(')) value();
      found.push(text.slice(first?.from, tokens[at - 1]?.to));
    }
    return found;
  };
  const type = (): string => {
    let core: string;
    if (has('[')) {
      take('[');
      core = `[${type()}]`;
      take(']');
    } else core = name('a type');
    if (!has('!')) return core;
    take('!');
    return `${core}!`;
  };
  const input = (): InputNode => {
    const description = described();
    const identifier = name('a name');
    take(':');
    const of = type();
    let defaultValue: { readonly default?: string } = {};
    if (has('=')) {
      take('=');
      defaultValue = { default: value() };
    }
    return { name: identifier, type: of, ...defaultValue, directives: directives(), ...description };
  };
  const field = (): MemberNode => {
    const description = described();
    const identifier = name('the name of a field');
    const args: InputNode[] = [];
    if (has('(')) {
      take('(');
      while (!has(')')) args.push(input());
      take(')');
    }
    take(':');
    return { name: identifier, type: type(), arguments: args, directives: directives(), ...description };
  };
  const enumValue = (): MemberNode => {
    const description = described();
    return { name: name('a value'), type: '', arguments: [], directives: directives(), ...description };
  };
  const braces = (member: () => MemberNode): readonly MemberNode[] => {
    const members: MemberNode[] = [];
    take('{');
    while (!has('}')) members.push(member());
    take('}');
    return members;
  };
  const separated = (separator: string): readonly string[] => {
    if (has(separator)) take(separator);
    const names = [name('a type')];
    while (has(separator)) {
      take(separator);
      names.push(name('a type'));
    }
    return names;
  };
  const definition = (): DefinitionNode => {
    const description = described();
    const keyword = name('a definition');
    if (!KEYWORDS.has(keyword)) {
      at--;
      fail('type, input, enum, interface, union, scalar or schema');
    }
    const kind = keyword as DefinitionKeyword;
    const identifier = kind === 'schema' ? '' : name(`the name of the ${kind}`);
    let interfaces: readonly string[] = [];
    if (has('implements')) {
      at++;
      interfaces = separated('&');
    }
    const applied = directives();
    let members: readonly MemberNode[] = [];
    if (kind === 'union' && has('=')) {
      take('=');
      members = separated('|').map((member) => ({ name: member, type: '', arguments: [], directives: [] }));
    } else if (kind !== 'scalar' && kind !== 'union' && has('{')) {
      members = braces(kind === 'enum' ? enumValue : kind === 'input' ? () => ({ ...input(), arguments: [] }) : field);
    }
    return { keyword: kind, name: identifier, interfaces, directives: applied, ...description, members };
  };
  const document: DefinitionNode[] = [];
  while (at < tokens.length) document.push(definition());
  return document;
}

export function printSchemaDocument(document: SchemaDocument): string {
  return `${document.map(printDefinition).join('\n\n')}\n`;
}

function printDefinition({ keyword, name, interfaces, directives, description, members }: DefinitionNode): string {
  const head = [
    keyword,
    ...(name === '' ? [] : [name]),
    ...(interfaces.length === 0 ? [] : ['implements', interfaces.join(' & ')]),
    ...directives,
  ].join(' ');
  const above = description === undefined ? '' : `${description}\n`;
  if (keyword === 'union') return `${above}${head} = ${members.map((each) => each.name).join(' | ')}`;
  if (members.length === 0) return `${above}${head}`;
  return `${above}${head} {\n${members.map(printMember).join('\n')}\n}`;
}

function printMember(member: MemberNode): string {
  const { name, type, arguments: args, directives, description } = member;
  const above = description === undefined ? '' : `  ${description}\n`;
  if (type === '') return `${above}  ${[name, ...directives].join(' ')}`;
  if (args.length === 0) return `${above}  ${printInput(member)}`;
  const inputs = args.map((each) => `${each.description === undefined ? '' : `${each.description} `}${printInput(each)}`).join(', ');
  return `${above}  ${[`${name}(${inputs}): ${type}`, ...directives].join(' ')}`;
}

function printInput({ name, type, default: value, directives }: InputNode): string {
  return [`${name}: ${type}`, ...(value === undefined ? [] : ['=', value]), ...directives].join(' ');
}
