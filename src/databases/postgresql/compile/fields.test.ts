import { expect, test } from 'vitest';
import { field, rows, table, text } from '../../../../test/support/ir.ts';
import { compiler } from './compiler.ts';

test('prints values of enum tables in upper case if the naming convention requires it', () => {
  const mood = { ...field('mood', text), upperCase: true } as const;
  const query = rows(table('author'), [mood, field('name', text)]);
  const { text: statement } = compiler({ stringifyNumericTypes: false }).select([{ alias: 'x', query }]);
  expect(statement).toContain('upper("t1"."mood") as "mood"');
  expect(statement).toContain('"t1"."name" as "name"');
});
