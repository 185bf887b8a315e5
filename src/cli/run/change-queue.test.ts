import { expect, it } from 'vitest';
import { changeQueue } from './change-queue.ts';

it('reports an error as resolved after a reaction of its kind only', async () => {
  const reports: string[] = [];
  const enqueue = changeQueue((message) => reports.push(message));
  void enqueue('metadata', async () => {
    throw new Error('invalid file');
  });
  void enqueue('migrations', async () => '');
  void enqueue('catalogs', async () => 'read again');
  await enqueue('migrations', async () => '');
  expect(reports).toEqual(['invalid file', 'read again']);
  for (let i = 0; i < 2; i++) await enqueue('metadata', async () => '');
  expect(reports.slice(2)).toEqual(['the previous error is resolved']);
});
