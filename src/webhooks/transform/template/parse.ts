/**
 * Parses templates into syntax trees by recursive descent. Tokens are scanned on demand, since the text after a block inside a string is
 * not an expression.
 */
import { scanPiece, scanToken, type TemplateToken } from './scan.ts';
import { type Accessor, type Branch, type Node, OPERATORS, type TemplateOperator } from './syntax.ts';
import { TemplateError } from './template-error.ts';

/** Maximum nesting of brackets, blocks and negations. */
const MAX_DEPTH = 500;
/** Maximum length of a template, in UTF-16 units. */
const MAX_LENGTH = 1_048_576;

const KEYWORDS: ReadonlySet<string> = new Set(['if', 'elif', 'else', 'end', 'range', 'in', 'not', 'true', 'false', 'null']);
const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Parses a template that is an expression. Every JSON document is one.
 * @throws TemplateError Lex Error, Parse Error
 */
export function parseExpression(source: string): Node {
  const parser = new Parser(source);
  const node = parser.expression();
  parser.end();
  return node;
}

/**
 * Parses a template that is text with blocks, as between the quotes of a string.
 * @throws TemplateError Lex Error, Parse Error
 */
export function parseText(source: string): Node {
  return new Parser(source).text(0, null);
}

class Parser {
  readonly #source: string;
  #offset = 0;
  #ahead: TemplateToken | undefined;
  #depth = 0;

  constructor(source: string) {
    if (source.length > MAX_LENGTH) {
      throw new TemplateError('Parse Error', `The template is longer than ${MAX_LENGTH} characters.`, source, { start: 0, end: 0 });
    }
    this.#source = source;
  }

  #peek(): TemplateToken {
    this.#ahead ??= scanToken(this.#source, this.#offset);
    return this.#ahead;
  }
  #take(): TemplateToken {
    const token = this.#peek();
    this.#offset = token.end;
    this.#ahead = undefined;
    return token;
  }
  #moveTo(to: number): void {
    this.#offset = to;
    this.#ahead = undefined;
  }

  #unexpected({ kind, text, start, end }: TemplateToken): TemplateError {
    if (kind === 'end') return new TemplateError('Parse Error', 'Unexpected end of the template.', this.#source, { start, end });
    // A block end without a block is reported at its second brace.
    const shift = text === '}' && this.#source[end] === '}' ? 1 : 0;
    return new TemplateError('Parse Error', `Unexpected token '${text}'.`, this.#source, { start: start + shift, end: end + shift });
  }

  #is(text: string): boolean {
    const token = this.#peek();
    return token.text === text && (token.kind === 'symbol' || token.kind === 'name');
  }
  #accept(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#take();
    return true;
  }
  #expect(text: string): TemplateToken {
    if (!this.#is(text)) throw this.#unexpected(this.#peek());
    return this.#take();
  }
  #name(): string {
    const token = this.#peek();
    if (token.kind !== 'name' || KEYWORDS.has(token.text)) throw this.#unexpected(token);
    return this.#take().text;
  }

  #deeper<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) {
      const { start, end } = this.#peek();
      throw new TemplateError('Parse Error', `The template is nested deeper than ${MAX_DEPTH} levels.`, this.#source, { start, end });
    }
    const result = read();
    this.#depth -= 1;
    return result;
  }

  expression(): Node {
    return this.#deeper(() => {
      const { start } = this.#peek();
      if (this.#accept('not')) {
        const operand = this.expression();
        return { kind: 'not', operand, span: { start, end: operand.span.end } };
      }
      const left = this.#atom();
      const operator = OPERATORS.find((each) => this.#is(each));
      if (operator === undefined) return left;
      return this.#operation(operator, left);
    });
  }

  #operation(operator: TemplateOperator, left: Node): Node {
    this.#take();
    const right = this.#atom();
    return { kind: 'operation', operator, left, right, span: { start: left.span.start, end: right.span.end } };
  }

  #atom(): Node {
    const token = this.#peek();
    const { kind, text, value, start, end } = token;
    if (kind === 'number' || kind === 'text') {
      this.#take();
      return { kind: 'literal', value, span: { start, end } };
    }
    if (kind === 'quote') return this.#string();
    if (kind === 'name') return this.#named();
    switch (kind === 'symbol' ? text : '') {
      case '(':
        return this.#parenthesised();
      case '[':
        return this.#array();
      case '{':
        return this.#object();
      case '{{':
        return this.#block();
      default:
        throw this.#unexpected(token);
    }
  }

  #parenthesised(): Node {
    this.#expect('(');
    const inner = this.expression();
    this.#expect(')');
    return inner;
  }

  #array(): Node {
    const { start } = this.#expect('[');
    const items: Node[] = [];
    if (!this.#is(']')) {
      do items.push(this.expression());
      while (this.#accept(','));
    }
    return { kind: 'array', items, span: { start, end: this.#expect(']').end } };
  }

  #object(): Node {
    const { start } = this.#expect('{');
    const entries: [string, Node][] = [];
    if (!this.#is('}')) {
      do {
        const key = this.#objectKey();
        this.#expect(':');
        entries.push([key, this.expression()]);
      } while (this.#accept(','));
    }
    return { kind: 'object', entries, span: { start, end: this.#expect('}').end } };
  }

  #objectKey(): string {
    const token = this.#peek();
    if (token.kind !== 'quote') throw this.#unexpected(token);
    const key = this.#string();
    if (key.kind !== 'literal') {
      throw new TemplateError('Parse Error', 'The key of an object cannot hold a template.', this.#source, key.span);
    }
    return key.value as string;
  }

  #string(): Node {
    const { start, end } = this.#take();
    const node = this.text(end, '"');
    if (this.#source[this.#offset] !== '"')
      throw this.#unexpected({ kind: 'end', text: '', value: null, start: this.#offset, end: this.#offset });
    this.#moveTo(this.#offset + 1);
    return { ...node, span: { start, end: this.#offset } };
  }

  /** Stops before the closing quote. */
  text(from: number, until: '"' | null): Node {
    const parts: (string | Node)[] = [];
    this.#moveTo(from);
    for (;;) {
      const piece = scanPiece(this.#source, this.#offset, until);
      if (piece.text !== '') parts.push(piece.text);
      this.#moveTo(piece.end);
      if (this.#source[this.#offset] !== '{') break;
      parts.push(this.#block());
    }
    const span = { start: from, end: this.#offset };
    if (parts.every((part) => typeof part === 'string')) return { kind: 'literal', value: parts.join(''), span };
    return { kind: 'text', parts, span };
  }

  #named(): Node {
    const { text, start, end } = this.#peek();
    const literal = LITERALS.get(text);
    if (literal !== undefined) {
      this.#take();
      return { kind: 'literal', value: literal, span: { start, end } };
    }
    const variable = this.#name();
    if (!this.#is('(')) return this.#path(variable, start, end);
    // The span of a call covers its name and its argument.
    const argument = this.#parenthesised();
    return { kind: 'call', name: variable, argument, span: { start, end: argument.span.end } };
  }

  #path(variable: string, start: number, nameEnd: number): Node {
    const accessors: Accessor[] = [];
    let optional = false;
    let end = nameEnd;
    const isOptional = this.#accept('?');
    if (isOptional) {
      optional = true;
      end = this.#offset;
    }
    for (;;) {
      if (this.#accept('?')) {
        optional = true;
        end = this.#offset;
      } else if (this.#accept('.')) {
        const token = this.#peek();
        if (token.kind !== 'name') throw this.#unexpected(token);
        end = this.#take().end;
        accessors.push({ key: token.text, optional, end });
      } else if (this.#accept('[')) {
        const key = this.expression();
        end = this.#expect(']').end;
        accessors.push({ key: key.kind === 'literal' && typeof key.value === 'string' ? key.value : key, optional, end });
      } else break;
    }
    return { kind: 'path', variable, variableSpan: { start, end: nameEnd }, optional: isOptional, accessors, span: { start, end } };
  }

  /** `{{ expression }}`, or a block that starts with `{{ if` or `{{ range`. */
  #block(): Node {
    return this.#deeper(() => {
      const { start } = this.#expect('{{');
      if (this.#accept('if')) return this.#conditional(start);
      if (this.#accept('range')) return this.#range(start);
      const node = this.expression();
      this.#close();
      return node;
    });
  }

  /** Consumes the two braces that end a block. */
  #close(): number {
    const { end } = this.#expect('}');
    if (this.#source[end] !== '}') throw this.#unexpected(this.#peek());
    this.#moveTo(end + 1);
    return this.#offset;
  }

  #conditional(start: number): Node {
    const branches: Branch[] = [];
    do {
      const condition = this.expression();
      this.#close();
      branches.push({ condition, result: this.expression() });
      this.#expect('{{');
    } while (this.#accept('elif'));
    this.#expect('else');
    this.#close();
    const otherwise = this.expression();
    this.#expect('{{');
    this.#expect('end');
    return { kind: 'if', branches, otherwise, span: { start, end: this.#close() } };
  }

  #range(start: number): Node {
    const index = this.#name();
    this.#expect(',');
    const item = this.#name();
    this.#expect(':=');
    const list = this.expression();
    this.#close();
    const body = this.expression();
    this.#expect('{{');
    this.#expect('end');
    return { kind: 'range', index, item, list, body, span: { start, end: this.#close() } };
  }

  end(): void {
    if (this.#peek().kind !== 'end') throw this.#unexpected(this.#peek());
  }
}
