/**
 * Rows of a list in a variable are read column by column, others row by row. The stored rows, the answers and the errors
 * must not differ. Most tests insert a list and then the same rows with one variable each, few per root.
 */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { cases, sample } from '../support/deep.ts';
import {
  but,
  empty,
  failure,
  inserted,
  type Into,
  useUniformRows,
  post,
  type Row,
  rows,
  service,
  stored,
} from '../support/uniform-rows.ts';

useUniformRows();

describe('rows of many types', () => {
  const SPECIAL = [
    '"',
    '\\',
    '{',
    '}',
    ',',
    'NULL',
    'null',
    '\n',
    '\t',
    '\u0001',
    '\u007f',
    '\u2028',
    'é',
    '😀',
    "'",
    ' ',
    '\\u0041',
    '\ud800',
  ];
  const text = fc.oneof(
    fc.array(fc.oneof(fc.constantFrom(...SPECIAL), fc.string({ maxLength: 3 })), { maxLength: 6 }).map((parts) => parts.join('')),
    fc.constantFrom('', 'NULL', 'null', '{}', '{"a"}', '""', '\\', 'a\\nb'),
  );
  const printed = (arbitrary: fc.Arbitrary<Json>): fc.Arbitrary<string> => arbitrary.map(printJson);
  const number = fc.oneof(
    fc.constantFrom(
      '123456789012345678901234567890.1234567891',
      '1e30',
      '-0',
      '0.1',
      '1.50',
      '9007199254740993',
      '1E-9',
      '100000000000000000000000',
    ),
    printed(fc.integer()),
    printed(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e20, max: 1e20 })),
  );
  const anyJson = fc.oneof(
    number,
    fc.json({ noUnicodeString: false, maxDepth: 2 } as never).filter((json) => !json.includes('\\u0000')),
    text.filter((t) => !t.includes('\ud800')).map((t) => JSON.stringify(t)),
    number.map((n) => `{"a":[${n},null],"b":"\\"}"}`),
    fc.constantFrom('false', '[]', '{}', '""', '"{}"'),
  );
  const listOf = (item: fc.Arbitrary<string>): fc.Arbitrary<string> => fc.array(item, { maxLength: 3 }).map((items) => `[${items.join()}]`);
  const oneOf = (...values: readonly Json[]): fc.Arbitrary<string> => fc.constantFrom(...values.map(printJson));
  const int = printed(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));

  const COLUMNS: Readonly<Record<string, fc.Arbitrary<string>>> = {
    id: int,
    n: int,
    t: printed(text),
    num: fc.oneof(number, oneOf('12.50', 'NaN', '-1e5')),
    b: oneOf(true, false),
    f: fc.oneof(oneOf(0.1, 'Infinity', '1e-300', 5), fc.constantFrom('1e308', '-0.0', '12345678901234567890')),
    jb: anyJson,
    j: anyJson,
    js: listOf(anyJson.filter((json) => json !== 'null')),
    ts: fc.oneof(listOf(printed(text)), oneOf('{a,"b c"}', ' {} ')),
    ns: fc.oneof(listOf(int), oneOf('{1,NULL}')),
    at: oneOf('2020-01-01', '2020-02-29T23:59:59.123456+05:30', 'infinity', 'epoch'),
    m: oneOf('happy', 'sad', 'so_so'),
    ms: listOf(oneOf('happy', 'so_so')),
    a: oneOf(0, 7, 2147483647),
    c: oneOf('', 'abcde', 'äöüß€', '"\\{},'),
    cs: listOf(oneOf('abc', '"', '\\')),
    v: oneOf('', '12345678', ' a ', "'{}\\\"'"),
    vs: listOf(oneOf('abc', '', 'NU"')),
    fixed: oneOf('', 'a', 'abc', 'ab   '),
    letter: oneOf('', 'a', 'abc'),
    bits: oneOf('101', '000'),
    bytes: oneOf('\\x00ff', '\\\\', 'abc', '\\001', ''),
    box: oneOf('(1,1),(0,0)', '((2,3),(4,5))'),
    boxes: listOf(oneOf('(1,1),(0,0)', '(2,2),(1,1)')),
    pair: oneOf('(1,"a b")', '(,)', '(2,"\\"")'),
    class: oneOf('many', 'pg_catalog.pg_class', '1259'),
    name: oneOf('x'.repeat(80), 'a"b'),
    xml: oneOf('<a b="c">d</a>', 'text', '<a/><b/>'),
  };
  const columnValue = (key: string): fc.Arbitrary<string> | undefined => (Object.hasOwn(COLUMNS, key) ? COLUMNS[key] : undefined);
  /** Values for all rows or none; other values than null stand for an omitted value. */
  const REQUIRED = ['id', 'n', 'a', 'c', 'cs'];
  const OPTIONAL = Object.keys(COLUMNS).filter((key) => !REQUIRED.includes(key));
  const into: Into = { table: 'many', returning: ['key', ...Object.keys(COLUMNS)].join(' ') };

  /** Values that make a row invalid, at the latest in the database. */
  const INVALID: readonly (readonly [key: string, value: string])[] = [
    ['n', '"x"'],
    ['n', 'null'],
    ['n', '3000000000'],
    ['key', 'null'],
    ['key', '0'],
    ['t', '5'],
    ['t', '{}'],
    ['t', '"\\u0000"'],
    ['num', '"1,5"'],
    ['num', 'true'],
    ['b', '"yep"'],
    ['f', '1e400'],
    ['jb', '"\\u0000"'],
    ['js', '[null]'],
    ['ts', '[null]'],
    ['ts', '"{a,}"'],
    ['ts', '5'],
    ['ns', '["x"]'],
    ['at', '"soon"'],
    ['m', '"mad"'],
    ['ms', '["mad"]'],
    ['a', '-1'],
    ['c', '"abcdef"'],
    ['cs', '["abcd"]'],
    ['v', '"123456789"'],
    ['vs', '["1234"]'],
    ['fixed', '"abcd"'],
    ['bits', '"1"'],
    ['bits', '"1010"'],
    ['bytes', '"\\\\xzz"'],
    ['box', '"(1"'],
    ['pair', '"(1)"'],
    ['pair', '"(x,y)"'],
    ['class', '"nonsense"'],
    ['xml', '"<a>"'],
    ['nonsense', '1'],
    ['not a name', '1'],
    ['constructor', '1'],
    ['__proto__', '1'],
    ['__proto__', '{"n":1.50}'],
  ];

  const someRows = fc
    .record({ count: fc.integer({ min: 50, max: 80 }), required: fc.subarray(REQUIRED), optional: fc.subarray(OPTIONAL) })
    .chain(({ count, required, optional }) => {
      const shape = (key: string): fc.Arbitrary<string | undefined> => {
        const value = COLUMNS[key] as fc.Arbitrary<string>;
        if (key === 'id' || key === 'n') return value;
        const nullable = fc.oneof({ arbitrary: value, weight: 4 }, fc.constant('null'));
        return required.includes(key) ? nullable : fc.option(nullable, { nil: undefined, freq: 4 });
      };
      const keys = [...required, ...optional];
      const one = fc.tuple(fc.tuple(...keys.map(shape)), fc.boolean()).map(([values, reversed]): Row => {
        const entries = keys.flatMap((key, i) => (values[i] === undefined ? [] : [[key, values[i]] as const]));
        return reversed ? entries.reverse() : entries;
      });
      return fc.array(one, { minLength: count, maxLength: count });
    })
    .map((list) => list.map((entries, i): Row => [...entries, ['key', String(i)]]));

  it('are stored in the same way as few rows', async () => {
    await fc.assert(
      fc.asyncProperty(someRows, async (all) => {
        await empty();
        expect(failure(await inserted(into, all))).toBe('done');
      }),
      { seed: 20_250_107, numRuns: cases(60, 1), endOnFailure: true },
    );
  });

  it('fail in the same way as few rows', async () => {
    const place = fc.record({ index: fc.integer({ min: 1, max: 49 }), entry: fc.constantFrom(...INVALID) });
    await fc.assert(
      fc.asyncProperty(someRows, place, async (all, { index, entry }) => {
        await empty();
        const [key] = entry;
        const given = all.some((entries) => entries.some(([name]) => name === key));
        // If no row has the column, all must get it: a column in one row may change how all are read.
        const other =
          REQUIRED.includes(key) && !given
            ? all.map((entries): Row => [...entries, [key, key === 'n' || key === 'id' ? '1' : 'null']])
            : all;
        const outcome = await inserted(
          into,
          other.map((entries, i) => (i === index ? [...entries.filter(([name]) => name !== key), entry] : entries)),
        );
        expect([entry, outcome.kind, outcome.stored.length]).toEqual([entry, 'failed', 0]);
      }),
      { seed: 20_250_108, numRuns: cases(60, 2), endOnFailure: true },
    );
  });

  it.each(sample(INVALID, 3))('fail with %s: %s', async (key, value) => {
    const [valid] = fc.sample(columnValue(key) ?? fc.constant('null'), { seed: 7, numRuns: 1 });
    const all = Array.from({ length: 70 }, (_, i): Row => {
      const entries: Row = [['key', String(i)], ...(columnValue(key) === undefined ? [] : [[key, valid as string] as const])];
      return i === 57 ? [...entries.filter(([name]) => name !== key), [key, value]] : entries;
    });
    const outcome = await inserted(into, all);
    expect([outcome.kind, outcome.stored.length]).toEqual(['failed', 0]);
  });
});

describe('a row among many', () => {
  const child: Into = { table: 'child', returning: 'id parent_id n note tag owner lot color number' };
  const item: Into = { table: 'item', returning: 'sku n note count' };
  const user = { role: 'user', session: { 'user-id': '7' } };
  const at = '$.selectionSet.insert_child.args.objects';
  const children = rows(60, (n) => ({ n, note: `note ${n}` }));

  it.each<[string, JsonObject, string]>([
    ['has a value of another type', { n: true }, `parse-failed at ${at}[57].n: Integer expected for input type: integer`],
    ['has an invalid text', { n: 'x' }, `data-exception at ${at}[57]: invalid input syntax for type integer: "x"`],
    ['has null in a non-null column', { n: null }, `validation-failed at ${at}[57].n: unexpected null value for type 'Int'`],
    [
      'has a key that there is not',
      { nope: 1 },
      `validation-failed at ${at}[57].nope: field 'nope' not found in type: 'child_insert_input'`,
    ],
    [
      'has an unknown enum value',
      { color: 'green' },
      `validation-failed at ${at}[57].color: expected one of the values ['blue', 'red'] for type 'color_enum', but found 'green'`,
    ],
  ])('%s', async (_what, other, message) => {
    const outcome = await inserted(child, but(children, 57, other));
    expect(failure(outcome)).toBe(message);
    expect(outcome.stored).toEqual([]);
  });

  it('may be no object', async () => {
    for (const [value, found] of [
      ['null', 'null'],
      ['7', 'a number'],
      ['[]', 'a list'],
    ]) {
      const list = Array.from({ length: 60 }, (_, i) => (i === 57 ? value : '{"n":1}')).join();
      const { errors } = await post(
        'mutation ($rows: [child_insert_input!]!) { insert_child(objects: $rows) { affected_rows } }',
        `{"rows":[${list}]}`,
      );
      expect(errors).toMatchObject([
        { message: `expected an object for type 'child_insert_input', but found ${found}`, extensions: { path: `${at}[57]` } },
      ]);
    }
    expect(await stored('child')).toEqual([]);
  });

  it('may lack a column of the other rows', async () => {
    const without = (key: string, index: number): readonly Row[] =>
      children.map((given, i): Row => (i === index ? given.filter(([name]) => name !== key) : given));
    expect(await inserted(child, without('note', 57))).toMatchObject({ kind: 'done', affected: 60 });
    await empty();
    expect(await inserted(child, without('n', 57))).toMatchObject({ kind: 'failed', stored: [], error: { path: `${at}[57]` } });
    await empty();
    expect(await inserted(child, without('note', 0))).toMatchObject({
      returned: { 0: { id: 1, n: 0, note: null }, 59: { id: 60, n: 59, note: 'note 59' } },
    });
    await empty();
    expect(await inserted(child, [...children, []])).toMatchObject({ kind: 'failed', stored: [], error: { path: `${at}[60]` } });
  });

  it('gets defaults for omitted columns', async () => {
    const some = rows(60, (n) => ({
      n,
      ...(n % 2 === 0 ? { id: 1000 + n } : {}),
      ...(n % 3 === 0 ? { tag: 'given' } : {}),
      ...(n % 5 === 0 ? { lot: n } : {}),
      ...(n % 7 === 0 ? { number: 2000 + n } : {}),
    }));
    expect(await inserted(child, some)).toMatchObject({
      returned: {
        0: { id: 1000, tag: 'given', lot: 0, number: 2000 },
        1: { id: 1, tag: 'none', lot: 7, number: 1 },
        59: { id: 30, tag: 'none', lot: 7, number: 51 },
      },
    });
    // Null is not a default.
    await empty();
    expect(
      await inserted(
        child,
        rows(60, (n) => ({ n, tag: null, lot: null })),
      ),
    ).toMatchObject({ returned: { 59: { id: 60, tag: null, lot: null } } });
  });

  it('gets the defaults of a view', async () => {
    const view: Into = { table: 'noted_child', returning: 'id n note tag' };
    expect(
      await inserted(
        view,
        rows(60, (n) => ({ n })),
      ),
    ).toMatchObject({ returned: { 59: { id: 60, note: null, tag: 'view' } } });
    await empty();
    const some = rows(60, (n) => ({ n, ...(n % 2 === 0 ? { tag: 'given', note: 'x' } : {}) }));
    expect(await inserted(view, some)).toMatchObject({
      returned: { 58: { id: 59, note: 'x', tag: 'given' }, 59: { id: 60, note: null, tag: 'view' } },
    });
  });

  it('gets the defaults of the table behind a view', async () => {
    const view: Into = { table: 'numbered_child', returning: 'id n tag number' };
    const some = rows(60, (n) => ({ n, ...(n % 2 === 0 ? { tag: 'given', number: 1000 + n } : {}) }));
    expect(await inserted(view, some)).toMatchObject({
      returned: { 58: { id: 59, tag: 'given', number: 1058 }, 59: { id: 60, tag: 'none', number: 30 } },
    });
  });

  it('may omit columns with names of object properties', async () => {
    const odd: Into = { table: 'odd', returning: 'constructor toString hasOwnProperty n valueOf' };
    const some = rows(60, (n) => ({ n, ...(n % 2 === 0 ? { constructor: `c${n}`, toString: n, hasOwnProperty: 'h' } : {}) }) as JsonObject);
    expect(await inserted(odd, some)).toMatchObject({
      returned: {
        58: { n: 58, constructor: 'c58', toString: 58, hasOwnProperty: 'h', valueOf: 'given' },
        59: { n: 59, constructor: null, toString: null, hasOwnProperty: null, valueOf: 'given' },
      },
    });
    await empty();
    expect(
      await inserted(
        odd,
        but(
          rows(60, (n) => ({ n })),
          57,
          { constructor: 1 } as unknown as JsonObject,
        ),
      ),
    ).toMatchObject({
      error: { path: '$.selectionSet.insert_odd.args.objects[57].constructor' },
    });
  });

  it('is returned in its position', async () => {
    const some = rows(75, (n) => ({ n: (n * 37) % 75, color: n % 2 === 0 ? 'red' : null }));
    const outcome = await inserted(child, some);
    expect(outcome).toMatchObject({ kind: 'done', affected: 75 });
    expect(outcome.kind === 'done' && outcome.returned).toMatchObject(
      Array.from({ length: 75 }, (_, i) => ({ id: i + 1, n: (i * 37) % 75, color: i % 2 === 0 ? 'red' : null })),
    );
  });

  describe('a row among many, inserted by a role', () => {
    const own: Into = { ...child, options: user };

    it('has presets', async () => {
      expect(await inserted(own, children)).toMatchObject({ kind: 'done', returned: { 59: { owner: 7, tag: 'fixed', note: 'note 59' } } });
      await empty();
      expect(failure(await inserted({ ...own, options: { role: 'user' } }, children))).toBe(
        'not-found at $: missing session variable: "x-svc-user-id"',
      );
      await empty();
      expect(await inserted({ ...own, options: { role: 'user', session: { 'user-id': 'x' } } }, children)).toMatchObject({
        error: { code: 'data-exception' },
      });
    });

    it.each(['owner', 'tag', 'lot'])('may have no value for %s', async (key) => {
      const outcome = await inserted(own, but(children, 57, { [key]: null }));
      expect(failure(outcome)).toBe(`validation-failed at ${at}[57].${key}: field '${key}' not found in type: 'child_insert_input'`);
      await empty();
      expect(
        await inserted(
          own,
          rows(60, (n) => ({ n, [key]: null })),
        ),
      ).toMatchObject({ error: { path: `${at}[0].${key}` } });
    });

    it('passes the check', async () => {
      const outcome = await inserted(own, but(children, 57, { n: 1000 }));
      expect(outcome).toMatchObject({ kind: 'failed', stored: [], error: { code: 'permission-error', path: at } });
    });
  });

  describe('a row among many that exists already', () => {
    const seed = async (): Promise<unknown> => {
      await empty();
      return service.sql("insert into item select 's' || n, n + 10, 'old', 1 from generate_series(0, 9) n");
    };
    const items = rows(60, (n) => ({ sku: `s${59 - n}`, n, ...(n % 2 === 0 ? { note: `note ${n}` } : {}) }));
    const upsert = (columns: string, options: Into['options'] = {}, where = ''): Into => ({
      ...item,
      more: `, on_conflict: {constraint: item_pkey, update_columns: [${columns}] ${where}}`,
      options,
    });
    beforeEach(seed);

    it('stays unchanged', async () => {
      expect(await inserted(upsert(''), items, seed)).toMatchObject({ kind: 'done', affected: 50 });
      await seed();
      expect(await inserted(item, items, seed)).toMatchObject({ kind: 'failed', error: { code: 'constraint-violation' } });
    });

    it('is updated, with null or a default for an omitted column', async () => {
      const outcome = await inserted(upsert('n, note, count'), items, seed);
      expect(outcome).toMatchObject({
        kind: 'done',
        affected: 60,
        returned: { 58: { sku: 's1', n: 58, note: 'note 58', count: 3 }, 59: { sku: 's0', n: 59, note: null, count: 3 } },
      });
      await seed();
      expect(await inserted(upsert('n'), items, seed)).toMatchObject({ returned: { 59: { sku: 's0', n: 59, note: 'old', count: 1 } } });
      await seed();
      expect(await inserted(upsert('n', {}, ', where: {n: {_gt: 15}}'), items, seed)).toMatchObject({ affected: 54 });
      await seed();
      const counted = items.map((given, i): Row => (i % 3 === 0 ? [...given, ['count', String(i)]] : given));
      expect(await inserted(upsert('count'), counted, seed)).toMatchObject({ returned: { 57: { count: 57 }, 58: { count: 3 } } });
    });

    it('is updated as the permission specifies', async () => {
      // The filter excludes one row.
      expect(await inserted(upsert('n, count', user), items, seed)).toMatchObject({
        affected: 59,
        returned: { 58: { sku: 's0', n: 59, note: '7' } },
      });
      await seed();
      expect(await inserted(upsert('n', user), but(items, 59, { n: 600 }), seed)).toMatchObject({ error: { code: 'permission-error' } });
      await seed();
      expect(await inserted(upsert('n', user), but(items, 3, { n: -1 }), seed)).toMatchObject({ error: { code: 'permission-error' } });
    });

    it('may occur twice', async () => {
      const twice = but(items, 45, { sku: 's18' });
      expect(await inserted(upsert(''), twice, seed)).toMatchObject({ kind: 'done', affected: 49 });
      await seed();
      expect(await inserted(upsert('n'), twice, seed)).toMatchObject({ kind: 'failed', error: { message: 'database query error' } });
    });
  });
});
