import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, parseJson, printJson } from '../../../util/json.ts';
import { BudgetExceeded, createBudget } from './budget.ts';
import { jsonTemplate, type Template, textTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';
import { DEEP, runs } from '../../../../test/support/deep.ts';

const BODY: Json = {
  id: 7,
  name: 'Ann',
  nothing: null,
  flag: true,
  tags: ['x', 'y'],
  users: [{ id: 1 }, { id: 2 }],
  nested: { deep: { key: 'v' } },
  'odd key': 'odd',
  end: 'keyword',
};

const environment = (more: JsonObject = {}) => ({
  variables: new Map<string, Json>([['$body', BODY], ['$', BODY], ...Object.entries(more)]),
  functions: new Map([['shout', (argument: Json): Json => `${String(argument)}!`]]),
});
const run = (source: string, read: (source: string) => Template = jsonTemplate): Json => read(source).run(environment(), createBudget());

function fault(source: string, read: (source: string) => Template = jsonTemplate): string {
  try {
    run(source, read);
  } catch (thrown) {
    if (!(thrown instanceof TemplateError)) throw thrown;
    const {
      error_code,
      message,
      source_position: at,
    } = thrown.toJson() as Record<string, Json> & { source_position: Record<string, Json> };
    return `${error_code} ${at['start_line']}:${at['start_column']}-${at['end_line']}:${at['end_column']} ${message}`;
  }
  return 'no fault';
}

describe('expressions', () => {
  it.each<[string, Json]>([
    ['$body.id', 7],
    ['{{ $body.id }}', 7],
    ['{{ {{ $body.id }} }}', 7],
    ['$.id', 7],
    ["$body['odd key']", 'odd'],
    ['$body["odd key"]', 'odd'],
    ['$body["na{{ "me" }}"]', 'Ann'],
    ['$body.tags[1]', 'y'],
    ['$body.users[size([0])].id', 2],
    ['$body.nested.deep.key', 'v'],
    ['$body.end', 'keyword'],
    ['# a comment\n$body.id # another\n', 7],
    ['{"a": {"b": {{ {"c": $body.id}}}}}', { a: { b: { c: 7 } } }],
    ['[1, {{ $body.id }}, $body.name]', [1, 7, 'Ann']],
    ["'it\\'s {{ no block }}'", "it's {{ no block }}"],
    ['"\\u0041\\n\\"\\{{x}} {single} \\\\"', 'A\n"{{x}} {single} \\'],
  ])('%s', (source, expected) => expect(run(source)).toEqual(expected));

  it.each<[string, string]>([
    ['"id-{{ $body.id }}"', 'id-7'],
    ['"{{ $body.name }}{{ $body.name }}"', 'AnnAnn'],
    ['"{{ $body.tags }} {{ $body.nothing }} {{ $body.flag }}"', '["x","y"] null true'],
    ['"{{ if $body.flag }} {{ \'yes\' }} {{ else }} "no" {{ end }}!"', 'yes!'],
  ])('splices into strings: %s', (source, expected) => expect(run(source)).toBe(expected));

  it.each<[string, Json]>([
    ['$body?.missing', null],
    ['$body.missing?', 'Attribute Error'],
    ['$body?.missing.deeper[3].x', null],
    ['$body.name?.x', null],
    ['$body.tags?[9]', null],
    ['$body.nothing?.x', null],
    ['$unbound?.x', null],
    ['$unbound?', null],
    ['$body?.id', 7],
    ["$body?['odd key'] ?? 1", 'odd'],
    ['$body?.missing ?? "anon"', 'anon'],
    ['false ?? 1', false],
  ])('optional access: %s', (source, expected) => {
    if (expected === 'Attribute Error') expect(fault(source)).toMatch(/^Attribute Error/);
    else expect(run(source)).toEqual(expected);
  });

  it.each<[string, boolean]>([
    ['1 == 1.0', true],
    ['100000000000000000001 == 1.00000000000000000001e20', true],
    ['100000000000000000001 == 100000000000000000002', false],
    ['100000000000000000001 < 100000000000000000002', true],
    ['-1.5 < -1.25', true],
    ['-0.0 == 0', true],
    ['0.001 > 0', true],
    ['0.0 > -1e-9', true],
    ['1e400 > 9e399', true],
    ['"a" < "b"', true],
    ['"b" <= "a"', false],
    ['[1, 2] < [1, 3]', true],
    ['[1, 2] < [1]', false],
    ['false < true', true],
    ['{"a": 1, "b": [2]} == {"b": [2.0], "a": 1}', true],
    ['{"a": 1} == {"b": 1}', false],
    ['[1] != ["1"]', true],
    ['null == null', true],
    ['true && false', false],
    ['true || false', true],
    ['not true', false],
    ['not $body.id == 8', true],
    ['"id" in $body', true],
    ['"toString" in $body', false],
    ['"y" in $body.tags', true],
    ['3 in [1, 2, 3.0]', true],
    ['(1 < 2) && (2 < 3)', true],
    ['size($body.tags) > 1', true],
  ])('%s is %s', (source, expected) => expect(run(source)).toBe(expected));

  it.each<[string, Json]>([
    ['{{ if $body.id > 5 }} "big" {{ else }} "small" {{ end }}', 'big'],
    ['{{ if false }} 1 {{ elif true }} 2 {{ elif true }} 3 {{ else }} 4 {{ end }}', 2],
    ['{{ if false }} $nowhere {{ else }} {"a": 1} {{ end }}', { a: 1 }],
    [
      '{{ range i, x := $body.users }} {"i": i, "id": x.id} {{ end }}',
      [
        { i: 0, id: 1 },
        { i: 1, id: 2 },
      ],
    ],
    ['{"ids": {{ range _, u := $body.users }} {{ u.id }} {{ end }}, "n": 1}', { ids: [1, 2], n: 1 }],
    ['{{ range i, x := [[1], [2]] }} {{ range _, y := x }} [i, y] {{ end }} {{ end }}', [[[0, 1]], [[1, 2]]]],
  ])('%s', (source, expected) => expect(run(source)).toEqual(expected));

  it('keeps numbers as they were written', () => {
    const source = '[1.50,12345678901234567890,1e2,-0]';
    expect(printJson(run(source))).toBe(source);
    expect(run('"{{ 1.50 }} {{ size(1.50) }}"')).toBe('1.50 1.50');
  });

  it('accepts any object key', () => {
    const made = run('{"__proto__": {"a": 1}, "b": 1, "b": 2}') as JsonObject;
    expect(Object.entries(made)).toEqual([
      ['__proto__', { a: 1 }],
      ['b', 2],
    ]);
    expect(fault('$body.__proto__')).toMatch(/^Attribute Error .* 'Object' has no attribute '__proto__'\.$/);
    expect(fault('{{ constructor(1) }}')).toMatch(/^Name Error/);
  });
});

describe('functions', () => {
  it.each<[string, Json]>([
    ['empty(null)', true],
    ['empty("  ")', true],
    ['empty(0.0)', true],
    ['empty([])', true],
    ['empty({})', true],
    ['empty($body)', false],
    ['empty("x")', false],
    ['size("añ😀")', 3],
    ['size($body.tags)', 2],
    ['size({"a": 1})', 1],
    ['size(12)', 12],
    ['size(null)', 0],
    ['inverse("añ😀")', '😀ña'],
    ['inverse([1, 2])', [2, 1]],
    ['inverse(4)', 0.25],
    ['inverse(true)', false],
    ['head("😀a")', '😀'],
    ['head([3, 4])', 3],
    ['tail("😀a")', 'a'],
    ['tail([3, 4])', [4]],
    ['tail([])', []],
    ['toLower("ÀB")', 'àb'],
    ['toUpper("àb")', 'ÀB'],
    ['toTitle("hello wORLD, it\'s")', "Hello World, It's"],
    ['toCaseFold("Straße")', 'strasse'],
    ['escapeUri("a b/c?~\'é")', 'a%20b%2Fc%3F~%27%C3%A9'],
    [
      'toPairs({"a": 1, "b": null})',
      [
        ['a', 1],
        ['b', null],
      ],
    ],
    ['fromPairs([["a", 1], ["__proto__", 2]])', parseJson('{"a":1,"__proto__":2}')],
    ['removeNulls([1, null, 2])', [1, 2]],
    ['concat([[1], [[2]]])', [1, [2]]],
    ['concat(["a", "b"])', 'ab'],
    ['concat([{"a": 1, "b": 1}, {"b": 2}])', { a: 1, b: 2 }],
    ['not(false)', true],
    ['shout("hey")', 'hey!'],
  ])('%s', (source, expected) => expect(run(source)).toEqual(expected));

  it.each([
    'empty(true)',
    'size(true)',
    'inverse(0)',
    'inverse({})',
    'head([])',
    'head("")',
    'head(1)',
    'toLower(1)',
    'toPairs([])',
    'fromPairs([["a"]])',
    'fromPairs([[1, 2]])',
    'removeNulls({})',
    'concat([1])',
    'concat([[1], "a"])',
    'concat("ab")',
  ])('rejects the argument of %s', (source) => {
    const start = source.indexOf('(') + 2;
    expect(fault(source)).toMatch(new RegExp(`^Function Error 0:${start}-0:${source.length} Function '`));
  });
});

describe('errors have a position', () => {
  it.each([
    ['{{ $body.world }}', "Attribute Error 0:4-0:15 'Object' has no attribute 'world'."],
    ['{{ $body.nested.x.y }}', "Attribute Error 0:4-0:18 'Object' has no attribute 'x'."],
    ['\n [$body.name.x]', "Attribute Error 1:3-1:15 'String' has no attribute 'x'."],
    ['["😀", $who]', "Name Error 0:7-0:11 Variable '$who' not in scope"],
    ['{{ fooFunction("a") }}', "Name Error 0:4-0:19 Variable 'fooFunction' not in scope"],
    ['$body.tags[2]', "Index Error 0:1-0:14 'Array' has no element 2."],
    ['$body.tags[-1]', "Index Error 0:1-0:15 'Array' has no element -1."],
    ['{{ range i, x := $body.id }} 1 {{ end }}', 'Index Error 0:18-0:26 Can only range over an array'],
    ['{{ if "x" }} 1 {{ else }} 2 {{ end }}', "Type Error 0:7-0:10 Couldn't match expected type 'Boolean' with actual type 'String'"],
    ['true || 1', "Type Error 0:9-0:10 Couldn't match expected type 'Boolean' with actual type 'Number'"],
    ['1 < "a"', "Type Error 0:5-0:8 Couldn't match expected type 'Number' with actual type 'String'"],
    ['1 in 2', "Type Error 0:6-0:7 Couldn't match expected type 'Array' with actual type 'Number'"],
    ['$body[0]', "Type Error 0:1-0:9 Couldn't match expected type 'Array' with actual type 'Object'"],
    ['$body.hello }}', "Parse Error 0:14-0:15 Unexpected token '}'."],
    ['{"a": 1} }', "Parse Error 0:10-0:11 Unexpected token '}'."],
    ['{{ $body.id }', 'Parse Error 0:14-0:14 Unexpected end of the template.'],
    ['{{ $body.id } }', "Parse Error 0:15-0:16 Unexpected token '}'."],
    ['', 'Parse Error 0:1-0:1 Unexpected end of the template.'],
    ['1 == 2 == 3', "Parse Error 0:8-0:10 Unexpected token '=='."],
    ['[1, 2,]', "Parse Error 0:7-0:8 Unexpected token ']'."],
    ['{"a{{ 1 }}": 2}', 'Parse Error 0:2-0:12 The key of an object cannot hold a template.'],
    ['{{ if true }} 1 {{ end }}', "Parse Error 0:20-0:23 Unexpected token 'end'."],
    ['"abc', 'Parse Error 0:5-0:5 Unexpected end of the template.'],
    ["'abc", 'Lex Error 0:1-0:5 The string is not closed.'],
    ['"a\\x"', "Lex Error 0:3-0:5 Invalid escape '\\x'."],
    ['"\\u12"', "Lex Error 0:2-0:4 Invalid escape '\\u'."],
    ['{{ @ }}', "Lex Error 0:4-0:5 Unexpected character '@'."],
    ['012', "Lex Error 0:1-0:3 Invalid number '01'."],
  ])('%s', (source, expected) => expect(fault(source)).toBe(expected));
});

describe('text', () => {
  it.each<[string, Json]>([
    ['', ''],
    ['plain "quoted" # text', 'plain "quoted" # text'],
    ['http://x/{{ $body.id }}?a={{$body["name"]}}', 'http://x/7?a=Ann'],
    ['{{ $body.id }}', 7],
    ['{{ $body.nothing }}', null],
    ['a{{ $body.nothing }}', 'anull'],
    ['\\{{ no }}', '{{ no }}'],
    ['{{ if $body.flag }}"on"{{ else }}"off"{{ end }}', 'on'],
  ])('%s', (source, expected) => expect(run(source, textTemplate)).toEqual(expected));

  it.each([
    ['a {{ $body.id', 'Parse Error 0:14-0:14 Unexpected end of the template.'],
    ['ab {{ $body.x }}', "Attribute Error 0:7-0:14 'Object' has no attribute 'x'."],
    ['\\', "Lex Error 0:1-0:2 Invalid escape '\\'."],
  ])('%s', (source, expected) => expect(fault(source, textTemplate)).toBe(expected));
});

/** CPU time of `work`, in ms. */
function duration(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

describe('limits', () => {
  const many = (length: number): string => `[${Array.from({ length }, () => '1').join()}]`;

  it.each([
    ['depth', '['.repeat(100_000), /^Parse Error .*nested deeper than 500/],
    ['negations', `${'not '.repeat(100_000)}true`, /^Parse Error .*nested deeper than 500/],
    ['blocks', `"${'{{ "'.repeat(100_000)}`, /^Parse Error .*nested deeper than 500/],
    ['length', ' '.repeat(2_000_000), /^Parse Error .*longer than/],
    [
      'steps',
      `{{ range _, a := ${many(2_000)} }} {{ range _, b := ${many(2_000)} }} b {{ end }} {{ end }}`,
      /^TransformationError .*more than 2000000 steps/,
    ],
    [
      'output',
      `{{ range _, a := ${many(2_000)} }} "{{ '${'x'.repeat(100_000)}' }}" {{ end }}`,
      /^TransformationError .*more than 33554432 characters/,
    ],
  ])('%s', (_, source, expected) => {
    expect(duration(() => expect(fault(source)).toMatch(expected))).toBeLessThan(10_000);
  });

  it.runIf(DEEP)('counts repeated values', () => {
    const doubled = (inner: string): string => `{{ range _, x := [1, 2] }} ${inner} {{ end }}`;
    let source = '$body';
    for (let i = 0; i < 18; i += 1) source = doubled(source);
    const value = run(source);
    expect(() => createBudget().printing([value, value, value, value])).toThrow(BudgetExceeded);
  });

  it('limits comparisons of long strings and deep values', () => {
    const deep = parseJson('['.repeat(100_000) + ']'.repeat(100_000));
    const other = parseJson('['.repeat(100_000) + ']'.repeat(100_000));
    const compare = (source: string, left: Json, right: Json): unknown =>
      jsonTemplate(source).run({ ...environment({ left, right }) }, createBudget());
    expect(() => compare('left == right', deep, other)).toThrow(/nested too deeply/);
    expect(() => compare('left < right', deep, other)).toThrow(/nested too deeply/);
    expect(() => compare('"{{ left }}"', deep, other)).toThrow(/nested deeper/);
    const [long, equally] = ['x'.repeat(1_000_000), `${'x'.repeat(999_999)}y`];
    const source = `{{ range _, i := ${many(10_000)} }} left == right {{ end }}`;
    expect(duration(() => expect(() => compare(source, long, equally)).toThrow(/steps/))).toBeLessThan(10_000);
  });
});

describe('any JSON document', () => {
  // Two consecutive braces start a block.
  const plain = (text: string): boolean => !text.includes('{{');
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, false),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.maxSafeInteger(),
      fc.string({ unit: 'binary' }).filter(plain),
      fc.array(tie('value')),
      fc.array(fc.tuple(fc.string({ unit: 'grapheme' }).filter(plain), tie('value'))).map((entries) => Object.fromEntries(entries)),
    ),
  })).value;

  it('is a template that produces itself', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 2), (value, indent) => {
        const source = JSON.stringify(value, null, indent);
        expect(printJson(run(source))).toBe(printJson(parseJson(source)));
      }),
      runs(500),
    );
  });
});

describe('any text', () => {
  const fragment = fc.constantFrom(
    ...[
      '{{',
      '}}',
      '{',
      '}',
      '[',
      ']',
      '(',
      ')',
      '"',
      "'",
      '\\',
      '\\u00',
      '.',
      ',',
      ':',
      ':=',
      '?',
      '??',
      '$',
      '$body',
      '$body.users',
      '#',
      '\n',
    ],
    ...[
      'if',
      'elif',
      'else',
      'end',
      'range',
      'i, x',
      'in',
      'not',
      'true',
      'null',
      '==',
      '<',
      '&&',
      '1',
      '-2.5e3',
      '0',
      'size',
      'head',
      'concat',
      'x',
    ],
    ...['{{ if true }}', '{{ else }}', '{{ end }}', '{{ range i, x := $body.users }}', '{"a": ', '@', '\u0000', '\ud800', '😀'],
  );
  const wild = fc
    .array(fc.oneof({ weight: 8, arbitrary: fragment }, fc.string({ maxLength: 3 })), { maxLength: 30 })
    .map((parts) => parts.join(' '));

  it('produces a value or an error with a position, in limited time', () => {
    let values = 0;
    fc.assert(
      fc.property(wild, fc.constantFrom(jsonTemplate, textTemplate), (source, read) => {
        expect(
          duration(() => {
            try {
              printJson(run(source, read));
              values += 1;
            } catch (thrown) {
              if (!(thrown instanceof TemplateError)) throw thrown;
              const { start, end } = thrown.span;
              expect(start).toBeGreaterThanOrEqual(0);
              expect(end).toBeGreaterThanOrEqual(start);
              expect(end).toBeLessThanOrEqual(source.length);
            }
          }),
        ).toBeLessThan(5_000);
      }),
      runs(20_000),
    );
    expect(values).toBeGreaterThan(0);
  });

  const expression = fc.letrec<{ e: string }>((tie) => {
    const e = tie('e');
    return {
      e: fc.oneof(
        { depthSize: 'medium' },
        fc.constantFrom(
          '$body',
          '$body.users',
          '$body.tags',
          '$body.name',
          '$body.id',
          'x',
          'i',
          '[]',
          '{}',
          '""',
          '1',
          '2.50',
          'null',
          'true',
          '$y?.z',
        ),
        fc
          .tuple(e, fc.constantFrom('==', '!=', '<', '<=', '>', '>=', '&&', '||', 'in', '??'), e)
          .map(([a, o, b]) => `((${a}) ${o} (${b}))`),
        fc
          .tuple(
            fc.constantFrom('empty', 'size', 'inverse', 'head', 'tail', 'toUpper', 'toPairs', 'fromPairs', 'removeNulls', 'concat', 'not'),
            e,
          )
          .map(([f, a]) => `${f}(${a})`),
        fc.tuple(e, e, e).map(([c, a, b]) => `{{ if ${c} }} ${a} {{ else }} ${b} {{ end }}`),
        fc.tuple(e, e).map(([list, body]) => `{{ range i, x := ${list} }} ${body} {{ end }}`),
        fc.array(e, { maxLength: 3 }).map((items) => `[${items.join()}]`),
        e.map((value) => `{"key": ${value}}`),
        e.map((value) => `"text {{ ${value} }}"`),
        e.map((value) => `{{ ${value} }}`),
      ),
    };
  }).e;

  it('is valid if it follows the grammar', () => {
    fc.assert(
      fc.property(expression, (source) => {
        jsonTemplate(source);
        const found = fault(source);
        expect(found).not.toMatch(/^(Parse|Lex) Error/);
      }),
      runs(5_000),
    );
  });
});
