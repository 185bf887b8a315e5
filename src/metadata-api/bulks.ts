/** Kinds of bulks, which run several operations in one request. */
import { DEFAULT_SOURCE_KIND } from '../metadata/source.ts';
import type { Json } from '../util/json.ts';
import type { Documentation } from './operation.ts';
import { type OperationErrors, refused } from './operation-error.ts';
import type { BulkMode } from './request.ts';

export interface Bulk {
  readonly type: string;
  readonly mode: BulkMode;
  /** Errors of the bulk itself. Those of the elements are reported at their paths. */
  readonly errors: OperationErrors;
  readonly documentation: Documentation;
}

/** @param example elements that the endpoint supports */
function bulk(example: Json): Bulk {
  const summary =
    'Runs operations one after another, and returns the list of their answers. The first failure undoes all changes of the metadata.';
  return { type: 'bulk', mode: 'stop', errors: [], documentation: { summary, example } };
}

const track = (table: string): Json => ({ type: `${DEFAULT_SOURCE_KIND}_track_table`, args: { table } });

/** On `/v1/metadata`. */
export const METADATA_BULK: Bulk = bulk([track('author'), track('article')]);

/** On `/v2/query` and `/v1/query`. */
export const QUERY_BULK: Bulk = bulk([
  { type: 'run_sql', args: { sql: 'update article set is_published = true where id = 1' } },
  { type: 'select', args: { table: 'article', columns: ['id', 'is_published'] } },
]);

export const BULK_KEEP_GOING: Bulk = {
  type: 'bulk_keep_going',
  mode: 'keep-going',
  errors: [],
  documentation: {
    summary: 'Runs operations one after another and independently: the error of a failed operation is its element of the answer.',
    example: [track('author'), track('article')],
  },
};

export const BULK_ATOMIC: Bulk = {
  type: 'bulk_atomic',
  mode: 'atomic',
  errors: [
    refused('not-supported', 'an element does not create or drop a relationship'),
    refused('bad-request', 'objects would be inconsistent after all changes; `internal` has the records'),
  ],
  documentation: {
    summary: 'Creates and drops several relationships, and checks consistency only after all of the changes.',
    example: [
      { type: `${DEFAULT_SOURCE_KIND}_drop_relationship`, args: { table: 'article', relationship: 'author' } },
      {
        type: `${DEFAULT_SOURCE_KIND}_create_object_relationship`,
        args: { table: 'article', name: 'writer', using: { foreign_key_constraint_on: 'author_id' } },
      },
    ],
  },
};

export const CONCURRENT_BULK: Bulk = {
  type: 'concurrent_bulk',
  mode: 'concurrent',
  errors: [refused('not-supported', 'an element is not read-only')],
  documentation: {
    summary: 'Runs read-only operations at the same time, and returns the list of their answers.',
    example: [
      { type: 'run_sql', args: { sql: 'select count(*) from author', read_only: true } },
      { type: 'count', args: { table: 'article' } },
    ],
  },
};

/** Returns the modes of bulks by type. */
export function bulkModes(bulks: readonly Bulk[]): ReadonlyMap<string, BulkMode> {
  return new Map(bulks.map(({ type, mode }) => [type, mode]));
}
