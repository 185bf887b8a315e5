import { describe, expect, it } from 'vitest';
import { columnIs, GREETING, SESSION_USER, writingCache } from '../../../test/support/writing-fixture.ts';
import { failure, type TranslateOptions, translate } from '../../../test/support/translate.ts';
import { typeNamed } from '../../../test/support/schema-cache-fixture.ts';
import type { Insert } from '../../ir/mutation.ts';
import type { Json } from '../../util/json.ts';
import { printPath } from '../../util/path.ts';

const cache = writingCache();

function insert(field: string, how: TranslateOptions & { readonly declare?: string } = {}): Insert {
  const query = `mutation${how.declare === undefined ? '' : ` (${how.declare})`} { ${field} }`;
  const root = translate(cache, query, how).roots[0]?.root;
  if (root === undefined || !('mutation' in root) || root.mutation?.kind !== 'insert') throw new Error('expected an insert');
  return root.mutation;
}

function refusal(field: string, how: Parameters<typeof insert>[1] = {}): string {
  return failure(() => insert(field, how));
}

const literal = (json: Json, type: string) => ({ value: { kind: 'literal', json }, type: typeNamed(type), list: false });

describe('rows', () => {
  it('contain the given values, each column once in the order of the table', () => {
    const { table, rows, path, output } = insert(
      'insert_author(objects: [{email: "e", name: "a"}, {name: "b", data: {k: [1]}}, {}]) { affected_rows n: affected_rows __typename returning { id } }',
    );
    expect(table).toEqual({ schema: 'public', name: 'author' });
    expect(rows.columns).toEqual([
      { name: 'name', type: typeNamed('text') },
      { name: 'email', type: typeNamed('text') },
      { name: 'data', type: typeNamed('jsonb') },
    ]);
    expect(rows.rows.map(({ values }) => Object.fromEntries(values))).toEqual([
      { name: literal('a', 'text'), email: literal('e', 'text') },
      { name: literal('b', 'text'), data: { ...literal(null, 'jsonb'), value: { kind: 'literal', json: { k: [1] } } } },
      {},
    ]);
    expect(rows).toMatchObject({ onConflict: null, check: { kind: 'constant', value: true } });
    expect(printPath(path)).toBe('$.selectionSet.insert_author.args.objects');
    expect(rows.rows.map((row) => printPath(row.path))).toEqual([0, 1, 2].map((i) => `$.selectionSet.insert_author.args.objects[${i}]`));
    expect(output).toMatchObject({
      kind: 'response',
      fields: [
        { kind: 'affected-rows', alias: 'affected_rows' },
        { kind: 'affected-rows', alias: 'n' },
        { kind: 'typename', typeName: 'author_mutation_response' },
        { kind: 'returning', alias: 'returning', fields: [{ alias: 'id' }] },
      ],
    });
  });

  it('may be an empty list, or one row without a list', () => {
    expect(insert('insert_author(objects: []) { affected_rows }').rows).toMatchObject({ columns: [], rows: [] });
    const one = insert('insert_author_one(object: {name: "a"}) { id }');
    expect(one.rows.rows).toHaveLength(1);
    expect(one.output).toMatchObject({ kind: 'row', fields: [{ alias: 'id' }] });
    expect(printPath(one.path)).toBe('$.selectionSet.insert_author_one.args.object');
  });

  it('accept values of enum tables', () => {
    const row = insert('insert_author(objects: {name: "a", mood: happy}) { affected_rows }').rows.rows[0];
    expect(row?.values.get('mood')?.value).toEqual({ kind: 'literal', json: 'happy' });
    expect(refusal('insert_author(objects: {name: "a", mood: "happy"}) { affected_rows }')).toBe(
      "$.selectionSet.insert_author.args.objects[0].mood: expected an enum value for type 'mood_enum', but found a string",
    );
    expect(refusal('insert_author(objects: {name: "a", mood: bored}) { affected_rows }')).toBe(
      "$.selectionSet.insert_author.args.objects[0].mood: expected one of the values ['happy', 'sad'] for type 'mood_enum', but found 'bored'",
    );
  });

  it('have the presets of the permission, one object for all rows, and its check', () => {
    const { rows } = insert('insert_author(objects: [{name: "a"}, {}]) { affected_rows }', { role: 'writer' });
    expect(rows.rows.map((row) => row.values.get('greeting'))).toEqual([GREETING, GREETING]);
    expect(rows.rows[0]?.values.get('greeting')).toBe(rows.rows[1]?.values.get('greeting'));
    expect(rows.columns.map(({ name }) => name)).toEqual(['name', 'greeting']);
    expect(rows.check).toEqual(columnIs('id', 1));
  });

  it('can consist of presets alone', () => {
    const { rows } = insert('insert_author(objects: [{}, {_PLACEHOLDER: true}]) { affected_rows }', { role: 'blind' });
    expect(rows.rows.map(({ values }) => [...values.keys()])).toEqual([['name'], ['name']]);
  });

  it('are marked as contained if they change nothing else', () => {
    const contained = (objects: string) => insert(`insert_article(objects: ${objects}) { affected_rows }`).contained;
    expect(contained('{title: "a", author: {data: {name: "b"}}}')).toBe(true);
    expect(contained('{title: "a", author: {data: {name: "b", detail: {data: {}}}}}')).toBe(false);
    const conflict = (columns: string) =>
      insert(
        `insert_article(objects: {title: "a"}, on_conflict: {constraint: article_pkey, update_columns: ${columns}}) { affected_rows }`,
      );
    expect(conflict('[]').contained).toBe(true);
    expect(conflict('[title]').contained).toBe(false);
  });

  it.each([
    ['insert_author(objects: {greeting: "x"})', ".args.objects[0].greeting: field 'greeting' not found in type: 'author_insert_input'"],
    ['insert_author(objects: {serial: 1})', ".args.objects[0].serial: field 'serial' not found in type: 'author_insert_input'"],
    ['insert_author(objects: {shout: "x"})', ".args.objects[0].shout: field 'shout' not found in type: 'author_insert_input'"],
    ['insert_author(objects: {name: null})', ".args.objects[0].name: unexpected null value for type 'String'"],
    ['insert_author(objects: {name: 1})', '.args.objects[0].name: parsing Text failed, expected String, but encountered Number'],
    ['insert_author(objects: [null])', ".args.objects[0]: expected an object for type 'author_insert_input', but found null"],
    ['insert_author(objects: null)', '.args.objects: expected a list, but found null'],
    ['insert_author', ".args.objects: missing required field 'objects'"],
  ])('%s is rejected', (field, message) => {
    const role = field.includes('greeting') ? 'writer' : 'admin';
    expect(refusal(`${field} { affected_rows }`, { role })).toBe(`$.selectionSet.insert_author${message}`);
  });

  it('accept null for nullable columns', () => {
    const [row] = insert('insert_author(objects: {name: "a", data: null, tags: null, email: null}) { affected_rows }').rows.rows;
    expect([...(row?.values.values() ?? [])].slice(1).map(({ value }) => value)).toEqual(Array(3).fill({ kind: 'literal', json: null }));
  });
});

describe('rows in variables', () => {
  const declare = '$rows: [author_insert_input!]!';

  it('are references, so the plan depends on their shape only', () => {
    const rows: Json = [
      { name: 'a', articles: null },
      { name: 'b', data: { k: 1 } },
    ];
    const query = `mutation (${declare}) { insert_author(objects: $rows) { affected_rows } }`;
    const { roots, constraints, reusable } = translate(cache, query, { variables: { rows } });
    const mutation = roots[0]?.root as { readonly mutation: Insert };
    expect(mutation.mutation.rows.rows.map(({ values }) => values.get('name')?.value)).toMatchObject([
      { kind: 'variable', name: 'rows', path: [0, 'name'] },
      { kind: 'variable', name: 'rows', path: [1, 'name'] },
    ]);
    expect(reusable).toBe(true);
    expect(constraints).toEqual([
      { variable: 'rows', path: [], fact: { kind: 'length', length: 2 } },
      { variable: 'rows', path: [0], fact: { kind: 'keys', keys: ['name', 'articles'] } },
      { variable: 'rows', path: [0, 'articles'], fact: { kind: 'null', isNull: true } },
      { variable: 'rows', path: [1], fact: { kind: 'keys', keys: ['name', 'data'] } },
    ]);
  });

  const translated = (rows: Json) =>
    translate(cache, `mutation (${declare}) { insert_author(objects: $rows) { affected_rows } }`, { variables: { rows } });
  const rowsOf = ({ roots }: ReturnType<typeof translated>) => {
    const [root] = roots as readonly { readonly root: { readonly mutation: Insert } }[];
    if (root === undefined) throw new Error('no root');
    return root.root.mutation.rows;
  };

  it('have a plan of their own if they are many and not uniform', () => {
    const { constraints, reusable } = translated(
      Array.from({ length: 100 }, (_, i): Json => (i === 7 ? { name: 'a', articles: null } : { name: 'a' })),
    );
    expect(reusable).toBe(false);
    expect(constraints).toEqual([]);
  });

  it('share a plan for any number if they are many and uniform', () => {
    const found = translated(Array.from({ length: 60 }, (_, i): Json => (i % 2 === 0 ? { name: `${i}` } : { data: [i], name: `${i}` })));
    expect(found.reusable).toBe(true);
    expect(found.constraints).toEqual([
      { variable: 'rows', path: [], fact: { kind: 'objects', least: 2, required: new Set(['name']), optional: new Set(['data']) } },
    ]);
    const { rows, uniform, columns } = rowsOf(found);
    expect(rows).toEqual([]);
    expect(columns.map(({ name }) => name)).toEqual(['name', 'data']);
    expect([...(uniform?.values ?? [])].map(([column, { value }]) => [column, value])).toMatchObject([
      ['name', { kind: 'members', name: 'rows', path: [], key: 'name' }],
      ['data', { kind: 'members', name: 'rows', path: [], key: 'data' }],
    ]);
  });

  it.each<[string, Json]>([
    ['too few', [{ name: 'a' }]],
    ['no objects', [{}, {}]],
    ['in want of a key that does not mean null when it is left out', [...(Array(60).fill({ name: 'a' }) as Json[]), { data: 1 }]],
  ])('are read one by one if they are %s', (_what, rows) => {
    expect(rowsOf(translated(rows)).uniform).toBeUndefined();
  });

  it('are read one by one if one is invalid, to find the first error', () => {
    const rows = (wrong: Json): Json => [...(Array(60).fill({ name: 'a' }) as Json[]), wrong];
    expect(() => translated(rows(null))).toThrow("expected an object for type 'author_insert_input', but found null");
    expect(() => translated(rows({ name: 'a', no: 1 }))).toThrow("field 'no' not found in type: 'author_insert_input'");
  });

  it('are rejected at bind time if a non-nullable column is null', () => {
    const row = insert('insert_author(objects: $rows) { affected_rows }', { declare, variables: { rows: [{ name: null, email: null }] } })
      .rows.rows[0];
    const bind = (column: string) => {
      const value = row?.values.get(column)?.value;
      return value?.kind === 'variable' ? value.check(null, value.at) : 'not a variable';
    };
    expect(failure(() => bind('name'))).toBe("$.selectionSet.insert_author.args.objects[0].name: unexpected null value for type 'String'");
    expect(bind('email')).toBeNull();
  });

  it('can be nested', () => {
    const { rows } = insert('insert_author(objects: $rows) { affected_rows }', {
      declare,
      variables: { rows: [{ name: 'a', articles: { data: [{ title: 't' }] } }] },
    });
    expect(rows.rows[0]?.after[0]?.rows.rows[0]?.values.get('title')?.value).toMatchObject({
      kind: 'variable',
      path: [0, 'articles', 'data', 0, 'title'],
    });
  });
});

describe('rows of related tables', () => {
  it('are inserted before the row that refers to them, and after the row that they refer to', () => {
    const { rows } = insert(`insert_article(objects: {
      title: "t",
      author: { data: { name: "a", articles: { data: [{ title: "u" }, { title: "v" }] }, detail: { data: { phone: "1" } } } }
    }) { affected_rows }`);
    const [row] = rows.rows;
    expect(row?.after).toEqual([]);
    const [author] = row?.before ?? [];
    expect(author).toMatchObject({ kind: 'object', name: 'author', columns: [{ local: 'author_id', remote: 'id' }] });
    expect(author?.rows.table.name).toBe('author');
    expect(rows.columns.map(({ name }) => name)).toEqual(['title']);
    const after = author?.rows.rows[0]?.after ?? [];
    expect(after).toMatchObject([
      { kind: 'array', name: 'articles', columns: [{ local: 'id', remote: 'author_id' }] },
      { kind: 'object', name: 'detail', columns: [{ local: 'id', remote: 'author_id' }] },
    ]);
    expect(after.map(({ rows: { rows: inner } }) => inner.length)).toEqual([2, 1]);
  });

  it('are skipped if empty', () => {
    const [row] = insert('insert_author(objects: {name: "a", detail: null, articles: {data: []}}) { affected_rows }').rows.rows;
    expect(row).toMatchObject({ before: [], after: [] });
  });

  it('need the permission of their own table', () => {
    const { rows } = insert('insert_author(objects: {name: "a", articles: {data: {title: "t"}}}) { affected_rows }', { role: 'writer' });
    const nested = rows.rows[0]?.after[0]?.rows;
    expect(nested?.check).toEqual(columnIs('views', 5));
    expect(nested?.rows[0]?.values.get('editor_id')).toBe(SESSION_USER);
    expect(refusal('insert_author(objects: {name: "a", detail: {data: {}}}) { affected_rows }', { role: 'writer' })).toBe(
      "$.selectionSet.insert_author.args.objects[0].detail: field 'detail' not found in type: 'author_insert_input'",
    );
  });

  it('do not fill a column with a preset', () => {
    const { rows } = insert('insert_article(objects: {title: "t", editor: {data: {name: "a"}}}) { affected_rows }', { role: 'writer' });
    expect(rows.rows[0]?.before).toMatchObject([{ name: 'editor', columns: [] }]);
    expect(rows.rows[0]?.values.get('editor_id')).toBe(SESSION_USER);
  });

  it.each([
    [
      'insert_article(objects: [{title: "t"}, {title: "t", author_id: 1, author: {data: {name: "a"}}}])',
      '$.selectionSet.insert_article.args.objects[1].author: cannot insert object relationship "author" as "author_id" column values are already determined',
    ],
    [
      'insert_article(objects: {title: "t", author: {data: {name: "a"}}, writer: {data: {name: "b"}}})',
      '$.selectionSet.insert_article.args.objects[0].writer: cannot insert object relationship "writer" as "author_id" column values are already determined',
    ],
    [
      'insert_author(objects: {name: "a", articles: {data: [{title: "t", author: {data: {name: "b"}}}]}})',
      '$.selectionSet.insert_author.args.objects[0].articles.data[0].author: cannot insert object relationship "author" as "author_id" column values are already determined',
    ],
    [
      'insert_author(objects: {name: "a", articles: {data: [{title: "t", author_id: 3}]}})',
      '$.selectionSet.insert_author.args.objects[0].articles.data[0]: cannot insert "author_id" columns as their values are already being determined by parent insert',
    ],
    [
      'insert_author(objects: {name: "a", detail: {data: {author_id: 3}}})',
      '$.selectionSet.insert_author.args.objects[0].detail.data: cannot insert "author_id" columns as their values are already being determined by parent insert',
    ],
    [
      'insert_author(objects: {name: "a", articles: {data: null}})',
      '$.selectionSet.insert_author.args.objects[0].articles.data: expected a list, but found null',
    ],
    [
      'insert_author(objects: {name: "a", articles: {}})',
      "$.selectionSet.insert_author.args.objects[0].articles.data: missing required field 'data'",
    ],
  ])('%s is rejected', (field, message) => {
    expect(refusal(`${field} { affected_rows }`)).toBe(message);
  });
});

describe('on_conflict', () => {
  const clause = (text: string, how: Parameters<typeof insert>[1] = {}) =>
    insert(`insert_author(objects: {name: "a"}, on_conflict: ${text}) { affected_rows }`, how).rows.onConflict;

  it('names a constraint and the columns to update', () => {
    expect(clause('{constraint: author_name_key}')).toEqual({ constraint: 'author_name_key', key: ['name', 'email'], update: null });
    expect(clause('{constraint: author_pkey, update_columns: [], where: {id: {_eq: 1}}}')).toEqual({
      constraint: 'author_pkey',
      key: ['id'],
      update: null,
    });
    expect(clause('{constraint: author_pkey, update_columns: [name, email, name]}')).toMatchObject({
      constraint: 'author_pkey',
      update: { columns: ['name', 'email'], where: { kind: 'constant', value: true }, check: null },
    });
    expect(clause('null')).toBeNull();
  });

  it('applies the update permission', () => {
    const { update } = clause('{constraint: author_pkey, update_columns: name, where: {name: {_eq: "b"}}}', { role: 'writer' }) ?? {};
    expect(update).toMatchObject({
      columns: ['name'],
      presets: new Map([['greeting', GREETING]]),
      where: { kind: 'guarded', guard: columnIs('id', 2), item: { left: { column: 'name' } } },
      check: columnIs('id', 3),
    });
  });

  it('is allowed at every level', () => {
    const { rows } = insert(
      'insert_article(objects: {title: "t", author: {data: {name: "a"}, on_conflict: {constraint: author_pkey, update_columns: name}}}) { affected_rows }',
    );
    expect(rows.onConflict).toBeNull();
    expect(rows.rows[0]?.before[0]?.rows.onConflict).toMatchObject({ constraint: 'author_pkey', update: { columns: ['name'] } });
  });

  it('reads its columns from a variable, whose value becomes a constraint', () => {
    const how = { declare: '$c: [author_update_column!]!', variables: { c: ['name'] } };
    expect(clause('{constraint: author_pkey, update_columns: $c}', how)).toMatchObject({ update: { columns: ['name'] } });
  });

  it.each([
    [
      '{constraint: no_name}',
      ".constraint: expected one of the values ['author_name_key', 'author_pkey'] for type 'author_constraint', but found 'no_name'",
    ],
    ['{constraint: "author_pkey"}', ".constraint: expected an enum value for type 'author_constraint', but found a string"],
    ['{}', ".constraint: missing required field 'constraint'"],
    ['{constraint: author_pkey, update_columns: null}', '.update_columns: expected a list, but found null'],
    [
      '{constraint: author_pkey, update_columns: [serial]}',
      ".update_columns[0]: expected one of the values ['data', 'email', 'greeting', 'id', 'mood', 'name', 'notes', 'rating', 'tags'] for type 'author_update_column', but found 'serial'",
    ],
    ['{constraint: author_pkey, action: update}', ".action: field 'action' not found in type: 'author_on_conflict'"],
  ])('%s is rejected', (text, message) => {
    expect(failure(() => clause(text))).toBe(`$.selectionSet.insert_author.args.on_conflict${message}`);
  });

  it('has a placeholder instead of columns for roles that may not update', () => {
    const run = () =>
      insert(
        'insert_article(objects: {title: "t"}, on_conflict: {constraint: article_pkey, update_columns: [_PLACEHOLDER]}) { affected_rows }',
        {
          role: 'writer',
        },
      );
    expect(failure(run)).toBe('$.selectionSet.insert_article.args.on_conflict.update_columns[0]: erroneous column name');
  });
});
