import type { TableMetadata } from './table.ts';
import type { Json } from '../util/json.ts';

/** Decoded tables by their JSON object, which is never part of two documents. */
export type DecodedTables = WeakMap<object, TableMetadata>;

/** Encoded tables by the table object. */
export type EncodedTables = WeakMap<TableMetadata, Json>;
