/** Several operations in one request: each is how the elements run together, and its documentation. */
import { DEFAULT_KIND } from '../metadata/source.ts';
import type { Json } from '../util/json.ts';
import type { Documentation } from './operation.ts';
import { type OperationErrors, refused } from './operation-error.ts';
import type { BulkMode } from './request.ts';

export interface Bulk {
  readonly type: string;
  readonly mode: BulkMode;
  /** Beside those of the elements, which are reported at the element's place. */
  readonly errors: OperationErrors;
  readonly documentation: Documentation;
}

/** @param example elements of the endpoint */
function bulk(example: Json): Bulk {
  const summary =
    'Runs operations one after another and gives the list of their answers; the first failure takes all changes of the metadata back.';
  return { type: 'bulk', mode: 'stop', errors: [], documentation: { summary, example } };
}

const track = (table: string): Json => ({ type: `${DEFAULT_KIND}_track_table`, args: { table } });

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
    summary: 'Runs operations one after another, each for itself; the error of one that fails is its element of the answer.',
    example: [track('author'), track('article')],
  },
};

export const BULK_ATOMIC: Bulk = {
  type: 'bulk_atomic',
  mode: 'atomic',
  errors: [
    refused('not-supported', 'an element is not one that creates or drops a relationship'),
    refused('bad-request', 'something would be inconsistent after all of the changes; `internal` holds the records'),
  ],
  documentation: {
    summary: 'Creates and drops relationships at once: what is inconsistent in between does not matter.',
    example: [
      { type: `${DEFAULT_KIND}_drop_relationship`, args: { table: 'article', relationship: 'author' } },
      {
        type: `${DEFAULT_KIND}_create_object_relationship`,
        args: { table: 'article', name: 'writer', using: { foreign_key_constraint_on: 'author_id' } },
      },
    ],
  },
};

export const CONCURRENT_BULK: Bulk = {
  type: 'concurrent_bulk',
  mode: 'concurrent',
  errors: [refused('not-supported', 'an element is not one that only reads')],
  documentation: {
    summary: 'Runs operations that only read at the same time and gives the list of their answers.',
    example: [
      { type: 'run_sql', args: { sql: 'select count(*) from author', read_only: true } },
      { type: 'count', args: { table: 'article' } },
    ],
  },
};

/** How the elements of each bulk are run, by its type. */
export function bulkModes(bulks: readonly Bulk[]): ReadonlyMap<string, BulkMode> {
  return new Map(bulks.map(({ type, mode }) => [type, mode]));
}
