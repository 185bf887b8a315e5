import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEEP, runs } from '../../../../test/support/deep.ts';
import { bufferOfBytes } from '../../../util/bytes.ts';
import { type Json, type JsonObject, printJson } from '../../../util/json.ts';
import { runSync } from '../../../util/cooperative.ts';
import { cellText, type ResultPage, readPage, type ResultField, type RowReader, type TextCell, textCells, valueCells } from './answers.ts';

const read = <Cell>(text: string, readRow: RowReader<Cell>, piece?: number): ResultPage<Cell> =>
  runSync(readPage(200, Buffer.from(text), readRow, piece));
const values = valueCells(Number.POSITIVE_INFINITY);
const decoded = (cell: TextCell): string | null => (cell === null ? null : bufferOfBytes(cell).toString());

/** Any text, lone surrogates included. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(fc.constantFrom('"', '\\', '/', '\n', '\u0001', 'ü', '€', '😀', '\ud83d', '\ude00', 'a'), { maxLength: 20 })
    .map((all) => all.join('')),
  fc.jsonValue().map((value) => JSON.stringify(value)),
);
const cell = fc.option(text, { freq: 5 });
const pages = fc.record({
  cells: fc.array(fc.array(cell, { maxLength: 3 }), { maxLength: 6 }),
  indent: fc.constantFrom(0, 1),
  piece: fc.integer({ min: 1, max: 30 }),
  head: fc.jsonValue({ maxDepth: 3 }),
  /** Characters that are escaped although they need not be. */
  escaped: fc.constantFrom(/$^/g, /[<>='&]/g, /[\u0080-\uffff]/g, /[a-z/]/g),
});

function printed({
  cells,
  indent,
  head,
  escaped,
}: {
  cells: readonly (readonly (string | null)[])[];
  indent: number;
  head: unknown;
  escaped: RegExp;
}): string {
  const page = { '': head, jobComplete: true, rows: cells.map((row) => ({ f: row.map((v) => ({ v, other: head })) })), pageToken: 't' };
  const asEscapes = (value: string): string =>
    value.replaceAll(escaped, (found) => [...Array(found.length).keys()].map((i) => unicode(found.charCodeAt(i))).join(''));
  // Only within texts, and not within escapes.
  return JSON.stringify(page, null, indent).replaceAll(/("(?:[^"\\]|\\.)*")(:?)/g, (whole, string: string, colon: string) =>
    colon === ':'
      ? whole
      : string.replaceAll(/\\u[\da-f]{4}|\\.|[^\\]/gsu, (part) => (part.startsWith('\\') || part === '"' ? part : asEscapes(part))),
  );
}

const unicode = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;

describe('pages of a result', () => {
  it('reads the texts of cells as bytes, for any content and any escaping', () => {
    const property = fc.property(pages, ({ piece, ...given }) => {
      const page = read(printed(given), textCells, piece);
      // UTF-8 has no lone surrogates.
      const expected = given.cells.map((row) => row.map((value) => (value === null ? null : Buffer.from(value).toString())));
      expect(page.rows.map((row) => row.map(decoded))).toEqual(expected);
      expect(page.next).toBe('t');
    });
    fc.assert(property, runs(3000, 300));
  });

  it('reads the same cells as values', () => {
    const row = fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 3 });
    const property = fc.property(
      fc.array(row, { maxLength: 5 }),
      fc.constantFrom(0, 1),
      fc.integer({ min: 1, max: 30 }),
      (cells, indent, piece) => {
        const text = JSON.stringify({ rows: cells.map((values) => ({ f: values.map((v) => ({ v })) })), jobComplete: false }, null, indent);
        const page = read(text, values, piece);
        expect(page.rows.map((values) => values.map(printJson))).toEqual(cells.map((values) => values.map((v) => printJson(v as Json))));
        expect(page.isComplete).toBe(false);
      },
    );
    fc.assert(property, runs(2000, 200));
  });

  it('rejects a page of which any part is missing or wrong', () => {
    const text = JSON.stringify({
      jobComplete: true,
      rows: [{ f: [{ v: 'a\\"ü\u20ac' }, { v: null }] }, { f: [{ v: '{}' }] }],
      pageToken: 'x',
    });
    for (const readRow of [textCells, values] as readonly RowReader<Json | TextCell>[]) {
      for (let end = 0; end < text.length; end++) {
        expect(() => read(text.slice(0, end), readRow), `up to ${end}`).toThrow('BigQuery returned an unexpected response (status 200)');
      }
      for (const more of ['{', '}', 'x', ',']) expect(() => read(text + more, readRow), more).toThrow('unexpected response');
    }
    for (const wrong of [
      '{"rows":[{"f":[{"v":"\\x"}]}]}',
      '{"rows":[{"f":[{"v":"\\u12g4"}]}]}',
      '{"rows":[{"f":[{"v":"a\nb"}]}]}',
      '{"rows":[1]}',
    ])
      expect(() => read(wrong, textCells), wrong).toThrow('unexpected response');
  });

  it.runIf(DEEP)('reads pages in small steps, for one text of megabytes as well as for many rows', () => {
    const long = JSON.stringify({ text: '"\\ü'.repeat(500_000) });
    const steps = (cells: readonly string[], readRow: RowReader<Json | TextCell>): number => {
      const work = readPage(200, Buffer.from(JSON.stringify({ rows: cells.map((v) => ({ f: [{ v }] })) })), readRow);
      let count = 0;
      while (work.next().done !== true) count++;
      return count;
    };
    // Each step reads 64 KiB of the response.
    expect(steps([long], textCells)).toBeGreaterThanOrEqual(Math.floor(Buffer.byteLength(long) / 65_536));
    expect(steps(Array<string>(10_000).fill('{"a":1}'), textCells)).toBeGreaterThanOrEqual(10_000);
    expect(steps(Array<string>(10_000).fill('{"a":1}'), values)).toBeGreaterThanOrEqual(10_000);
    expect(steps([long], values)).toBeGreaterThanOrEqual(2 * Math.floor(Buffer.byteLength(long) / 65_536));
    const items = JSON.stringify({ rows: [{ f: [{ v: Array.from({ length: 20_000 }, (_, i) => ({ v: String(i) })) }] }] });
    const work = readPage(200, Buffer.from(items), values);
    let count = 0;
    while (work.next().done !== true) count++;
    expect(count).toBeGreaterThanOrEqual(20_000);
  });

  it('limits the bytes of values in all rows together', () => {
    const row = (v: Json): JsonObject => ({ f: [{ v }] });
    const ten = 'ü'.repeat(5);
    const text = JSON.stringify({ rows: [row(ten), row(null), row([{ v: ten }, { v: null }])] });
    // 34 + 24, and the list, two objects, a text and a null.
    const size = 34 + 24 + 24 + 24 + 34 + 24 + 24;
    for (const piece of [1, 1000]) {
      expect(read(text, valueCells(size), piece).rows).toHaveLength(3);
      expect(() => read(text, valueCells(size - 1), piece)).toThrow(`the rows are larger than ${size - 1} bytes in total`);
    }
  });

  it('rejects a page whose values are nested without end', () => {
    const text = (deep: number): string => `{"rows":[{"f":[{"v":${'['.repeat(deep)}${']'.repeat(deep)}}]}]}`;
    expect(read(text(80), values, 1).rows).toHaveLength(1);
    expect(() => read(text(120), values, 1)).toThrow('unexpected response');
  });
});

describe('cellText', () => {
  const field = (type: string, repeated = false, fields: readonly ResultField[] = []): ResultField => ({
    name: type,
    type,
    repeated,
    fields,
  });
  const cells: readonly (readonly [ResultField, Json, string | null])[] = [
    [field('STRING'), 'a "b"', 'a "b"'],
    [field('INT64'), '9007199254740993', '9007199254740993'],
    [field('STRING'), null, null],
    [field('TIMESTAMP'), '-1', '1969-12-31T23:59:59.999999Z'],
    [field('TIMESTAMP', true), [{ v: '0' }, { v: null }], '["1970-01-01T00:00:00Z",null]'],
    [field('STRING', true), [], '[]'],
    [
      field('STRUCT', true, [field('b'), field('1', true, [field('TIMESTAMP')])]),
      [{ v: { f: [{ v: 'x' }, { v: [{ v: { f: [{ v: '1000000' }] } }] }] } }, { v: null }],
      '[{"b":"x","1":[{"TIMESTAMP":"1970-01-01T00:00:01Z"}]},null]',
    ],
  ];
  it.each(cells)('formats %j of %j as %j', (of, cell, shown) => {
    expect(runSync(cellText(of, cell))).toBe(shown);
  });
});
