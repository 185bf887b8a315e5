/**
 * Decodes the tables of a document before the document itself, cooperatively: decoding a document, like the change that it belongs to, is
 * one uninterrupted piece of work, and a large one would block other requests.
 */
import { nameKey } from '../catalog/catalog.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import { type Path, ROOT } from '../util/path.ts';
import type { Cooperative } from '../util/cooperative.ts';
import type { Kinds } from './kinds.ts';
import type { Metadata } from './metadata.ts';
import { shareUnchanged } from './share.ts';
import { DEFAULT_SOURCE_KIND } from './source.ts';
import { tableCodec } from './table.ts';
import type { DecodedTables } from './table-caches.ts';

/**
 * Decodes the tables of a document of version 3 and shares equal parts with the current tables. Errors are left to the decoding of the
 * document, which reports their path.
 * @param path has the rules of decoding
 */
export function* decodeTables(
  document: Json,
  kinds: Kinds,
  current: Metadata,
  decoded: DecodedTables,
  path: Path = ROOT,
): Cooperative<void> {
  const sources = isJsonObject(document) ? document['sources'] : undefined;
  if (!isJsonArray(sources)) return;
  for (const source of sources) {
    if (!isJsonObject(source)) return;
    const { name, kind = DEFAULT_SOURCE_KIND, tables } = source;
    const codecs = typeof kind === 'string' ? kinds.get(kind) : undefined;
    // A source of an unknown kind may be between others.
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
