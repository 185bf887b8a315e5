/**
 * Templates to syntax trees, by recursive descent. Tokens are scanned only when they are asked
 * for, since what follows a block inside of a string is text and not an expression.
 */
import { scanPiece, scanToken, type Token } from './scan.ts';
import { type Accessor, type Branch, type Node, OPERATORS, type Operator } from './syntax.ts';
import { TemplateError } from './template-error.ts';

/** Of brackets, blocks and negations; any deeper template is refused. */
const MAX_DEPTH = 500;
/** In UTF-16 units. */
const MAX_LENGTH = 1_048_576;

const KEYWORDS: ReadonlySet<string> = new Set(['if', 'elif', 'else', 'end', 'range', 'in', 'not', 'true', 'false', 'null']);
const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * A template that is an expression; every JSON document is one.
 * @throws TemplateError Lex Error, Parse Error
 */
export function parseExpression(source: string): Node {
  const parser = createParser(source);
  const node = parser.expression();
  parser.end();
  return node;
}

/**
 * A template that is text with blocks in it, as between the quotes of a string.
 * @throws TemplateError Lex Error, Parse Error
 */
export function parseText(source: string): Node {
  return createParser(source).text(0, null);
}

interface Parser {
  expression(): Node;
  text(from: number, until: '"' | null): Node;
  end(): void;
}

function createParser(source: string): Parser {
  let offset = 0;
  let ahead: Token | undefined;
  let depth = 0;

  if (source.length > MAX_LENGTH) {
    throw new TemplateError('Parse Error', `The template is longer than ${MAX_LENGTH} characters.`, source, { start: 0, end: 0 });
  }

  const peek = (): Token => {
    ahead ??= scanToken(source, offset);
    return ahead;
  };
  const take = (): Token => {
    const token = peek();
    offset = token.end;
    ahead = undefined;
    return token;
  };
  const moveTo = (to: number): void => {
    offset = to;
    ahead = undefined;
  };

  const unexpected = ({ kind, text, start, end }: Token): TemplateError => {
    if (kind === 'end') return new TemplateError('Parse Error', 'Unexpected end of the template.', source, { start, end });
    // The end of a block that never began is found out at its second brace.
    const shift = text === '}' && source[end] === '}' ? 1 : 0;
    return new TemplateError('Parse Error', `Unexpected token '${text}'.`, source, { start: start + shift, end: end + shift });
  };

  const is = (text: string): boolean => {
    const token = peek();
    return token.text === text && (token.kind === 'symbol' || token.kind === 'name');
  };
  const accept = (text: string): boolean => {
    if (!is(text)) return false;
    take();
    return true;
  };
  const expect = (text: string): Token => {
    if (!is(text)) throw unexpected(peek());
    return take();
  };
  const name = (): string => {
    const token = peek();
    if (token.kind !== 'name' || KEYWORDS.has(token.text)) throw unexpected(token);
    return take().text;
  };

  const deeper = <T>(read: () => T): T => {
    depth += 1;
    if (depth > MAX_DEPTH) {
      const { start, end } = peek();
      throw new TemplateError('Parse Error', `The template is nested deeper than ${MAX_DEPTH} levels.`, source, { start, end });
    }
    const result = read();
    depth -= 1;
    return result;
  };

  const expression = (): Node =>
    deeper(() => {
      const { start } = peek();
      if (accept('not')) {
        const operand = expression();
        return { kind: 'not', operand, span: { start, end: operand.span.end } };
      }
      const left = atom();
      const operator = OPERATORS.find((each) => is(each));
      if (operator === undefined) return left;
      return operation(operator, left);
    });

  const operation = (operator: Operator, left: Node): Node => {
    take();
    const right = atom();
    return { kind: 'operation', operator, left, right, span: { start: left.span.start, end: right.span.end } };
  };

  const atom = (): Node => {
    const token = peek();
    const { kind, text, value, start, end } = token;
    if (kind === 'number' || kind === 'text') {
      take();
      return { kind: 'literal', value, span: { start, end } };
    }
    if (kind === 'quote') return string();
    if (kind === 'name') return named();
    switch (kind === 'symbol' ? text : '') {
      case '(':
        return parenthesised();
      case '[':
        return array();
      case '{':
        return object();
      case '{{':
        return block();
      default:
        throw unexpected(token);
    }
  };

  const parenthesised = (): Node => {
    expect('(');
    const inner = expression();
    expect(')');
    return inner;
  };

  const array = (): Node => {
    const { start } = expect('[');
    const items: Node[] = [];
    if (!is(']')) {
      do items.push(expression());
      while (accept(','));
    }
    return { kind: 'array', items, span: { start, end: expect(']').end } };
  };

  const object = (): Node => {
    const { start } = expect('{');
    const entries: [string, Node][] = [];
    if (!is('}')) {
      do {
        const key = objectKey();
        expect(':');
        entries.push([key, expression()]);
      } while (accept(','));
    }
    return { kind: 'object', entries, span: { start, end: expect('}').end } };
  };

  const objectKey = (): string => {
    const token = peek();
    if (token.kind !== 'quote') throw unexpected(token);
    const key = string();
    if (key.kind !== 'literal') {
      throw new TemplateError('Parse Error', 'The key of an object cannot hold a template.', source, key.span);
    }
    return key.value as string;
  };

  const string = (): Node => {
    const { start, end } = take();
    const node = text(end, '"');
    if (source[offset] !== '"') throw unexpected({ kind: 'end', text: '', value: null, start: offset, end: offset });
    moveTo(offset + 1);
    return { ...node, span: { start, end: offset } };
  };

  /** Leaves the parser before the quote that ends it. */
  const text = (from: number, until: '"' | null): Node => {
    const parts: (string | Node)[] = [];
    moveTo(from);
    for (;;) {
      const piece = scanPiece(source, offset, until);
      if (piece.text !== '') parts.push(piece.text);
      moveTo(piece.end);
      if (source[offset] !== '{') break;
      parts.push(block());
    }
    const span = { start: from, end: offset };
    if (parts.every((part) => typeof part === 'string')) return { kind: 'literal', value: parts.join(''), span };
    return { kind: 'text', parts, span };
  };

  const named = (): Node => {
    const { text, start, end } = peek();
    const literal = LITERALS.get(text);
    if (literal !== undefined) {
      take();
      return { kind: 'literal', value: literal, span: { start, end } };
    }
    const variable = name();
    if (!is('(')) return path(variable, start, end);
    // Where a call is faulty is told by its name and its argument.
    const argument = parenthesised();
    return { kind: 'call', name: variable, argument, span: { start, end: argument.span.end } };
  };

  const path = (variable: string, start: number, nameEnd: number): Node => {
    const accessors: Accessor[] = [];
    let optional = false;
    let end = nameEnd;
    const isOptional = accept('?');
    if (isOptional) {
      optional = true;
      end = offset;
    }
    for (;;) {
      if (accept('?')) {
        optional = true;
        end = offset;
      } else if (accept('.')) {
        const token = peek();
        if (token.kind !== 'name') throw unexpected(token);
        end = take().end;
        accessors.push({ key: token.text, optional, end });
      } else if (accept('[')) {
        const key = expression();
        end = expect(']').end;
        accessors.push({ key: key.kind === 'literal' && typeof key.value === 'string' ? key.value : key, optional, end });
      } else break;
    }
    return { kind: 'path', variable, variableSpan: { start, end: nameEnd }, optional: isOptional, accessors, span: { start, end } };
  };

  /** `{{ expression }}`, or what begins with `{{ if` or `{{ range`. */
  const block = (): Node =>
    deeper(() => {
      const { start } = expect('{{');
      if (accept('if')) return conditional(start);
      if (accept('range')) return range(start);
      const node = expression();
      close();
      return node;
    });

  /** The two braces that end a block. */
  const close = (): number => {
    const { end } = expect('}');
    if (source[end] !== '}') throw unexpected(peek());
    moveTo(end + 1);
    return offset;
  };

  const conditional = (start: number): Node => {
    const branches: Branch[] = [];
    do {
      const condition = expression();
      close();
      branches.push({ condition, result: expression() });
      expect('{{');
    } while (accept('elif'));
    expect('else');
    close();
    const otherwise = expression();
    expect('{{');
    expect('end');
    return { kind: 'if', branches, otherwise, span: { start, end: close() } };
  };

  const range = (start: number): Node => {
    const index = name();
    expect(',');
    const item = name();
    expect(':=');
    const list = expression();
    close();
    const body = expression();
    expect('{{');
    expect('end');
    return { kind: 'range', index, item, list, body, span: { start, end: close() } };
  };

  return {
    expression,
    text,
    end() {
      if (peek().kind !== 'end') throw unexpected(peek());
    },
  };
}
