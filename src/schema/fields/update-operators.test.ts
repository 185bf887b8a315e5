import { describe, expect, it } from 'vitest';
import { columnIs, GREETING, writingCache } from '../../../test/support/writing-fixture.ts';
import { failure, type TranslateOptions, translate } from '../../../test/support/translate.ts';
import type { MutationRoot, Update, UpdateMany } from '../../ir/mutation.ts';

const cache = writingCache();

function mutation(field: string, how: TranslateOptions & { readonly declare?: string } = {}): MutationRoot['mutation'] {
  const query = `mutation${how.declare === undefined ? '' : ` (${how.declare})`} { ${field} }`;
  const root = translate(cache, query, how).roots[0]?.root;
  if (root === undefined || !('mutation' in root) || root.mutation === undefined) throw new Error('expected a mutation');
  return root.mutation;
}

const update = (args: string, how: Parameters<typeof mutation>[1] = {}): Update =>
  mutation(`update_author(where: {}, ${args}) { affected_rows }`, how) as Update;

describe('operators', () => {
  it.each([
    ['_set: {name: "a"}', { column: 'name', operator: 'set', type: { name: 'text' }, operand: { type: { name: 'text' }, list: false } }],
    ['_set: {data: null}', { column: 'data', operator: 'set', operand: { value: { kind: 'literal', json: null } } }],
    ['_inc: {rating: 1.5}', { column: 'rating', operator: 'inc', operand: { type: { name: 'float8' } } }],
    ['_append: {data: {a: 1}}', { column: 'data', operator: 'append', operand: { type: { name: 'jsonb' }, value: { json: { a: 1 } } } }],
    ['_prepend: {data: [1]}', { column: 'data', operator: 'prepend', operand: { value: { json: [1] } } }],
    ['_delete_key: {data: "k"}', { column: 'data', operator: 'delete-key', type: { name: 'jsonb' }, operand: { type: { name: 'text' } } }],
    ['_delete_elem: {data: -1}', { column: 'data', operator: 'delete-elem', operand: { type: { name: 'int4' }, value: { json: -1 } } }],
    [
      '_delete_at_path: {data: ["a", "b"]}',
      {
        column: 'data',
        operator: 'delete-at-path',
        operand: { type: { name: 'text', array: false }, list: true, value: { json: ['a', 'b'] } },
      },
    ],
  ])('%s', (args, assignment) => {
    const { assignments } = update(args);
    // Numbers in documents keep their text.
    expect(JSON.parse(JSON.stringify(assignments))).toMatchObject([assignment]);
  });

  it('precede the presets, which are also applied alone', () => {
    const { assignments, check, where } = update('_set: {name: "a"}', { role: 'writer' });
    expect(assignments).toMatchObject([
      { column: 'name', operator: 'set' },
      { column: 'greeting', operator: 'set', type: { name: 'text' }, operand: GREETING },
    ]);
    expect(where).toEqual(columnIs('id', 2));
    expect(check).toEqual(columnIs('id', 3));
    const preset = [{ column: 'greeting', operand: GREETING }];
    expect(update('_set: {}', { role: 'writer' }).assignments).toMatchObject(preset);
    expect((mutation('update_author(where: {}) { affected_rows }', { role: 'writer' }) as Update).assignments).toMatchObject(preset);
  });

  it('may assign nothing', () => {
    expect(update('_set: {}').assignments).toEqual([]);
    expect(update('_set: null, _inc: {}').assignments).toEqual([]);
  });

  it('without a check allow every change of a row', () => {
    expect(update('_set: {name: "a"}', { role: 'reader' }).check).toEqual({ kind: 'constant', value: true });
  });

  it('read whole objects from variables by their keys', () => {
    const how = { declare: '$s: author_set_input!, $i: author_inc_input', variables: { s: { name: 'a', email: 'b' } } };
    const query = `mutation (${how.declare}) { update_author(where: {}, _set: $s, _inc: $i) { affected_rows } }`;
    const { constraints } = translate(cache, query, how);
    expect(update('_set: $s, _inc: $i', how).assignments).toMatchObject([
      { column: 'name', operand: { value: { kind: 'variable', name: 's', path: ['name'] } } },
      { column: 'email', operand: { value: { kind: 'variable', name: 's', path: ['email'] } } },
    ]);
    expect(constraints).toEqual([
      { variable: 'i', path: [], fact: { kind: 'present', present: false } },
      { variable: 's', path: [], fact: { kind: 'keys', keys: ['name', 'email'] } },
    ]);
  });

  it.each([
    ['_set: {id: 1, name: "a"}, _inc: {id: 2}', ": Column found in multiple operators: ['id']."],
    [
      '_set: {rating: 1, id: 1, data: 1}, _inc: {rating: 2, id: 2}, _append: {data: 1}',
      ": Column found in multiple operators: ['id', 'rating', 'data'].",
    ],
    ['_inc: {name: "a"}', "._inc.name: field 'name' not found in type: 'author_inc_input'"],
    ['_append: {notes: 1}', "._append.notes: field 'notes' not found in type: 'author_append_input'"],
    ['_set: {serial: 1}', "._set.serial: field 'serial' not found in type: 'author_set_input'"],
    ['_set: {shout: "x"}', "._set.shout: field 'shout' not found in type: 'author_set_input'"],
    ['_set: {name: null}', "._set.name: unexpected null value for type 'String'"],
    ['_inc: {rating: null}', "._inc.rating: unexpected null value for type 'float8'"],
    ['_delete_key: {data: null}', "._delete_key.data: unexpected null value for type 'String'"],
    ['_delete_at_path: {data: null}', '._delete_at_path.data: expected a list, but found null'],
    ['_delete_at_path: {data: ["a", null]}', "._delete_at_path.data[1]: unexpected null value for type 'String'"],
  ])('%s is rejected', (args, message) => {
    expect(failure(() => update(args))).toBe(`$.selectionSet.update_author.args${message}`);
  });
});

describe('updates of one row', () => {
  it('find it by its key', () => {
    const how = { declare: '$k: author_pk_columns_input!', variables: { k: { id: 5 } }, role: 'writer' };
    const one = mutation('update_author_by_pk(pk_columns: $k, _set: {name: "a"}) { id name }', how);
    expect(one).toMatchObject({
      kind: 'update',
      where: {
        kind: 'guarded',
        guard: columnIs('id', 2),
        item: { argument: { operand: { value: { kind: 'variable', name: 'k', path: ['id'] } } } },
      },
      output: { kind: 'row', fields: [{ alias: 'id' }, { alias: 'name' }] },
    });
  });

  it.each([
    ['{}', ".id: missing required field 'id'"],
    ['{id: null}', ".id: unexpected null value for type 'Int'"],
    ['{id: 1, name: "a"}', ".name: field 'name' not found in type: 'author_pk_columns_input'"],
  ])('reject the key %s', (key, message) => {
    expect(failure(() => mutation(`update_author_by_pk(pk_columns: ${key}, _set: {name: "a"}) { id }`))).toBe(
      `$.selectionSet.update_author_by_pk.args.pk_columns${message}`,
    );
  });
});

describe('many updates', () => {
  const many = (updates: string, role = 'admin'): UpdateMany =>
    mutation(`update_author_many(updates: ${updates}) { affected_rows }`, { role }) as UpdateMany;

  it('keep their order, including those that assign nothing', () => {
    const { updates } = many('[{where: {id: {_eq: 1}}, _set: {name: "a"}}, {where: {}}, {where: {}, _inc: {rating: 1}}]');
    expect(updates.map(({ assignments }) => assignments.map(({ column }) => column))).toEqual([['name'], [], ['rating']]);
    expect(many('[{where: {id: {_eq: 1}}}]', 'writer').updates[0]).toMatchObject({
      where: { kind: 'guarded', guard: columnIs('id', 2), item: { left: { column: 'id' } } },
      assignments: [{ column: 'greeting' }],
      output: { kind: 'response', fields: [{ kind: 'affected-rows' }] },
    });
  });

  it('are empty if none assigns anything', () => {
    expect(many('[]').updates).toEqual([]);
    expect(many('[{where: {}}, {where: {}, _set: {}}]').updates).toEqual([]);
  });

  it.each([
    ['[{_set: {name: "a"}}]', ".updates[0].where: missing required field 'where'"],
    ['[{where: {}, _set: {id: 1}, _inc: {id: 1}}]', ".updates[0]: Column found in multiple operators: ['id']."],
  ])('reject %s', (updates, message) => {
    expect(failure(() => many(updates))).toBe(`$.selectionSet.update_author_many.args${message}`);
  });
});
