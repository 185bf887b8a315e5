import { expect, test } from 'vitest';
import { SvcError } from '../errors/svc-error.ts';
import { runSync, runCooperatively } from '../util/cooperative.ts';
import { schemaDifference } from './schema-difference.ts';

const SDL = [
  'schema {',
  '  query: query_root',
  '}',
  '',
  '"what is for sale"',
  'type album {',
  '  "its name"',
  '  title: String!',
  '  tracks(',
  '    "how many"',
  '    limit: Int',
  '    offset: Int = 0',
  '  ): [track!]!',
  '}',
  '',
  'scalar numeric',
  '',
].join('\n');

test('lists members that are added, removed and changed, but not those of new types', () => {
  const after = SDL.replace('title: String!', 'title: String')
    .replace('offset: Int = 0', 'offset: Int = 1')
    .replace('scalar numeric', 'enum color {\n  red\n}');
  expect(runSync(schemaDifference(SDL, after))).toEqual({
    added: ['enum color'],
    removed: ['scalar numeric'],
    changed: [
      { before: 'album.title: String!', after: 'album.title: String' },
      { before: 'album.tracks(limit: Int, offset: Int = 0): [track!]!', after: 'album.tracks(limit: Int, offset: Int = 1): [track!]!' },
    ],
  });
  expect(runSync(schemaDifference(SDL, SDL.slice(0, -1)))).toEqual({ added: [], removed: [], changed: [] });
});

const large = (prefix: string): string => `type wide {\n${Array.from({ length: 20_000 }, (_, i) => `  ${prefix}${i}: Int\n`).join('')}}\n`;

test('compares large schemas in many small steps', () => {
  const work = schemaDifference(large('a'), large('b'));
  let steps = 0;
  while (work.next().done !== true) steps += 1;
  // 40,000 lines are read and 40,000 members compared.
  expect(steps).toBeGreaterThan(1000);
});

test('ends a comparison that is cancelled', async () => {
  const cancelled = new SvcError('timeout', 'too late');
  const comparing = runCooperatively(schemaDifference(large('a').repeat(20), large('b').repeat(20)), () => {
    throw cancelled;
  });
  await expect(comparing).rejects.toBe(cancelled);
});
