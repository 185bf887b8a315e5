/** SDL as a tree that can be changed and printed. Parts that are not interpreted, such as directives, keep their text. */
import { tokensOf } from './graphql-document.ts';
import { TokenCursor } from './token-cursor.ts';

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
  return new SchemaReader(text).document();
}

class SchemaReader {
  readonly #text: string;
  readonly #tokens: TokenCursor;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = new TokenCursor(tokensOf(text), (expected, token) => {
      const line = text.slice(0, token?.from ?? text.length).split('\n').length;
      const found = token === undefined ? 'at the end' : `instead of ${token.text.slice(0, 20)}`;
      return new SyntaxError(`line ${line}: expected ${expected} ${found}`);
    });
  }

  document(): SchemaDocument {
    const definitions: DefinitionNode[] = [];
    while (this.#tokens.next !== undefined) definitions.push(this.#definition());
    return definitions;
  }

  #definition(): DefinitionNode {
    const description = this.#description();
    const keyword = this.#keyword();
    const name = keyword === 'schema' ? '' : this.#name(`the name of the ${keyword}`);
    const interfaces = this.#tokens.skip('implements') ? this.#separated('&') : [];
    const directives = this.#directives();
    return { keyword, name, interfaces, directives, ...description, members: this.#members(keyword) };
  }

  #keyword(): DefinitionKeyword {
    if (this.#tokens.next?.kind !== 'name') this.#tokens.fail('a definition');
    if (!KEYWORDS.has(this.#tokens.next?.text ?? '')) this.#tokens.fail('type, input, enum, interface, union, scalar or schema');
    return this.#name('a definition') as DefinitionKeyword;
  }

  #members(keyword: DefinitionKeyword): readonly MemberNode[] {
    if (keyword === 'union') {
      if (!this.#tokens.skip('=')) return [];
      return this.#separated('|').map((name) => ({ name, type: '', arguments: [], directives: [] }));
    }
    if (keyword === 'scalar' || !this.#tokens.skip('{')) return [];
    const members: MemberNode[] = [];
    while (!this.#tokens.skip('}')) members.push(this.#member(keyword));
    return members;
  }

  #member(keyword: DefinitionKeyword): MemberNode {
    if (keyword === 'enum') return this.#enumValue();
    return keyword === 'input' ? { ...this.#input(), arguments: [] } : this.#field();
  }

  #enumValue(): MemberNode {
    const description = this.#description();
    return { name: this.#name('a value'), type: '', arguments: [], directives: this.#directives(), ...description };
  }

  #field(): MemberNode {
    const description = this.#description();
    const name = this.#name('the name of a field');
    const args: InputNode[] = [];
    if (this.#tokens.skip('(')) while (!this.#tokens.skip(')')) args.push(this.#input());
    this.#tokens.take(':');
    return { name, type: this.#tokens.type('a type'), arguments: args, directives: this.#directives(), ...description };
  }

  #input(): InputNode {
    const description = this.#description();
    const name = this.#name('a name');
    this.#tokens.take(':');
    const type = this.#tokens.type('a type');
    const defaultValue = this.#tokens.skip('=') ? { default: this.#value() } : {};
    return { name, type, ...defaultValue, directives: this.#directives(), ...description };
  }

  #description(): { readonly description?: string } {
    const description = this.#tokens.description();
    return description === undefined ? {} : { description };
  }

  #directives(): readonly string[] {
    const found: string[] = [];
    while (this.#tokens.next?.kind === 'directive') {
      const { from } = this.#tokens.ofKind('directive', 'a directive');
      if (this.#tokens.has('(')) this.#value();
      found.push(this.#text.slice(from, this.#tokens.last?.to));
    }
    return found;
  }

  /** Reads the text of a value, nested brackets included. */
  #value(): string {
    const first = this.#tokens.next;
    if (first === undefined || /^[)\]}:=|&]$/.test(first.text)) return this.#tokens.fail('a value');
    let depth = 0;
    do {
      const { kind, text } = this.#tokens.any('the end of a value');
      if (kind === 'punctuator' && /^[([{]$/.test(text)) depth++;
      if (kind === 'punctuator' && /^[)\]}]$/.test(text)) depth--;
    } while (depth > 0);
    return this.#text.slice(first.from, this.#tokens.last?.to);
  }

  /** Reads names of types, which the separator may precede, too. */
  #separated(separator: string): readonly string[] {
    this.#tokens.skip(separator);
    const names = [this.#name('a type')];
    while (this.#tokens.skip(separator)) names.push(this.#name('a type'));
    return names;
  }

  #name(expected: string): string {
    return this.#tokens.ofKind('name', expected).text;
  }
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
