/** The document, with a pause after each table: nobody has to wait for all of a large one. */
import type { Json } from '../util/json.ts';
import type { Sliced } from '../util/sliced.ts';
import type { Kinds } from './kinds.ts';
import { type Metadata, metadataCodec } from './metadata.ts';
import { tableCodec } from './table.ts';
import type { EncodedTables } from './table-caches.ts';

/** @returns what `metadataCodec` makes of the metadata */
export function* encodeDocument(metadata: Metadata, kinds: Kinds): Sliced<Json> {
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
