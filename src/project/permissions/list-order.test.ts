import { expect, it } from 'vitest';
import { fieldOrderOf } from './list-order.ts';

it('ends for fragments that spread themselves', () => {
  const query = '{ user { ...A } } fragment A on user { friends(order_by: {id: asc}) { ...B } } fragment B on user { best { ...A } }';
  const friends = fieldOrderOf(query, {}).fields.get('user')?.fields.get('friends');
  expect(friends).toMatchObject({ isOrdered: true });
  expect(friends?.fields.get('best')?.fields.size).toBe(0);
});

it('has no fields for fragments that repeat each other without end', () => {
  const fragments = Array.from({ length: 40 }, (_, i) => `fragment F${i} on user { a: x { ...F${i + 1} } b: x { ...F${i + 1} } }`);
  expect(fieldOrderOf(`{ user { ...F0 } } ${fragments.join(' ')} fragment F40 on user { id }`, {}).fields.size).toBe(0);
});
