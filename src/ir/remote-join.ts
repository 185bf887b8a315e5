/**
 * Joins to what another source or server answers. In the place of such a field the answer of the parent holds a
 * **hole**, a JSON array of a name that no data can contain and the values of the key (`execute/holes.ts`).
 */
import type { CatalogType } from '../catalog/catalog.ts';
import type { RemoteField } from './remote.ts';
import type { AggregateQuery, RowsQuery } from './select.ts';

export type RemoteJoin = JoinToSource | JoinToRemoteSchema;

interface AnyJoin {
  /** What stands for the field where a part of the key is null: nothing is asked then. `ask`: the target is asked all the same. */
  readonly withoutKey: 'null' | '[]' | 'ask';
}

/** Rows of a table, as the role sees it, whose columns equal the key. */
export interface JoinToSource extends AnyJoin {
  readonly kind: 'source';
  readonly source: string;
  readonly query: RowsQuery | AggregateQuery;
  /** The key, part by part; its texts are cast to these types. */
  readonly columns: readonly { readonly name: string; readonly type: CatalogType }[];
  /** At most one row has a key. */
  readonly unique: boolean;
}

/** A field of another server, at the end of a path of fields. */
export interface JoinToRemoteSchema extends AnyJoin {
  readonly kind: 'remote';
  readonly remote: string;
  /** The first field of the path; the others are in its selection. */
  readonly field: RemoteField;
  /** Response keys from `field` on to the field whose value is the answer; empty: its own. */
  readonly answer: readonly string[];
  /** One call with a list of keys in place of an alias per key; absent: aliases. */
  readonly batch?: RemoteBatch;
}

/** The keys travel as a list in one argument, and rows of the answer are told apart by a field of theirs. */
export interface RemoteBatch {
  /** The server's name of the field of the answer's rows that equals the key; a `hidden` key of their selection. */
  readonly matchBy: string;
  /** All rows of a key, or the first. */
  readonly rows: 'all' | 'first';
}
