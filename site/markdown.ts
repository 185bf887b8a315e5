/** Markdown of a page to HTML: anchors as on GitHub, links between pages, titles of files, and the text for the search. */
import { posix } from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';
import { Anchors } from './anchors.ts';
import { escaped, highlighted } from './highlight.ts';
import { brokenJson } from './json-lines.ts';
import { relativeAddress, type SourcePage, type Sources } from './pages.ts';

export interface Heading {
  readonly level: number;
  readonly anchor: string;
  readonly text: string;
}

/** Text from one heading to the next, for the search. */
export interface Section {
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
}

/** A link to another page or to a heading; checked when all pages are rendered. */
export interface LocalLink {
  readonly target: SourcePage;
  readonly anchor: string;
  readonly written: string;
}

export interface RenderedPage {
  readonly page: SourcePage;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
  readonly links: readonly LocalLink[];
  /** Beginning of the page, for search engines. */
  readonly description: string;
}

const markdown = new MarkdownIt({ html: true });
const COMMENT = /^\s*<!--[\s\S]*-->\s*$/;
const DESCRIPTION_LENGTH = 160;

// Pages contain no HTML but comments. A name in angle brackets is text.
markdown.renderer.rules['html_block'] = (tokens, index) => {
  const content = tokens[index]?.content ?? '';
  return COMMENT.test(content) ? '' : `<p>${escaped(content)}</p>\n`;
};
markdown.renderer.rules['html_inline'] = (tokens, index) => escaped(tokens[index]?.content ?? '');
markdown.renderer.rules['table_open'] = (tokens, index, _options, _env, renderer) => {
  const token = tokens[index];
  return `<div class="table"><table${token === undefined ? '' : renderer.renderAttrs(token)}>\n`;
};
markdown.renderer.rules['table_close'] = () => '</table></div>\n';
markdown.renderer.rules['code_inline'] = (tokens, index) => `<code>${breakable(tokens[index]?.content ?? '')}</code>`;
markdown.renderer.rules['text'] = (tokens, index) => withWholeFlags(tokens[index]?.content ?? '');
markdown.renderer.rules['code_block'] = (tokens, index) => codeHtml(tokens[index]?.content ?? '', '');
markdown.renderer.rules['fence'] = (tokens, index) => {
  const { info = '', content = '' } = tokens[index] ?? {};
  const [language = '', ...words] = info.trim().split(/\s+/);
  const file = words.find((word) => word.startsWith('file='))?.slice('file='.length);
  return codeHtml(content, language, file);
};
markdown.renderer.rules['heading_close'] = (tokens, index) => {
  const { tag = '' } = tokens[index] ?? {};
  const id = String(tokens[index - 2]?.attrGet('id') ?? '');
  if (tag === 'h1' || id === '') return `</${tag}>\n`;
  return ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></${tag}>\n`;
};

function codeHtml(content: string, language: string, file?: string): string {
  const shown = language === 'json' ? brokenJson(content.trimEnd()) : content.trimEnd();
  const code = `<pre><code>${highlighted(shown, language)}</code></pre>`;
  if (file === undefined) return `<div class="code">${code}</div>\n`;
  return `<figure class="code"><figcaption>${escaped(file)}</figcaption>${code}</figure>\n`;
}

/** Returns HTML of text with names such as those of environment variables, which may be broken after each underscore and comma. */
export function breakable(code: string): string {
  return withWholeFlags(code).replaceAll(/(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|,(?=\S)/g, '$&<wbr>');
}

/** Browsers break a line between the hyphens and the name of a flag. */
function withWholeFlags(text: string): string {
  return escaped(text).replaceAll(/(?<![\w-])--?[a-z0-9]+/g, '<span class="whole">$&</span>');
}

/** @throws Error if a link leads nowhere, or a block has an unknown language */
export function renderPage(page: SourcePage, sources: Sources): RenderedPage {
  const tokens = markdown.parse(page.markdown, {});
  const headings = addAnchors(tokens);
  const links: LocalLink[] = [];
  for (const token of tokens) alignByClass(token);
  labelCells(tokens);
  for (const token of tokens) if (token.children !== null) token.children = resolveLinks(token.children, page, sources, links);
  const title = headings[0]?.text;
  if (title === undefined) throw new Error(`the page has no heading`);
  const first = tokens.find((token, index) => token.type === 'inline' && tokens[index - 1]?.type === 'paragraph_open');
  return {
    page,
    title,
    html: markdown.renderer.render(tokens, markdown.options, {}),
    headings,
    sections: sectionsOf(tokens, headings),
    links,
    description: first === undefined ? '' : shortened(textOf(first)),
  };
}

export function parseMarkdown(text: string): Token[] {
  return markdown.parse(text, {});
}

function shortened(text: string): string {
  if (text.length <= DESCRIPTION_LENGTH) return text;
  return `${text.slice(0, text.lastIndexOf(' ', DESCRIPTION_LENGTH))} …`;
}

function addAnchors(tokens: readonly Token[]): Heading[] {
  const anchors = new Anchors();
  const headings: Heading[] = [];
  tokens.forEach((token, index) => {
    const inline = tokens[index + 1];
    if (token.type !== 'heading_open' || inline === undefined) return;
    const anchor = anchors.add(inline.content);
    token.attrSet('id', anchor);
    headings.push({ level: Number(token.tag.slice(1)), anchor, text: textOf(inline) });
  });
  return headings;
}

/** Replaces the style of aligned cells, which the content security policy blocks. */
function alignByClass(token: Token): void {
  const side = /^text-align:(right|center)$/.exec(attributeOf(token, 'style'))?.[1];
  if (token.attrs !== null) token.attrs = token.attrs.filter(([name]) => name !== 'style');
  if (side !== undefined) token.attrSet('class', side);
}

/** From this number of columns on, a narrow window shows each row as a list. */
const MANY_COLUMNS = 4;

/** Gives the cells of tables with many columns the titles of their columns. */
function labelCells(tokens: readonly Token[]): void {
  let titles: string[] = [];
  let column = 0;
  let table: Token | null = null;
  tokens.forEach((token, index) => {
    if (token.type === 'table_open') {
      table = token;
      titles = [];
    } else if (token.type === 'th_open') titles.push(textOf(tokens[index + 1] ?? token));
    else if (token.type === 'tbody_open' && titles.length >= MANY_COLUMNS) table?.attrSet('class', 'many');
    else if (token.type === 'tr_open') column = 0;
    else if (token.type === 'td_open') {
      if (titles.length >= MANY_COLUMNS) token.attrSet('data-title', titles[column] ?? '');
      column++;
    }
  });
}

/** Returns an attribute as text, empty if it is missing. */
export function attributeOf(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '');
}

/** Returns the text of an inline token, without marks. */
export function textOf({ children, content }: Token): string {
  if (children === null) return content;
  return children.map((child) => (child.type === 'softbreak' || child.type === 'hardbreak' ? ' ' : child.content)).join('');
}

/** Replaces links to Markdown files by links to pages, and links to other files by their paths. */
function resolveLinks(children: readonly Token[], page: SourcePage, sources: Sources, links: LocalLink[]): Token[] {
  const out: Token[] = [];
  /** Path of a file that is no page, while its link is open. */
  let file: string | null = null;
  for (const token of children) {
    if (token.type === 'image') {
      const written = attributeOf(token, 'src');
      const picture = sources.pictures.get(pathOf(page, written).path);
      if (picture === undefined) throw new Error(`no picture is at ${written}`);
      token.attrSet('src', relativeAddress(page.address, picture));
      token.attrSet('loading', 'lazy');
    }
    if (token.type === 'link_open') {
      const written = attributeOf(token, 'href');
      if (/^[a-z]+:/.test(written)) token.attrSet('rel', 'noreferrer');
      else {
        const { path, anchor } = pathOf(page, written);
        const target = sources.pages.get(path);
        if (target === undefined) {
          if (path.startsWith('docs/')) throw new Error(`no page is at ${written}`);
          file = path;
          continue;
        }
        links.push({ target, anchor, written });
        const address = target === page ? '' : relativeAddress(page.address, target.address);
        token.attrSet('href', anchor === '' ? address : `${address}#${anchor}`);
      }
    } else if (token.type === 'link_close' && file !== null) {
      if (out.at(-1)?.content !== file) out.push(...pathTokens(file));
      file = null;
      continue;
    }
    out.push(token);
  }
  return out;
}

/** Returns tokens for ` (path)`. */
function pathTokens(path: string): Token[] {
  return markdown.parseInline(` (\`${path}\`)`, {})[0]?.children ?? [];
}

function pathOf(page: SourcePage, written: string): { path: string; anchor: string } {
  const [path = '', anchor = ''] = decodeURIComponent(written).split('#');
  return { path: path === '' ? page.source : posix.join(posix.dirname(page.source), path), anchor };
}

/** Rows whose name occurs more often on the page have no section: the tables of operations list the same errors again and again. */
const MAX_ROWS_OF_NAME = 2;
/** Beyond this length, a name of a row is cut. */
const ROW_NAME_LENGTH = 60;

/** Returns a section for each heading, and one for each row of a table that begins with code, such as an option or an error code. */
function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): Section[] {
  const sections: { anchor: string; heading: string; parts: string[] }[] = [];
  const open = (heading: string, anchor: string): string[] => {
    const parts: string[] = [];
    sections.push({ anchor, heading, parts });
    return parts;
  };
  const names = new Map<string, number>();
  tokens.forEach(({ type }, index) => {
    const name = type === 'tr_open' ? rowName(tokens[index + 2]) : null;
    if (name !== null) names.set(name, (names.get(name) ?? 0) + 1);
  });
  let count = 0;
  let prose: string[] = [];
  let row: string[] | null = null;
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      const heading = headings[count++];
      prose = open(heading?.text ?? '', heading?.anchor ?? '');
    } else if (token.type === 'tr_open') {
      const name = rowName(tokens[index + 2]);
      const heading = headings[count - 1];
      const isNamed = name !== null && heading !== undefined && (names.get(name) ?? 0) <= MAX_ROWS_OF_NAME;
      row = isNamed ? open(`${heading.text} › ${name.slice(0, ROW_NAME_LENGTH)}`, heading.anchor) : null;
    } else if (token.type === 'tr_close') row = null;
    else if (token.type === 'fence') prose.push(token.content.trim());
    else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') (row ?? prose).push(textOf(token));
  });
  return sections.map(({ anchor, heading, parts }) => ({ anchor, heading, text: parts.join('\n').replaceAll(/[ \t]+/g, ' ') }));
}

/** Returns the text of the first cell if it begins with code. */
function rowName(cell: Token | undefined): string | null {
  return cell?.children?.[0]?.type === 'code_inline' ? textOf(cell) : null;
}
