import { describe, expect, it } from 'vitest';
import { columnOfError, draftOfText, draftsOf, editorOf, isUnchanged, valuesOf } from './row-draft.ts';

describe('row drafts', () => {
  it.each([
    ['Boolean!', 'boolean'],
    ['timestamptz', 'instant'],
    ['timestamp', 'datetime'],
    ['date', 'date'],
    ['timetz', 'time'],
    ['jsonb', 'json'],
    ['[String!]', 'list'],
    ['bigint', 'number'],
    ['uuid', 'text'],
  ])('edit a %s with the editor %s', (type, editor) => {
    expect(editorOf(type, false)).toBe(editor);
    expect(editorOf(type, true)).toBe('choice');
  });

  it('read an emptied field as null or as the default, except for text', () => {
    expect(draftOfText('', 'text', true, true)).toEqual({ kind: 'text', text: '' });
    expect(draftOfText('', 'date', true, false)).toEqual({ kind: 'null' });
    expect(draftOfText('', 'number', false, true)).toEqual({ kind: 'unset' });
    expect(draftOfText('', 'number', false, false)).toEqual({ kind: 'text', text: '' });
  });

  it('distinguish null from an empty text', () => {
    expect(isUnchanged(null, { kind: 'text', text: '' })).toBe(false);
    expect(isUnchanged('', { kind: 'text', text: '' })).toBe(true);
    expect(isUnchanged(null, { kind: 'null' })).toBe(true);
  });

  it('report the drafts that their types do not have', () => {
    const types = new Map([
      ['n', 'Int'],
      ['doc', 'jsonb'],
    ]);
    const { values, problems } = valuesOf(
      { n: { kind: 'text', text: 'x' }, doc: { kind: 'text', text: '[1]' }, gone: { kind: 'null' } },
      types,
    );
    expect(values).toEqual({ doc: [1], gone: null });
    expect(problems).toEqual({ n: 'Not a valid Int: expected a number' });
  });

  it('find the column of an error', () => {
    expect(columnOfError('unexpected null', '$.selectionSet.insert_a.args.objects[0].name', ['name'])).toBe('name');
    expect(columnOfError('null value in column "name" of relation', '$.selectionSet.insert_a.args.objects', ['name'])).toBe('name');
    expect(columnOfError('null value in column "other"', undefined, ['name'])).toBeUndefined();
  });

  it('have the values of some columns of a row', () => {
    expect(draftsOf({ id: 1, name: 'a', note: null }, ['name', 'note', 'hidden'])).toEqual({
      name: { kind: 'text', text: 'a' },
      note: { kind: 'null' },
    });
  });
});
