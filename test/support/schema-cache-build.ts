/** Schema caches built from metadata and synthetic catalogs, for tests of the stages. */
import { catalog, fakeBackend, named, table } from './fake-backend.ts';
import { type Catalog, nameKey } from '../../src/catalog/catalog.ts';
import { decodeDocument } from '../../src/metadata/document.ts';
import { kindsOf } from '../../src/metadata/kinds.ts';
import { type Metadata, EMPTY_METADATA } from '../../src/metadata/metadata.ts';
import type { Json } from '../../src/util/json.ts';
import { ROOT } from '../../src/util/path.ts';
import { type Build, type SourceInput, buildSchemaCache } from '../../src/schema-cache/build.ts';
import type { SchemaCache, TableInfo } from '../../src/schema-cache/schema-cache.ts';

export const author = table('author', { columns: ['id int4!', 'name text', 'data jsonb'], key: ['id'] });
export const article = table('article', {
  columns: ['id int4!', 'title text', 'author_id int4!', 'editor_id int4'],
  key: ['id'],
  references: ['author_id -> author.id', 'editor_id -> author.id'],
});
export const address = table('address', {
  columns: ['author_id int4!', 'street text'],
  unique: [['author_id']],
  references: ['author_id -> author.id'],
});
export const color = table('color', { columns: ['value text!', 'comment text'], key: ['value'] });
export const shirt = table('shirt', { columns: ['id int4!', 'color text'], key: ['id'], references: ['color -> color.value'] });
export const all = catalog([author, article, address, color, shirt]);

export function decode(tables: readonly Json[], more: Record<string, Json> = {}, source: Record<string, Json> = {}): Metadata {
  const document: Json = { version: 3, sources: [{ name: 's', kind: 'fake', configuration: {}, tables, ...source }], ...more };
  return decodeDocument(document, ROOT, kindsOf([fakeBackend]), EMPTY_METADATA);
}

export function open(
  found: Catalog,
  enums: Readonly<Record<string, readonly { value: string; description: string | null }[]>> = {},
): SourceInput {
  return {
    kind: 'open',
    backend: fakeBackend,
    catalog: found,
    enumValues: new Map(Object.entries(enums).map(([name, values]) => [nameKey(named(name)), values])),
  };
}

export function buildOf(metadata: Metadata, input: SourceInput = open(all), previous?: Build): Build {
  const sources = new Map([...metadata.sources.keys()].map((name) => [name, input]));
  return buildSchemaCache({ metadata, sources, options: { defaultNamingConvention: 'svc-default' } }, previous);
}

export function cacheOf(tables: readonly Json[], found: Catalog = all): SchemaCache {
  return buildOf(decode(tables), open(found)).cache;
}

export function infoOf(cache: SchemaCache, name: string): TableInfo | undefined {
  return cache.sources.get('s')?.tables.get(nameKey(named(name)));
}

export const reasons = (cache: SchemaCache) => cache.inconsistencies.map(({ reason }) => reason.replace('Inconsistent object: ', ''));
