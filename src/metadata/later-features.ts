import type { QualifiedName } from '../catalog/catalog.ts';
import type { Json } from '../util/json.ts';
import type { Metadata } from './metadata.ts';

/** A part of the document that is kept but has no effect, because its feature does not exist yet. */
export interface LaterFeature {
  /** The key in the document: `remote_schemas`, `event_triggers`. */
  readonly section: string;
  readonly definition: Json;
  /** Set when it belongs to a table. */
  readonly source?: string;
  readonly table?: QualifiedName;
}

/** Everything that must be reported as inconsistent (`not supported yet`), so that nothing is ineffective in silence. */
export function laterFeatures(metadata: Metadata): readonly LaterFeature[] {
  const found: LaterFeature[] = [];
  for (const [section, definition] of metadata.other) found.push({ section, definition });
  for (const source of metadata.sources.values()) {
    for (const { table, other } of source.tables.values()) {
      for (const [section, definition] of other) found.push({ section, definition, source: source.name, table });
    }
  }
  return found;
}
