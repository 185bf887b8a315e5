/** Every construct of the language counts against the budget. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/deep.ts';
import { type Json, type JsonObject, JsonNumber } from '../../../util/json.ts';
import { requestContext, requestEnvironment } from '../context.ts';
import { runText } from '../text-value.ts';
import { type Budget, BudgetExceeded, createBudget } from './budget.ts';
import { jsonTemplate, textTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';

const LONG = 200_000;
const digits = (last: string): Json => new JsonNumber(`0.${'1'.repeat(LONG)}${last}`);
const keys = (count: number, length: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}${'k'.repeat(length)}`, 1]));

const nested = (levels: number): Json => {
  let value: Json = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
};

const BODY: JsonObject = {
  many: Array.from({ length: 20_000 }, () => 1),
  text: 'x'.repeat(LONG),
  // Equal to another string but not identical, like parsed strings.
  same: Buffer.alloc(LONG, 'x').toString(),
  number: digits('2'),
  list: [1],
  object: { a: 1 },
  wide: keys(2000, 1),
  wideKeys: keys(100, 2000),
  wideKeysToo: keys(100, 2000),
  long: Array.from({ length: 2000 }, () => 1),
  pairs: [['k'.repeat(LONG), 1]],
  self: nested(200),
};

const context = requestContext({ body: BODY, baseUrl: 'https://x.test/', sessionVariables: new Map([['x-svc-role', 'user']]) });

describe('a construct repeated 20,000 times on large values exhausts the budget', () => {
  it.each([
    ['a path of many accessors', `$body.self${'[0]'.repeat(200)}`],
    ['a path of computed keys', '$body?[$body.text]'],
    ['a path of exact numbers', '$body.list?[$body.number]'],
    ['equality of strings', '$body.text == $body.same'],
    ['inequality of strings', '$body.text != $body.same'],
    ['order of strings', '$body.text < $body.same'],
    ['equality of numbers', '$body.number == 1'],
    ['equality with a wide object', '$body.object == $body.wide'],
    ['equality of long keys', '$body.wideKeys == $body.wideKeysToo'],
    ['order of long keys', '$body.wideKeys < $body.wideKeysToo'],
    ['a key in an object', '$body.text in $body.object'],
    ['a value in a list', '2 in $body.long'],
    ['a string in a list', '$body.same in [$body.text]'],
    ['a text', '"{{ $body.text }}"'],
    ['a text of a number', '"{{ $body.number }}"'],
    ['empty of a number', 'empty($body.number)'],
    ['inverse of a number', 'inverse($body.number)'],
    ['inverse of a list', 'inverse($body.long)'],
    ['empty of an object', 'empty($body.wide)'],
    ['size of a string', 'size($body.text)'],
    ['tail of a list', 'tail($body.long)'],
    ['removeNulls', 'removeNulls($body.long)'],
    ['fromPairs', 'fromPairs($body.pairs)'],
    ['toPairs', 'toPairs($body.wideKeys)'],
    ['concat of lists', 'concat([$body.long, $body.list])'],
    ['concat of objects', 'concat([$body.wideKeys, $body.object])'],
  ])('%s', (_, construct) => {
    const template = jsonTemplate(`{{ range _, x := $body.many }} ${construct} {{ end }}`);
    expect(() => template.run(requestEnvironment(context), createBudget())).toThrow(/more than \d+ (steps|characters)/);
  });

  it('the name of a session variable', () => {
    const named = requestContext({ body: BODY, baseUrl: 'https://x.test/', sessionVariables: new Map([['x'.repeat(LONG), 'user']]) });
    const template = jsonTemplate('{{ range _, x := $body.many }} getSessionVariable($body.text) {{ end }}');
    expect(() => template.run(requestEnvironment(named), createBudget())).toThrow(/more than \d+ (steps|characters)/);
  });

  it('the text of a header or parameter', () => {
    const template = textTemplate('{{ $body.text }}');
    const budget = createBudget();
    const all = (): void => {
      for (let i = 0; i < 20_000; i++) runText(template, requestEnvironment(context), budget);
    };
    expect(all).toThrow(/more than \d+ characters/);
  });
});

/** Wraps a value and its parts, and counts accesses. */
function watched(value: Json, onLook: (count: number) => void): Json {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return value;
  const inner = Array.isArray(value)
    ? value.map((item: Json) => watched(item, onLook))
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, watched(item, onLook)]));
  return new Proxy(inner, {
    get(target, key, receiver): Json {
      onLook(1);
      return Reflect.get(target, key, receiver) as Json;
    },
    has(target, key) {
      onLook(1);
      return Reflect.has(target, key);
    },
    getOwnPropertyDescriptor(target, key) {
      onLook(1);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    ownKeys(target) {
      const found = Reflect.ownKeys(target);
      onLook(found.length);
      return found;
    },
  }) as Json;
}

describe('any template', () => {
  const access = fc.constantFrom('.a', '.list', '[0]', '[1]', '.a.a', '[0][0]', '["b"]', "['a']", '.a?', '[9]?', '.b?');
  const path = fc
    .tuple(fc.constantFrom('$body', '$body', 'x'), fc.array(access, { maxLength: 12 }))
    .map(([start, accesses]) => `${start}?${accesses.join('')}`);
  const expression = fc.letrec<{ e: string }>((tie) => {
    const e = tie('e');
    return {
      e: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        path,
        path,
        fc.constantFrom('[1, 2]', '{"a": [1]}', '"text"', 'null', 'true'),
        fc.tuple(e, fc.constantFrom('==', '!=', '<', '<=', 'in', '??'), e).map(([a, o, b]) => `((${a}) ${o} (${b}))`),
        fc
          .tuple(fc.constantFrom('empty', 'size', 'inverse', 'head', 'tail', 'toPairs', 'fromPairs', 'removeNulls', 'concat'), e)
          .map(([f, a]) => `${f}(${a})`),
        fc.tuple(e, e).map(([list, body]) => `{{ range i, x := ${list} }} ${body} {{ end }}`),
        fc.array(e, { maxLength: 2 }).map((items) => `[${items.join()}]`),
        e.map((value) => `"text {{ ${value} }}"`),
      ),
    };
  }).e;
  const value = fc.letrec<{ v: Json }>((tie) => ({
    v: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<Json>(1, 'a', null, true),
      fc.array(tie('v'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'list', 'c', 'd', 'e'), tie('v')),
    ),
  })).v;

  it('counts at least one step per few values that it reads', () => {
    let most = 0;
    fc.assert(
      fc.property(expression, value, value, (source, a, list) => {
        let looked = 0;
        let counted = 1;
        const real = createBudget();
        const count = (steps: number): void => {
          counted += steps;
        };
        const budget: Budget = {
          steps: count,
          reading: () => count(1),
          number: () => count(1),
          keys: (object) => {
            const keys = real.keys(object);
            counted += keys.length;
            return keys;
          },
          output: count,
          printing: (printed) => {
            // At most one value per character.
            counted += JSON.stringify(printed)?.length ?? 0;
          },
        };
        const body = watched({ a, list, b: [list, [a]] }, (values) => {
          looked += values;
        });
        const environment = {
          variables: new Map<string, Json>([
            ['$body', body],
            ['x', body],
          ]),
          functions: new Map(),
        };
        try {
          jsonTemplate(source).run(environment, budget);
        } catch (thrown) {
          if (!(thrown instanceof TemplateError) && !(thrown instanceof BudgetExceeded)) throw thrown;
        }
        most = Math.max(most, looked / counted);
        expect(looked).toBeLessThanOrEqual(12 * counted);
      }),
      runs(1000),
    );
    expect(most).toBeGreaterThan(0);
  });
});
