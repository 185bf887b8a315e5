/** Rows in the text of a file or of the clipboard: CSV, TSV or JSON. */
import { isList, isObject, type Json, type JsonObject, parseJsonText } from './json.ts';

/** Maximum size of an import. The cells are those of its rows with all of its columns. */
export const IMPORT_LIMITS = { characters: 16_000_000, rows: 50_000, cells: 5_000_000 } as const;

/** @throws SyntaxError if there are too many rows or cells */
export function checkSize(rows: number, columns: number): void {
  for (const [found, limit, noun] of [
    [rows, IMPORT_LIMITS.rows, 'rows'],
    [rows * columns, IMPORT_LIMITS.cells, 'cells'],
  ] as const) {
    if (found > limit) throw new SyntaxError(`There are more than ${limit.toLocaleString('en')} ${noun}. Split the file.`);
  }
}

/** Value of a cell: text of CSV and TSV, JSON of JSON. Null is an empty cell, undefined a missing one. */
export type ImportCell = Json | undefined;

export interface ImportTable {
  readonly format: 'CSV' | 'TSV' | 'JSON';
  /** Names of the columns; without a header the first row counts as a row, and the names are empty. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ImportCell[])[];
  /** Line of each row in the text, from 1; for JSON the position in the list. */
  readonly lines: readonly number[];
}

interface Line {
  readonly cells: readonly (string | null)[];
  readonly line: number;
}

const DELIMITERS = ['\t', ',', ';', '|'] as const;

/** Word for the place of a row in the import. */
export function unitOf({ format }: ImportTable): 'Item' | 'Line' {
  return format === 'JSON' ? 'Item' : 'Line';
}

/** Returns the delimiter that the first line has most often outside of quotes; a tab if it has none. */
export function delimiterOf(text: string): string {
  const counts = new Map<string, number>(DELIMITERS.map((each) => [each, 0]));
  let isQuoted = false;
  for (let at = 0; at < text.length && (isQuoted || text[at] !== '\n'); at++) {
    const letter = text.charAt(at);
    const count = counts.get(letter);
    if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && count !== undefined) counts.set(letter, count + 1);
  }
  const most = Math.max(...counts.values());
  return DELIMITERS.find((each) => counts.get(each) === most) ?? '\t';
}

/** Reads rows with the quotes of CSV. An empty cell without quotes is null. @throws SyntaxError if a quote does not end */
export function* delimitedRows(text: string, delimiter: string): Generator<Line> {
  const end = text.length;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  while (at < end) {
    const cells: (string | null)[] = [];
    const first = line;
    for (let isRow = true; isRow; ) {
      if (text[at] === '"') {
        let value = '';
        const opened = line;
        for (at++; ; at++) {
          const quote = text.indexOf('"', at);
          if (quote === -1) throw new SyntaxError(`line ${opened}: a quote does not end`);
          value += text.slice(at, quote);
          at = quote + 1;
          if (text[at] !== '"') break;
          value += '"';
        }
        for (let index = value.indexOf('\n'); index !== -1; index = value.indexOf('\n', index + 1)) line++;
        const next = cellEnd(text, at, delimiter);
        cells.push(value + text.slice(at, next).trimEnd());
        at = next;
      } else {
        const next = cellEnd(text, at, delimiter);
        cells.push(next === at ? null : text.slice(at, next));
        at = next;
      }
      if (text[at] === delimiter) at++;
      else isRow = false;
    }
    if (text[at] === '\r') at++;
    if (text[at] === '\n') at++;
    line++;
    if (cells.some((cell) => cell !== null)) yield { cells, line: first };
  }
}

/** Position of the end of a cell without quotes. */
function cellEnd(text: string, from: number, delimiter: string): number {
  let at = from;
  for (; at < text.length; at++) {
    const letter = text[at];
    if (letter === delimiter || letter === '\n' || (letter === '\r' && text[at + 1] === '\n')) break;
  }
  return at;
}

/** Returns a name without the differences between the headings of spreadsheets and the names of columns. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}

/** Returns the table of rows, whose first row has the names of the columns if at least half of its cells are such names. */
export function tableOfLines(lines: readonly Line[], delimiter: string, known: Iterable<string>): ImportTable {
  const [head] = lines;
  const names = head?.cells.map((cell) => cell?.trim() ?? '') ?? [];
  const plain = new Set([...known].map(plainName));
  const isHeader = names.filter((name) => name !== '' && plain.has(plainName(name))).length * 2 >= Math.max(1, names.length);
  const rows = isHeader ? lines.slice(1) : lines;
  return {
    format: delimiter === '\t' ? 'TSV' : 'CSV',
    columns: isHeader ? names : names.map(() => ''),
    rows: rows.map(({ cells }) => cells),
    lines: rows.map(({ line }) => line),
  };
}

export function isJsonText(text: string): boolean {
  return /^\s*(?:\[\s*[{\]]|\{)/.test(text);
}

/** Reads a list of objects, or one object per line. @throws SyntaxError with the place of the error, or if there are too many cells */
export function tableOfJson(text: string): ImportTable {
  const list = text.trimStart().startsWith('[') ? parseJsonText(text) : objectsOfLines(text);
  const items: readonly Json[] = isList(list) ? list : [list];
  checkSize(items.length, 1);
  const wrong = items.findIndex((item) => !isObject(item));
  if (wrong !== -1) throw new SyntaxError(`item ${wrong + 1} is not an object`);
  const objects = items as readonly JsonObject[];
  const names = new Set<string>();
  for (const item of objects) for (const name of Object.keys(item)) names.add(name);
  const columns = [...names];
  checkSize(objects.length, columns.length);
  return {
    format: 'JSON',
    columns,
    rows: objects.map((item) => columns.map((column) => item[column])),
    lines: objects.map((_, index) => index + 1),
  };
}

function objectsOfLines(text: string): readonly Json[] | Json {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length > 1 && lines.every((line) => /^\s*\{.*\}\s*$/.test(line))) {
    return lines.map((line, index) => {
      try {
        return parseJsonText(line);
      } catch {
        throw new SyntaxError(`invalid JSON in line ${index + 1}`);
      }
    });
  }
  return parseJsonText(text);
}
