/**
 * GraphQL documents in JavaScript and TypeScript: templates after `gql` or `graphql`, as a tag or a call, or after a comment that is
 * `GraphQL`. Reads tokens only, because a parser for JSX and types is a large dependency: strings end with their line, so an
 * apostrophe in JSX hides no more than the rest of it.
 */

export interface CodeDocuments {
  /** The documents in their places; everything else is spaces and line breaks, so that positions are those of the file. */
  readonly text: string;
  readonly problems: readonly CodeProblem[];
}

export interface CodeProblem {
  readonly message: string;
  /** Offset in the file. */
  readonly start: number;
}

const TOKEN = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|[A-Za-z_$][\w$]*|\d[\w.]*|=>|[\s\S]/y;
const REGULAR_EXPRESSION = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** Part of a template up to its end, an interpolation or an escape. */
const CHUNK = /[^`\\$]+|\\[\s\S]|\$\{|[\s\S]/y;
/** Tokens after which a slash begins a regular expression. */
const BEFORE_EXPRESSION = /^(?:=>|[=([,;:!&|?+\-*%^~{]|return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/;
const TAG = /^(?:gql|graphql)$/;
/** Part of a line of GraphQL without a comment. */
const BEFORE_COMMENT = /^(?:[^"#]|"(?:[^"\\]|\\.)*")*/;
const COMMENT = /^\/\*\s*GraphQL\s*\*\/$/;
const NOT_FOLLOWED =
  'the value of the interpolation is not known here: one may stand only before or after a definition, for a fragment of another template. Use a variable or a fragment in its place';

export function documentsInCode(code: string): CodeDocuments {
  const scan = new CodeScan(code);
  return scan.run();
}

interface Template {
  readonly start: number;
  /** Text so far; `null` if it is not GraphQL. */
  text: string | null;
}

class CodeScan {
  readonly #code: string;
  readonly #problems: CodeProblem[] = [];
  /** Open templates, outermost first, each with the number of open braces in its interpolation. */
  readonly #open: { readonly template: Template; braces: number }[] = [];
  /** Complete lines of the result. */
  readonly #lines: string[] = [];
  #line = '';
  #at = 0;
  #last = '';
  #beforeLast = '';
  #isMarked = false;

  constructor(code: string) {
    this.#code = code;
  }

  run(): CodeDocuments {
    while (this.#at < this.#code.length) this.#step();
    for (const { template } of this.#open.slice(0, 1)) this.#report('the template that begins here has no end', template.start);
    return { text: this.#lines.join('') + this.#line, problems: this.#problems };
  }

  #report(message: string, start: number): void {
    this.#problems.push({ message, start });
  }

  /** Returns the match at the current position, and moves behind it. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#code)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #write(text: string): void {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) this.#lines.push(this.#line, text.slice(0, end));
    this.#line = end > 0 ? text.slice(end) : this.#line + text;
  }

  #hide(text: string): void {
    this.#write(hidden(text));
  }

  #step(): void {
    const start = this.#at;
    if (
      this.#code[start] === '/' &&
      (this.#last === '' || BEFORE_EXPRESSION.test(this.#last)) &&
      !/^[/*]$/.test(this.#code[start + 1] ?? '')
    ) {
      const expression = this.#take(REGULAR_EXPRESSION);
      this.#hide(expression);
      if (expression !== '') {
        this.#follow('0');
        return;
      }
    }
    const token = this.#take(TOKEN);
    this.#hide(token);
    if (token === '`') this.#template({ start, text: this.#isGraphql() ? '' : null });
    else if (token.startsWith('/*')) this.#isMarked = COMMENT.test(token);
    else if (!/^(?:\s|\/\/)/.test(token)) this.#word(token);
  }

  #word(token: string): void {
    const inner = this.#open.at(-1);
    if (inner !== undefined && token === '{') inner.braces += 1;
    if (inner !== undefined && token === '}') {
      if (inner.braces === 0) {
        this.#open.pop();
        this.#template(inner.template);
        return;
      }
      inner.braces -= 1;
    }
    this.#follow(token);
  }

  #follow(token: string): void {
    this.#beforeLast = this.#last;
    this.#last = token;
    this.#isMarked = false;
  }

  #isGraphql(): boolean {
    return this.#isMarked || TAG.test(this.#last) || (this.#last === '(' && TAG.test(this.#beforeLast));
  }

  /** Reads a template up to its end or its next interpolation. */
  #template(template: Template): void {
    while (this.#at < this.#code.length) {
      const start = this.#at;
      const chunk = this.#take(CHUNK);
      if (chunk === '`') {
        if (template.text !== null) this.#hideComment();
        this.#hide(chunk);
        this.#follow('0');
        return;
      }
      if (chunk === '${') {
        this.#hide(chunk);
        if (template.text !== null && !isBetweenDefinitions(template.text)) this.#report(NOT_FOLLOWED, start);
        this.#open.push({ template, braces: 0 });
        this.#follow('{');
        return;
      }
      if (template.text === null) this.#hide(chunk);
      else {
        const text = chunk.startsWith('\\') ? this.#escape(chunk, start) : chunk;
        template.text += text;
        this.#write(text);
      }
    }
    this.#open.push({ template, braces: 0 });
  }

  /** A comment ends with its template, although another template may follow in the line. */
  #hideComment(): void {
    const before = BEFORE_COMMENT.exec(this.#line)?.[0].length ?? 0;
    if (this.#line[before] === '#') this.#line = this.#line.slice(0, before) + hidden(this.#line.slice(before));
  }

  /** Returns as many characters as the escape has. */
  #escape(written: string, start: number): string {
    const character = written.slice(1);
    if (/[\s"'$\\`{}]/.test(character)) return ` ${character}`;
    if (!/[nrt]/.test(character)) this.#report(`the escape ${written} is not supported in a GraphQL document`, start);
    return '  ';
  }
}

function hidden(text: string): string {
  return text.replaceAll(/[^\r\n]/g, ' ');
}

/** Returns true if a definition may begin after the text. */
function isBetweenDefinitions(text: string): boolean {
  const tokens = text.replaceAll(/"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*/g, ' ').trimEnd();
  let depth = 0;
  for (const character of tokens) depth += '{('.includes(character) ? 1 : '})'.includes(character) ? -1 : 0;
  return depth === 0 && /^\s*$|\}$/.test(tokens);
}
