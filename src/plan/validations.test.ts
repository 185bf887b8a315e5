import { describe, expect, it } from 'vitest';
import { translate } from '../../test/support/translate.ts';
import { HOOK, writingCache } from '../../test/support/writing-fixture.ts';
import type { MutationRoot } from '../ir/mutation.ts';
import type { Json } from '../util/json.ts';
import { bindInput } from './bind.ts';
import { validationsOf } from './validations.ts';

const cache = writingCache();

describe('what only a hook may let through', () => {
  const asked = (field: string, variables: Record<string, Json> = {}, declared = '') => {
    const operation = translate(cache, `mutation ${declared} { ${field} { affected_rows } }`, { role: 'hooked', variables });
    const plan = validationsOf(operation.roots[0]?.root as MutationRoot);
    return plan.map(({ hook, input }) => [hook === HOOK, bindInput(input, variables)]);
  };

  it.each<[string, Json]>([
    ['insert_author(objects: [{name: "x"}, {name: "y"}])', [{ name: 'x' }, { name: 'y' }]],
    ['insert_author(objects: {name: "x"})', [{ name: 'x' }]],
    ['update_author(where: {_not: {}}, _set: {name: "x"})', [{ where: { _not: {} }, _set: { name: 'x' } }]],
    ['delete_author(where: {})', [{ where: {} }]],
  ])('%s carries its input', (field, input) => {
    expect(asked(field)).toEqual([[true, input]]);
  });

  it('carries references to variables and parts of them', () => {
    const declared = '($rows: [author_insert_input!]!)';
    expect(asked('insert_author(objects: $rows)', { rows: [{ name: 'x' }] }, declared)).toEqual([[true, [{ name: 'x' }]]]);
    expect(asked('insert_author(objects: [{name: $name}])', { name: 'x' }, '($name: String!)')).toEqual([[true, [{ name: 'x' }]]]);
  });

  it.each(['insert_author(objects: [])', 'update_author(where: {})', 'update_author_many(updates: [])'])('%s asks for nothing', (field) => {
    expect(asked(field)).toEqual([]);
  });
});
