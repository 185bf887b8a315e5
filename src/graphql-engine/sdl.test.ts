import { buildSchema, lexicographicSortSchema, parse, printSchema, validateSchema } from 'graphql';
import { expect, test } from 'vitest';
import { SMALL_ROOTS } from '../../test/support/small-schema.ts';
import { printRoleSchema } from './sdl.ts';

test('the printed schema is valid and contains every type, field, argument, default and description', async () => {
  const text = await printRoleSchema(SMALL_ROOTS);
  const schema = buildSchema(text);
  expect(validateSchema(schema)).toEqual([]);
  expect(printSchema(lexicographicSortSchema(schema))).toBe(printSchema(schema));
  expect(text).toContain('union any = article | author\n');
  expect(text).toContain('scalar uuid\n');
  expect(text).toContain('  near(args: near_input!, first: Int! = 1, loose: Float): author\n');
  expect(text).toContain('  unit: String! = "m"\n');
  expect(schema.getType('author')?.description).toBe('columns of """author"""');
  expect(schema.getSubscriptionType()?.name).toBe('subscription_root');
  expect(text).not.toContain('__');
});

test('omits query fields and adds directives to types', async () => {
  const text = await printRoleSchema(SMALL_ROOTS, {
    withoutQueryFields: new Set(['notice', 'any']),
    typeDirectives: (type) => (type.name === 'author' ? ' @key(fields: "id")' : ''),
  });
  expect(() => parse(text)).not.toThrow();
  expect(text).toContain('type author @key(fields: "id") {');
  expect(text).not.toContain('notice');
});
