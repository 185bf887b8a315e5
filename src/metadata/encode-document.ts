/** Encodes the document cooperatively, yielding after each table, so that a large one does not block other requests. */
import type { Json } from '../util/json.ts';
import type { Cooperative } from '../util/cooperative.ts';
import type { Kinds } from './kinds.ts';
import { type Metadata, metadataCodec } from './metadata.ts';
import { tableCodec } from './table.ts';
import type { EncodedTables } from './table-caches.ts';

/** @returns the same as `metadataCodec` */
export function* encodeDocument(metadata: Metadata, kinds: Kinds): Cooperative<Json> {
  const encoded: EncodedTables = new WeakMap();
  for (const { kind, tables } of metadata.sources.values()) {
    const codecs = kinds.get(kind);
    if (codecs === undefined) continue;
    const codec = tableCodec(codecs);
    for (const table of tables.values()) {
      encoded.set(table, codec.encode(table));
      yield;
    }
  }
  return metadataCodec(kinds, undefined, encoded).encode(metadata);
}
