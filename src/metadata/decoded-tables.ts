/**
 * Tables of a document, decoded before the document is, in slices: nobody has to wait for a large
 * document, whose decoding is one piece of work, as the change is that it belongs to.
 */
import { nameKey } from '../catalog/catalog.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import { type Path, ROOT } from '../util/path.ts';
import type { Sliced } from '../util/sliced.ts';
import type { Kinds } from './kinds.ts';
import type { Metadata } from './metadata.ts';
import { shareUnchanged } from './share.ts';
import { DEFAULT_KIND } from './source.ts';
import { tableCodec } from './table.ts';
import type { DecodedTables } from './table-caches.ts';

/**
 * Decodes the tables of a document of version 3 and lets them share what they have in common with
 * the current ones. What is wrong is left to the decoding of the document, which says where it is.
 * @param path whose rules of decoding hold
 */
export function* decodeTables(document: Json, kinds: Kinds, current: Metadata, decoded: DecodedTables, path: Path = ROOT): Sliced<void> {
  const sources = isJsonObject(document) ? document['sources'] : undefined;
  if (!isJsonArray(sources)) return;
  for (const source of sources) {
    if (!isJsonObject(source)) return;
    const { name, kind = DEFAULT_KIND, tables } = source;
    const codecs = typeof kind === 'string' ? kinds.get(kind) : undefined;
    // One of an unknown kind may be among others.
    if (codecs === undefined) continue;
    if (!isJsonArray(tables)) return;
    const codec = tableCodec(codecs);
    const known = typeof name === 'string' ? current.sources.get(name)?.tables : undefined;
    for (const json of tables) {
      if (!isJsonObject(json)) return;
      try {
        const table = codec.decode(json, path);
        decoded.set(json, shareUnchanged(known?.get(nameKey(table.table)), table) ?? table);
      } catch {
        return;
      }
      yield;
    }
  }
}
