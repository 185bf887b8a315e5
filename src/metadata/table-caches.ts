import type { TableMetadata } from './table.ts';
import type { Json } from '../util/json.ts';

/** By the JSON of the table, which is no part of two documents. */
export type DecodedTables = WeakMap<object, TableMetadata>;

/** What tables are in the document, by the table itself. */
export type EncodedTables = WeakMap<TableMetadata, Json>;
