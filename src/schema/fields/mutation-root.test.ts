import { buildSchema, printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { writingCache } from '../../../test/support/writing-fixture.ts';
import { failure, translate } from '../../../test/support/translate.ts';
import type { SchemaCache } from '../../schema-cache/schema-cache.ts';
import { printRoleSchema } from '../../graphql-engine/sdl.ts';
import { namedTypeOf, type ObjectType, type OutputField, printType } from '../../graphql-engine/types.ts';
import { type FieldOptions, DEFAULT_BUILD_OPTIONS, type SchemaVariant } from './options.ts';
import { rootTypes } from './root-types.ts';
import { SchemaContext } from './schema-context.ts';

const cache = writingCache();

function mutationRoot(
  role: string,
  variant: SchemaVariant = 'frontend',
  of: SchemaCache = cache,
  options: Partial<FieldOptions> = {},
): ObjectType | null {
  return rootTypes(new SchemaContext(of, { ...DEFAULT_BUILD_OPTIONS, ...options }), role, variant).mutation;
}

function names(...how: Parameters<typeof mutationRoot>): readonly string[] {
  return [
    ...(mutationRoot(...how)
      ?.fields()
      .keys() ?? []),
  ].sort();
}

function root(role: string, name: string, ...rest: [SchemaVariant?]): OutputField {
  const field = mutationRoot(role, ...rest)?.field?.(name);
  if (field === undefined) throw new Error(`${name} is not there`);
  return field;
}

describe('the mutation root', () => {
  it('has every root of every writable table for an administrator', () => {
    expect(names('admin').filter((name) => name.includes('author'))).toEqual([
      'delete_author',
      'delete_author_by_pk',
      'insert_author',
      'insert_author_one',
      'update_author',
      'update_author_by_pk',
      'update_author_many',
    ]);
    expect(names('admin').filter((name) => name.includes('log'))).toEqual(['insert_log', 'insert_log_one']);
    expect(mutationRoot('admin')).toMatchObject({ name: 'mutation_root', description: 'mutation root' });
  });

  it('has the roots that the permissions of a role allow', () => {
    expect(names('writer')).toEqual([
      'delete_author',
      'delete_author_by_pk',
      'insert_article',
      'insert_article_one',
      'insert_author',
      'insert_author_one',
      'reset_views',
      'update_author',
      'update_author_by_pk',
      'update_author_many',
    ]);
    // The role may not select the key.
    expect(names('reader')).toEqual(['delete_author', 'insert_author', 'insert_author_one', 'update_author', 'update_author_many']);
    expect(names('blind')).toEqual(['delete_author', 'insert_author', 'update_author', 'update_author_many']);
    expect(mutationRoot('nobody')).toBeNull();
  });

  it('applies backend-only permissions in the backend variant only', () => {
    expect(names('trusted')).toEqual(['insert_article']);
    expect(names('trusted', 'backend')).toEqual(['delete_author', 'insert_article', 'insert_author']);
    const query = 'mutation { insert_article(objects: {title: "a", author: {data: {name: "b"}}}) { affected_rows } }';
    expect(failure(() => translate(cache, query, { role: 'trusted' }))).toBe(
      "$.selectionSet.insert_article.args.objects[0].author: field 'author' not found in type: 'article_insert_input'",
    );
    expect(translate(cache, query, { role: 'trusted', variant: 'backend' }).roots).toHaveLength(1);
  });

  it('omits the update_many roots if configured so', () => {
    expect(names('reader', 'frontend', cache, { hideUpdateManyFields: true })).not.toContain('update_author_many');
  });

  it('has the roots of a source with a namespace in a type of the variant', () => {
    const named = writingCache({ customization: { rootFields: { namespace: 'app', prefix: 'x_' }, typeNames: {} } });
    expect(names('writer', 'frontend', named)).toEqual(['app']);
    const inner = (variant: SchemaVariant) => {
      const field = mutationRoot('trusted', variant, named)?.field?.('app');
      const type = field === undefined ? undefined : namedTypeOf(field.type);
      return type?.kind === 'object' ? { name: type.name, fields: [...type.fields().keys()].sort() } : null;
    };
    expect(inner('frontend')).toEqual({ name: 'app_mutation_frontend', fields: ['x_insert_article'] });
    expect(inner('backend')).toEqual({
      name: 'app_mutation_backend',
      fields: ['x_delete_author', 'x_insert_article', 'x_insert_author'],
    });
    expect(mutationRoot('nobody', 'frontend', named)).toBeNull();
    const operation = translate(named, 'mutation { app { x_delete_author(where: {}) { affected_rows } } }', { role: 'writer' });
    expect(operation.roots).toMatchObject([{ source: 'default', root: { mutation: { kind: 'delete' } } }]);
  });

  it('has returning only for roles that may select, and only applicable operators and conflicts', () => {
    const fields = (role: string) => {
      const type = namedTypeOf(root(role, 'insert_author').type);
      return type.kind === 'object' ? [...type.fields().keys()] : [];
    };
    expect(fields('writer')).toEqual(['affected_rows', 'returning']);
    expect(fields('blind')).toEqual(['affected_rows']);
    expect([...root('writer', 'update_author').args.keys()]).toEqual([
      'where',
      '_set',
      '_inc',
      '_append',
      '_prepend',
      '_delete_key',
      '_delete_elem',
      '_delete_at_path',
    ]);
    expect([...root('reader', 'update_author').args.keys()]).toEqual(['where', '_set']);
    expect([...root('blind', 'update_author').args.keys()]).toEqual(['where']);
    expect([...root('admin', 'insert_log').args.keys()]).toEqual(['objects']);
    expect(printType(root('writer', 'update_author_many').type)).toBe('[author_mutation_response]');
    expect(printType(root('writer', 'update_author_by_pk').type)).toBe('author');
  });

  it('has the expected SDL', async () => {
    const sdl = async (role: string, of: SchemaCache) => {
      const roots = rootTypes(new SchemaContext(of, DEFAULT_BUILD_OPTIONS), role, 'frontend');
      return printSchema(buildSchema(await printRoleSchema({ ...roots, subscription: null })));
    };
    await expect(await sdl('writer', cache)).toMatchFileSnapshot('__snapshots__/writing-writer.graphql.txt');
    await expect(await sdl('blind', writingCache({ namingConvention: 'graphql-default' }))).toMatchFileSnapshot(
      '__snapshots__/writing-blind-graphql-default.graphql.txt',
    );
  });
});

describe('deletes', () => {
  it('combine the filter of the permission and the condition', () => {
    const operation = translate(cache, 'mutation { delete_author(where: {name: {_eq: "x"}}) { affected_rows } }', { role: 'writer' });
    expect(operation.roots[0]?.root).toMatchObject({
      alias: '0',
      mutation: {
        kind: 'delete',
        table: { name: 'author' },
        where: { kind: 'guarded', guard: { left: { column: 'id' } }, item: { left: { column: 'name' } } },
        output: { kind: 'response', fields: [{ kind: 'affected-rows', alias: 'affected_rows' }] },
        contained: false,
      },
    });
  });

  it('find a row by its key', () => {
    const operation = translate(cache, 'mutation ($i: Int!) { delete_author_by_pk(id: $i) { name } }', {
      role: 'writer',
      variables: { i: 1 },
    });
    expect(operation.roots[0]?.root).toMatchObject({
      mutation: {
        where: { guard: { left: { column: 'id' } }, item: { argument: { operand: { value: { kind: 'variable', name: 'i' } } } } },
        output: { kind: 'row', fields: [{ alias: 'name' }] },
      },
    });
    expect(operation.constraints).toEqual([]);
  });

  it.each([
    [
      'delete_author(where: null)',
      "$.selectionSet.delete_author.args.where: expected an object for type 'author_bool_exp', but found null",
    ],
    ['delete_author', "$.selectionSet.delete_author.args.where: missing required field 'where'"],
    [
      'delete_author(where: {email: {_eq: "x"}})',
      "$.selectionSet.delete_author.args.where.email: field 'email' not found in type: 'author_bool_exp'",
    ],
  ])('%s is rejected', (field, message) => {
    expect(failure(() => translate(cache, `mutation { ${field} { affected_rows } }`, { role: 'writer' }))).toBe(message);
  });

  it('have no columns in conditions on a table that the role may not select from', () => {
    const run = (where: string) =>
      translate(cache, `mutation { delete_author(where: ${where}) { affected_rows } }`, { role: 'blind' }).roots[0]?.root;
    expect(run('{_not: {_or: []}}')).toMatchObject({ mutation: { where: { kind: 'constant', value: true } } });
    for (const field of ['id', 'articles', 'articles_aggregate']) {
      expect(failure(() => run(`{${field}: {}}`))).toContain(`field '${field}' not found in type: 'author_bool_exp'`);
    }
  });
});

describe('functions that write', () => {
  it('are selects among the mutations, with the select permission', () => {
    const query = 'mutation { reset_views(args: {to: 0}, limit: 3) { title } }';
    expect(translate(cache, query, { role: 'writer' }).roots[0]?.root).toMatchObject({
      query: {
        kind: 'rows',
        shape: 'list',
        from: { kind: 'function', call: { function: { name: 'reset_views' }, volatile: true } },
        rows: { limit: 3 },
      },
    });
    expect(root('writer', 'reset_views').description).toBe('execute VOLATILE function "reset_views" which returns "article"');
    expect(failure(() => translate(cache, query.replace('mutation', 'query'), { role: 'writer' }))).toBe(
      "$.selectionSet.reset_views: field 'reset_views' not found in type: 'query_root'",
    );
  });

  it('need an explicit permission', () => {
    expect(names('admin')).toContain('reset_views');
    expect(names('trusted', 'backend')).not.toContain('reset_views');
  });
});
