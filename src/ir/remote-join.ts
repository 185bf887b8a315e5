/**
 * Joins to rows of another source or fields of another server. The parent's answer has a **placeholder** in the place of such a field: a
 * JSON array of a name that no data can contain and the values of the key (`execute/placeholders.ts`).
 */
import type { CatalogType } from '../catalog/catalog.ts';
import type { RemoteField } from './remote.ts';
import type { AggregateQuery, RowsQuery } from './select.ts';

export type RemoteJoin = JoinToSource | JoinToRemoteSchema;

interface AnyJoin {
  /** Value of the field if a part of the key is null, in which case no request is made. `ask`: the request is made anyway. */
  readonly withoutKey: 'null' | '[]' | 'ask';
}

/** Rows of a table, as the role sees it, whose columns equal the key. */
export interface JoinToSource extends AnyJoin {
  readonly kind: 'source';
  readonly source: string;
  readonly query: RowsQuery | AggregateQuery;
  /** Columns of the key; its texts are cast to their types. */
  readonly columns: readonly { readonly name: string; readonly type: CatalogType }[];
  /** True if at most one row has a given key. */
  readonly unique: boolean;
}

/** A field of another server, at the end of a path of fields. */
export interface JoinToRemoteSchema extends AnyJoin {
  readonly kind: 'remote';
  readonly remote: string;
  /** First field of the path; the others are in its selection. */
  readonly field: RemoteField;
  /** Response keys from `field` to the field whose value is the answer; empty if that is `field` itself. */
  readonly answer: readonly string[];
  /** Requests a list of keys in one call; if absent, each key has an alias of its own. */
  readonly batch?: RemoteBatch;
}

/** Sends the keys as a list in one argument; a field of the returned rows assigns them to keys. */
export interface RemoteBatch {
  /** The server's name of the field of the returned rows that equals the key. The selection has it as a `hidden` key. */
  readonly matchBy: string;
  readonly rows: 'all' | 'first';
}
