import { describe, expect, it } from 'vitest';
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { AggregatePredicate, BoolExp, Read } from '../../../ir/bool-exp.ts';
import { guarded, not, or } from '../../../ir/bool-exp.ts';
import { baseType } from '../operators.ts';
import { mayFail } from './may-fail.ts';

const INT = baseType('int4');
const TEXT = baseType('text');
const extension = (name: string): CatalogType => ({ schema: 'public', name, kind: 'base', array: false });

function compare(type: CatalogType, operator: string, list = false, left: Read = { kind: 'column', column: 'c', type }): BoolExp {
  const operand = { value: { kind: 'literal', json: 'x' } as const, type, list };
  return { kind: 'compare', left, operator, argument: { kind: 'operand', operand }, nullSafe: false };
}

const RATIO: Read = {
  kind: 'computed-field',
  call: { function: { schema: 'public', name: 'ratio' }, arguments: [{ kind: 'row' }] },
  type: INT,
};
const DIVIDES = compare(INT, '_gt', false, RATIO);
const ARTICLE = { kind: 'table', name: { schema: 'public', name: 'article' } } as const;
const exists = (where: BoolExp): BoolExp => ({ kind: 'exists', join: null, from: ARTICLE, where });
const aggregate = (name: string): BoolExp => ({
  kind: 'aggregate-predicate',
  join: { columns: [], unique: false },
  from: ARTICLE,
  where: compare(INT, '_eq'),
  function: name,
  arguments: [],
  distinct: false,
  predicate: [],
});

const collated = (id: number, deterministic = true): CatalogType => ({ ...TEXT, collation: { id, deterministic } });

const columns = (left: CatalogType, right: CatalogType): BoolExp => ({
  kind: 'compare-columns',
  left: { kind: 'column', column: 'l', type: left },
  operator: '_gt',
  right: { kind: 'column', column: 'r', type: right },
  rightRow: 'self',
  levels: 0,
  nullSafe: false,
});
const JSONS: Read = { kind: 'column', column: 'j', type: { ...baseType('json'), array: true } };
const distinctJson: BoolExp = { ...(aggregate('count') as AggregatePredicate), arguments: [JSONS], distinct: true };

describe('conditions that may fail at run time', () => {
  it.each<[string, BoolExp]>([
    ['a geometry', compare(extension('geometry'), '_st_contains')],
    ['equality of an unknown extension type', compare(extension('somebody'), '_eq')],
    ['a composite type', compare({ ...extension('pair'), kind: 'composite' }, '_eq')],
    ['a box, whose area overflows', compare(baseType('box'), '_gt')],
    ['a built-in type that is not in the list', compare(baseType('gtsvector'), '_eq')],
    ['an array of json', compare({ ...baseType('json'), array: true }, '_eq')],
    ['a distinct count of arrays of json', distinctJson],
    ['columns of which one is converted to the type of the other', columns(baseType('numeric'), baseType('float8'))],
    ['columns of two collations', columns(collated(1), collated(2))],
    ['a pattern with a nondeterministic collation', compare(collated(1, false), '_iregex')],
    ['similar to', compare(TEXT, '_nsimilar')],
    ['a list of arrays', compare({ ...INT, array: true }, '_in', true)],
    ['a computed field', DIVIDES],
    ['a null check of a computed field', { kind: 'is-null', left: RATIO, isNull: true }],
    [
      'a cast',
      compare(TEXT, '_eq', false, { kind: 'cast', read: { kind: 'column', column: 'g', type: extension('geography') }, type: TEXT }),
    ],
    ['a computed field in a negation', not(or(compare(INT, '_eq'), DIVIDES))],
    ['a computed field in a condition on related rows', exists(guarded(compare(INT, '_eq'), DIVIDES))],
    ['an average', aggregate('avg')],
  ])('%s', (_name, exp) => {
    expect(mayFail(exp)).toBe(true);
  });

  it.each<[string, BoolExp]>([
    ['comparisons of built-in types', compare(INT, '_gt')],
    ['texts with patterns, which are checked before', compare(TEXT, '_regex')],
    ['columns of one collation', columns(collated(1), collated(1))],
    ['columns of a collation and the default one', columns(collated(1), TEXT)],
    ['texts with a nondeterministic collation', compare(collated(1, false), '_lt')],
    ['columns of similar types', columns(INT, baseType('int8'))],
    [
      'the text of jsonb',
      compare(TEXT, '_like', false, { kind: 'cast', read: { kind: 'column', column: 'c', type: baseType('jsonb') }, type: TEXT }),
    ],
    ['built-in ranges', compare({ ...baseType('tstzrange'), kind: 'range' }, '_gt')],
    ['enums', compare({ ...extension('mood'), kind: 'enum' }, '_in', true)],
    ['known extension types', compare(extension('citext'), '_ilike')],
    ['whole arrays', compare({ ...INT, array: true }, '_contains')],
    ['a condition on related rows', exists(compare(INT, '_eq'))],
    ['a count of rows', aggregate('count')],
  ])('cannot fail: %s', (_name, exp) => {
    expect(mayFail(exp)).toBe(false);
  });
});
