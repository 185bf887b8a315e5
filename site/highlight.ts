/** Highlighting of code, with the parsers that the editors of the console use. */
import { json } from '@codemirror/lang-json';
import { PostgreSQL } from '@codemirror/lang-sql';
import { StreamLanguage, type StreamParser } from '@codemirror/language';
import { diff } from '@codemirror/legacy-modes/mode/diff';
import { http } from '@codemirror/legacy-modes/mode/http';
import { javascript, typescript } from '@codemirror/legacy-modes/mode/javascript';
import { nginx } from '@codemirror/legacy-modes/mode/nginx';
import { shell } from '@codemirror/legacy-modes/mode/shell';
import { html } from '@codemirror/legacy-modes/mode/xml';
import { yaml } from '@codemirror/legacy-modes/mode/yaml';
import type { Parser } from '@lezer/common';
import { highlightCode, tagHighlighter, tags } from '@lezer/highlight';
import { graphqlLanguage } from '../console/src/parts/graphql-language.ts';

const PARSERS: Readonly<Record<string, Parser>> = {
  json: json().language.parser,
  sql: PostgreSQL.language.parser,
  graphql: graphqlLanguage.parser,
  sh: parserOf(shell),
  yaml: parserOf(yaml),
  js: parserOf(javascript),
  ts: parserOf(typescript),
  tsx: parserOf(typescript),
  html: parserOf(html),
  http: parserOf(http),
  diff: parserOf(diff),
  nginx: parserOf(nginx),
};
function parserOf(mode: StreamParser<unknown>): Parser {
  // One mode uses a name of tokens that the library does not have.
  return StreamLanguage.define({ ...mode, tokenTable: { property: tags.propertyName } }).parser;
}

/** Languages that are shown as they are. */
const PLAIN: ReadonlySet<string> = new Set(['', 'text']);

const CLASSES = tagHighlighter([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.definitionKeyword, tags.controlKeyword, tags.tagName], class: 'k' },
  { tag: [tags.string, tags.special(tags.string), tags.inserted], class: 's' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], class: 'n' },
  { tag: [tags.propertyName, tags.variableName, tags.typeName, tags.attributeName, tags.standard(tags.variableName)], class: 'p' },
  { tag: [tags.comment, tags.meta], class: 'c' },
  { tag: tags.deleted, class: 'd' },
]);

/**
 * Returns the code as HTML.
 * @throws Error for an unknown language
 */
export function highlighted(code: string, language: string): string {
  if (PLAIN.has(language)) return escaped(code);
  const parser = PARSERS[language];
  if (parser === undefined) throw new Error(`no parser for the language "${language}" (site/highlight.ts)`);
  let out = '';
  highlightCode(
    code,
    parser.parse(code),
    CLASSES,
    (text, classes) => {
      out += classes === '' ? escaped(text) : `<span class="${classes}">${escaped(text)}</span>`;
    },
    () => {
      out += '\n';
    },
  );
  return out;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for HTML, including attributes in double quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
