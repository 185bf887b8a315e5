/** Mutations that MariaDB answers differently from PostgreSQL, by title. */
import type { WriteDifference } from '../support/same-writes.ts';

export const DIFFERENCES: ReadonlyMap<string, WriteDifference> = new Map<string, WriteDifference>([
  [
    'delete: with rows that go along',
    {
      reason: 'rows are read before they are deleted: afterwards MariaDB knows nothing of them',
      answer: {
        data: { _insert_mark: { affected_rows: 1 }, _delete_book: { returning: [{ id: 3, marks: [{ label: 'p' }, { label: 'z' }] }] } },
      },
    },
  ],
  [
    'update: delete a string of an array',
    {
      reason: 'a key is one of an object',
      answer: {
        data: { _update_writer: { returning: [{ facts: ['zero', 'two', 3, { four: 4 }] }] }, a: { affected_rows: 1 } },
      },
    },
  ],
  [
    'update: delete an item of an object',
    {
      reason: 'an object has no items, so that nothing is deleted; PostgreSQL refuses',
      answer: { data: { _update_writer: { affected_rows: 1 } } },
    },
  ],
]);
