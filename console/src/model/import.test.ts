import { describe, expect, it } from 'vitest';
import { jsonOfText } from './cell-text.ts';
import { csvOf } from './delimited.ts';
import { textOfFile } from './file-text.ts';
import { type ImportColumn, matchColumns, planImport } from './import-plan.ts';
import { printJson } from './json.ts';
import { delimitedRows, delimiterOf, isJsonText, tableOfJson, tableOfLines } from './import-text.ts';

const read = (text: string, known: readonly string[] = []) => {
  const delimiter = delimiterOf(text);
  return tableOfLines([...delimitedRows(text, delimiter)], delimiter, known);
};

describe('rows of an import', () => {
  it('are the rows that the export has written', () => {
    const rows = [
      ['id', 'name'],
      ['1', 'a "b", c'],
      ['2', null],
      ['3', ''],
      ['4', 'two\nlines'],
    ];
    const table = read(csvOf(rows), ['id', 'name']);
    expect(table.columns).toEqual(rows[0]);
    expect(table.rows).toEqual(rows.slice(1));
    expect(table.lines).toEqual([2, 3, 4, 5]);
  });

  it('are read from a spreadsheet, from other delimiters and after a byte order mark', () => {
    expect(read('1\tAnn\r\n2\tBob\r\n').rows).toEqual([
      ['1', 'Ann'],
      ['2', 'Bob'],
    ]);
    expect(read('\uFEFFid;name\n1;"a;b"\n', ['id', 'name'])).toMatchObject({
      format: 'CSV',
      columns: ['id', 'name'],
      rows: [['1', 'a;b']],
    });
    expect(() => read('id,name\n1,"a\n2,b', ['id'])).toThrow('line 2: a quote does not end');
  });

  it('have the delimiter that the first line has most often outside of quotes', () => {
    expect(delimiterOf('a;b;"c,,,""\n,"\n1,2,3,4')).toBe(';');
    expect(delimiterOf('a\n1,2')).toBe('\t');
    // A value of the maximum size.
    expect(delimiterOf(`id,"${'x'.repeat(15_000_000)}"\n`)).toBe(',');
  });

  it('have the line of the text after values with line breaks', () => {
    expect(read('id,name\n1,"a\nb"\n2,c', ['id', 'name']).lines).toEqual([2, 4]);
  });

  it('are read from JSON, as a list or line by line', () => {
    for (const text of ['[{"a": 1}, {"b": null}]', '{"a": 1}\n{"b": null}\n']) {
      expect(isJsonText(text)).toBe(true);
      expect(tableOfJson(text)).toMatchObject({
        columns: ['a', 'b'],
        rows: [
          [1, undefined],
          [undefined, null],
        ],
      });
    }
    expect(() => tableOfJson('[{"a": 1}, 2]')).toThrow('item 2 is not an object');
    expect(isJsonText('a,b')).toBe(false);
  });
});

describe('the file of an import', () => {
  it('is decoded by its byte order mark, as UTF-8 without one', () => {
    const text = 'id,name\n1,Zoë 🙂';
    const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le');
    for (const bytes of [Buffer.from(text), Buffer.from(`\uFEFF${text}`), utf16, Buffer.from(utf16).swap16()]) {
      expect(textOfFile(bytes)).toBe(text);
    }
    expect(() => textOfFile(Buffer.from('Zoë', 'latin1'))).toThrow('The file is not UTF-8 text. Save it as UTF-8.');
  });

  it('has a limit of rows and cells, checked before the cells are made', () => {
    const items = (count: number, object: (index: number) => object) =>
      JSON.stringify(Array.from({ length: count }, (_, index) => object(index)));
    expect(() => tableOfJson(items(50_001, () => ({})))).toThrow('There are more than 50,000 rows');
    // Each object has one value, but the rows together have 30,000 columns.
    expect(() => tableOfJson(items(30_000, (index) => ({ [`c${index}`]: 1 })))).toThrow('There are more than 5,000,000 cells');
  });
});

describe('the plan of an import', () => {
  const column = (name: string, type: string, more: Partial<ImportColumn> = {}): ImportColumn => ({
    name,
    type,
    isRequired: false,
    choices: undefined,
    ...more,
  });
  const targets = [
    column('id', 'bigint', { isRequired: true }),
    column('name', 'String'),
    column('is_active', 'Boolean'),
    column('mood', 'mood', { choices: ['happy', 'sad'] }),
    column('doc', 'jsonb'),
  ];
  const plan = async (text: string) => {
    const table = isJsonText(text)
      ? tableOfJson(text)
      : read(
          text,
          targets.map(({ name }) => name),
        );
    const mapping = matchColumns(table, targets);
    return planImport(table, { mapping, targets, keys: [['id']] }, async () => undefined);
  };

  it('matches columns by name, or by place without names', async () => {
    expect(matchColumns(read('Is Active,ID,name\n', ['id', 'name']), targets)).toEqual(['is_active', 'id', 'name']);
    expect((await plan('1\tAnn\tyes')).objects).toEqual([{ id: '1', name: 'Ann', is_active: true }]);
  });

  it('matches exact names first, then similar ones that are unique and not taken', () => {
    const names = (header: string, ...columns: readonly string[]) => {
      const found = columns.map((name) => column(name, 'String'));
      return matchColumns(read(`${header}\n`, columns), found);
    };
    expect(names('user_id,userid', 'userid', 'user_id')).toEqual(['user_id', 'userid']);
    expect(names('User ID,userid', 'userid', 'user_id')).toEqual([undefined, 'userid']);
    expect(names('ID,id,name,Name', 'id', 'name')).toEqual([undefined, 'id', 'name', undefined]);
    expect(names('id,id', 'id', 'name')).toEqual(['id', undefined]);
  });

  it('finds a header whose names are similar to those of the columns', async () => {
    const table = read('Is Active,Full-Name\nyes,Ann', ['is_active', 'full_name']);
    expect(table.columns).toEqual(['Is Active', 'Full-Name']);
    expect(table.rows).toEqual([['yes', 'Ann']]);
  });

  it('keeps all digits, omits empty cells and reads values by their types', async () => {
    const { objects, problems } = await plan('id,name,is_active,mood,doc\n9007199254740993,"",0,happy,"{""a"": 1}"\n2,,,,');
    expect(problems).toEqual([]);
    expect(objects).toEqual([{ id: '9007199254740993', name: '', is_active: false, mood: 'happy', doc: { a: 1 } }, { id: '2' }]);
  });

  it('reads numbers like the form, and never imports one as null', async () => {
    const columns = [column('n', 'Int'), column('f', 'Float!'), column('exact', 'numeric')];
    const { objects, problems } = await planImport(
      read('n,f,exact\n007,+.50,NaN\n-0012,1e3,1e999\n1,NaN,1\n1,Infinity,1\n1,1e999,1\n1,.,1', ['n', 'f', 'exact']),
      { mapping: ['n', 'f', 'exact'], targets: columns, keys: [] },
      async () => undefined,
    );
    expect(objects.map((object) => object && printJson(object))).toEqual([
      '{"n":7,"f":0.50,"exact":"NaN"}',
      '{"n":-12,"f":1e3,"exact":"1e999"}',
      ...Array.from({ length: 4 }, () => undefined),
    ]);
    expect(problems.map(({ reason }) => reason)).toEqual([
      'expected a number',
      'expected a number',
      'the number is too large',
      'expected a number',
    ]);
    expect(printJson(jsonOfText('007.5', 'Float'))).toBe('7.5');
    expect(() => jsonOfText('1e999', 'Float')).toThrow('the number is too large');
  });

  it('says which rows are wrong and why', async () => {
    const { objects, problems } = await plan('id,name,mood\nx,a,happy\n,b,happy\n3,c,angry\n4,d,sad\n4,e,sad\n5,f,sad,more');
    expect(objects.map((object) => object !== undefined)).toEqual([false, false, false, true, false, false]);
    expect(problems).toEqual([
      { row: 0, column: 'id', reason: 'expected a whole number' },
      { row: 1, column: 'id', reason: 'the value is missing' },
      { row: 2, column: 'mood', reason: 'expected one of: happy, sad' },
      { row: 4, column: 'id', reason: 'the same value as in line 5' },
      { row: 5, column: undefined, reason: 'the row has 4 cells, but there are 3 columns' },
    ]);
  });
});
