import { expect, it } from 'vitest';
import type { QueryTagsFormat } from '../metadata/query-tags.ts';
import type { CachedOperation } from './operation-cache.ts';
import { tagsOfRequest } from './query-tags.ts';

const QUERY = 'query Mine { item { id } }';
const operation = { prepared: { kind: 'query', name: 'Mine' }, plans: [], counts: null } as unknown as CachedOperation;
const settings = (format: QueryTagsFormat, omitRequestId = true) => new Map([['default', { disabled: false, format, omitRequestId }]]);
const tags = (format: QueryTagsFormat, omitRequestId = true, id = 'r1') =>
  tagsOfRequest(settings(format, omitRequestId), operation, { query: QUERY, operationName: null }, id)('default');

it.each<[QueryTagsFormat, string, RegExp]>([
  ['standard', 'after', /^ \/\* application=svc-graphql,operation_name=Mine,parameterized_query_hash=[0-9a-f]{40} \*\/$/],
  ['standard_prepended', 'before', /^\/\* application=svc-graphql,operation_name=Mine,parameterized_query_hash=[0-9a-f]{40} \*\/ $/],
  ['sqlcommenter', 'after', /^ \/\*application='svc-graphql',operation_name='Mine',parameterized_query_hash='[0-9a-f]{40}'\*\/$/],
])('prints query tags in the format %s', (format, where, form) => {
  const made = tags(format);
  expect(made?.[where === 'after' ? 'after' : 'before']).toMatch(form);
  expect(made?.[where === 'after' ? 'before' : 'after']).toBe('');
  expect(made?.isUnique).toBe(false);
  // Cached.
  expect(tags(format)).toBe(made);
});

it('escapes request ids that would end the comment', () => {
  for (const id of ['*/ drop table item --', "x'*/", '?', '$1', '%2A/', '/*+ hint', "a'b~(c)!"]) {
    for (const format of ['standard', 'standard_prepended', 'sqlcommenter'] as const) {
      const made = tags(format, false, id);
      const comment = `${made?.before}${made?.after}`.trim();
      expect(comment.indexOf('*/')).toBe(comment.length - 2);
      expect(comment.lastIndexOf('/*')).toBe(0);
      expect(comment).not.toMatch(/[?$!]/);
      expect((comment.match(/'/g) ?? []).length).toBe(format === 'sqlcommenter' ? 8 : 0);
      expect(decodeURIComponent(comment)).toContain(id);
      expect(made?.isUnique).toBe(true);
    }
  }
});

it('returns no tags for a source without query tags', () => {
  expect(tagsOfRequest(settings('standard'), operation, { query: QUERY, operationName: null }, '')('other')).toBeUndefined();
});
