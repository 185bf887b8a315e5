import fc from 'fast-check';
import {
  buildClientSchema,
  getIntrospectionQuery,
  type GraphQLSchema,
  type IntrospectionQuery,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { holds } from './constraint.ts';
import { SvcError } from '../errors/svc-error.ts';
import { answer, engine, refusal, translate } from '../../test/support/small-engine.ts';
import type { Json } from '../util/json.ts';
import { cases, DEEP, runs } from '../../test/support/deep.ts';

/** Runs a request. An error that it throws has to be meant for the client. */
function run(query: string, variables: Readonly<Record<string, Json>>): string {
  try {
    translate(query, { variables });
    return 'accepted';
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    expect(error.code).not.toBe('unexpected');
    return error.message;
  }
}

const WORDS = [
  '{',
  '}',
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  ':',
  '!',
  '...',
  '@',
  '$',
  '=',
  '|',
  '&',
  '"',
  '"""',
  '#',
  '\n',
  ',',
  'query',
  'mutation',
  'subscription',
  'fragment',
  'on',
  'author',
  'articles',
  'id',
  'name',
  'where',
  'limit',
  '_eq',
  '_and',
  'order_by',
  'asc',
  'null',
  'true',
  '1',
  '-1.5e3',
  '"text"',
  'F',
  '...F',
  '$x',
  '$x: Int',
  '@include(if: $x)',
  '__typename',
  '__schema',
  'types',
  'fields',
  '__type(name: "author")',
  'app',
  'notice',
  'any',
  '{ id }',
  'constructor',
  '__proto__',
  '\u0000',
  '\u{1F600}',
  '\ud800',
];

const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, 1, -1, 1.5, '', 'asc', 'x', '{1,2}'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('id', '_eq', '_in', '_and', '_not', 'data', 'color', 'key', 'a b', '__proto__', 'nope'), tie('value'), {
      maxKeys: 3,
    }),
  ),
})).value;

describe('any input', () => {
  test('random tokens are answered or rejected', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...WORDS), { maxLength: 40 }), json, (words, value) => void run(words.join(' '), { x: value })),
      runs(3000),
    );
  });

  test('a document with a token changed, dropped or doubled is answered or rejected', () => {
    const words =
      'query q ( $x : Int = 1 , $w : author_bool_exp ) { author ( where : { _and : [ $w , { id : { _in : [ 1 , 2 ] } } ] } , limit : $x ) { ... F a : articles { id @skip ( if : true ) } } __typename } fragment F on author { id name }'.split(
        ' ',
      );
    fc.assert(
      fc.property(fc.nat(words.length - 1), fc.constantFrom('drop', 'double', ...WORDS), json, (index, change, value) => {
        const changed = change === 'drop' ? [] : change === 'double' ? [words[index], words[index]] : [change];
        run([...words.slice(0, index), ...changed, ...words.slice(index + 1)].join(' '), { w: value });
      }),
      runs(3000),
    );
  });

  test('any value of a variable of any type is answered or rejected', () => {
    const queries = [
      'query ($x: author_bool_exp) { author(where: $x) { id } }',
      'query ($x: [author_bool_exp!]) { author(where: {_and: $x}) { id } }',
      'query ($x: [author_order_by!]) { author(order_by: $x) { id } }',
      'query ($x: near_input!) { near(args: $x) { id } }',
      'query ($x: [colors_enum!]) { author(where: {color: {_in: $x}}) { id } }',
      'query ($x: Boolean!) { author { id @skip(if: $x) } }',
      'query ($x: jsonb) { author(where: {data: {_eq: {a: $x}}}) { id } }',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...queries), json, (query, value) => void run(query, { x: value })),
      runs(3000),
    );
  });
});

describe('plans', () => {
  test('a request that fulfils the constraints of another has the same plan', () => {
    const prepared = engine().prepare(
      'query ($x: author_bool_exp, $o: [author_order_by!]) { author(where: $x, order_by: $o) { id } }',
      null,
    );
    const plan = (variables: Readonly<Record<string, Json>>): ReturnType<typeof translate> | null => {
      try {
        return prepared.translate(prepared.variables(variables));
      } catch (error) {
        if (error instanceof SvcError) return null;
        throw error;
      }
    };
    let reused = 0;
    fc.assert(
      fc.property(boolExp, boolExp, orderBy, orderBy, (x1, x2, o1, o2) => {
        const first = plan({ x: x1, o: o1 });
        if (first === null || !first.constraints.every((constraint) => holds(constraint, { x: x2, o: o2 }))) return;
        reused += 1;
        expect(JSON.stringify(plan({ x: x2, o: o2 })?.roots)).toBe(JSON.stringify(first.roots));
      }),
      runs(5000),
    );
    // About one in forty; a short run may have fewer.
    expect(reused).toBeGreaterThan(DEEP ? cases(5000) / 250 : 0);
  });
});

const boolExp: fc.Arbitrary<Json> = fc.letrec<{ exp: Json }>((tie) => ({
  exp: fc
    .dictionary(fc.constantFrom('id', '_and', '_not'), fc.nat(9), { maxKeys: 2 })
    .chain((keys) =>
      fc.record(
        Object.fromEntries(
          Object.keys(keys).map((key): [string, fc.Arbitrary<Json>] => [
            key,
            key === 'id'
              ? fc.constantFrom<Json>({}, { _eq: 1 }, { _eq: 2 }, { _in: [1] }, { _in: [1, 2] })
              : (keys[key] as number) < 5
                ? fc.constant({})
                : key === '_and'
                  ? fc.array(tie('exp'), { maxLength: 2 })
                  : tie('exp'),
          ]),
        ),
      ),
    ),
})).exp;

const orderBy: fc.Arbitrary<Json> = fc.constantFrom<Json>(null, [], { id: 'asc' }, [{ id: 'asc' }], [{ id: 'desc' }], [{ id: null }]);

describe('graphql-js as the reference', () => {
  let schema: GraphQLSchema;
  // Unused fragments and variables are allowed here.
  const rules = specifiedRules.filter((rule) => rule !== NoUnusedFragmentsRule && rule !== NoUnusedVariablesRule);

  beforeAll(async () => {
    schema = buildClientSchema((await answer(translate(getIntrospectionQuery()))) as IntrospectionQuery);
  });

  /** Selections with occasional errors. Fragments are on their own type: on others of the schema they are ignored here and an error in graphql-js. */
  const arbitrary = fc.letrec<{ author: string; article: string; where: string }>((tie) => {
    const alias = fc.constantFrom('', '', '', 'a: ', 'b: ');
    const text = (...parts: (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
      fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((all) => all.join(''));
    const set = (...fields: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
      fc.array(fc.oneof({ depthSize: 'small' }, ...fields), { minLength: 1, maxLength: 3 }).map((all) => `{ ${all.join(' ')} }`);
    const mostly = (good: readonly string[], faulty: readonly string[]): fc.Arbitrary<string> =>
      fc.oneof({ arbitrary: fc.constantFrom(...good), weight: 20 }, { arbitrary: fc.constantFrom(...faulty), weight: 1 });
    const limit = mostly(
      ['', '', '', '(limit: 1)', '(limit: 1)', '(limit: $n)'],
      ['(limit: $s)', '(limits: 1)', '(limit: "1")', '(limit: $nope)', '(limit: 2)'],
    );
    return {
      author: set(
        text(alias, 'id'),
        text(alias, 'name'),
        mostly(
          ['__typename', 'name @include(if: true)', '...A'],
          ['nope', 'id { id }', 'articles', '...Nope', 'name @include', 'name @nope'],
        ),
        text(alias, 'articles', limit, ' ', tie('article')),
        text('... on author ', tie('author')),
        text('... ', tie('author')),
        text(alias, 'articles(where: ', tie('where'), ') ', tie('article')),
      ),
      article: set(text(alias, 'id'), text(alias, 'title'), text('author ', tie('author')), mostly(['title', '...B'], ['nope'])),
      where: fc.oneof(
        { depthSize: 'small' },
        mostly(
          [
            '{}',
            '$w',
            '{id: {_eq: 1}}',
            '{id: {_in: [1, 2]}}',
            '{id: {_in: 3}}',
            '{id: {_eq: $n}}',
            '{id: {_in: $l}}',
            '{id: {_in: [$m]}}',
          ],
          ['{id: {_in: $n}}', '{id: {_in: [$n]}}', '{nope: 1}', '1'],
        ),
        mostly(
          ['{color: {_eq: red}}', '{data: {_eq: {a: [1, "b"]}}}', '{data: {_eq: {a: [$s]}}}'],
          ['{color: {_eq: "red"}}', '{color: {_eq: pink}}', '{id: {_is_null: 1}}'],
        ),
        text('{_not: ', tie('where'), '}'),
        text('{_and: [', tie('where'), ', ', tie('where'), ']}'),
        text('{_and: ', tie('where'), '}'),
      ),
    };
  });

  test('both accept the same documents', () => {
    const outcomes = { accepted: 0, refused: 0 };
    const operation = fc
      .tuple(arbitrary.author, arbitrary.author, arbitrary.article)
      .map(
        ([author, a, b]) =>
          `query q($n: Int, $m: Int! = 1, $s: String, $l: [Int!], $w: author_bool_exp) { author ${author} __typename } fragment A on author ${a} fragment B on article ${b}`,
      );
    const variables = { n: 1, s: 'x', l: [1], w: {} };
    fc.assert(
      fc.property(operation, (query) => {
        const used = Object.fromEntries(Object.entries(variables).filter(([name]) => reachable(query).includes(`$${name}`)));
        const ours = refusal(query, { variables: used });
        // Unused fragments are not checked here.
        const theirs = validate(schema, parse(withoutUnused(query)), rules).map((error) => error.message);
        outcomes[theirs.length === 0 ? 'accepted' : 'refused'] += 1;
        expect([ours, theirs]).toEqual(
          theirs.length === 0 ? ['accepted', []] : [expect.stringMatching(/^(?!accepted)(?!.*unexpected variables)/), theirs],
        );
      }),
      runs(3000),
    );
    expect(outcomes.accepted).toBeGreaterThan(cases(3000) / 10);
    expect(outcomes.refused).toBeGreaterThan(cases(3000) / 10);
  });

  /** Returns the parts of the document that the operation reaches. */
  function reachable(query: string): string {
    return withoutUnused(query).replace(/^[^{]*/, '');
  }

  function withoutUnused(query: string): string {
    const [operation, a, b] = query.split(/ fragment [AB] on (?:author|article) /) as [string, string, string];
    let usesA = operation.includes('...A');
    let usesB = operation.includes('...B');
    for (let round = 0; round < 2; round++) {
      usesA ||= usesB && b.includes('...A');
      usesB ||= usesA && a.includes('...B');
    }
    return `${operation}${usesA ? ` fragment A on author ${a}` : ''}${usesB ? ` fragment B on article ${b}` : ''}`;
  }
});
