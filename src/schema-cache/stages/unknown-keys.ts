/**
 * Lists unknown keys of the document, so that nothing is silently ineffective. This covers objects that work without them; a permission,
 * relationship, computed field, function, allow-list entry, endpoint or role with an unknown key is inconsistent as a whole, because the
 * key may restrict it.
 */
import type { Metadata, SourceMetadata } from '../../metadata/metadata.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import { type UnknownPart, unknownParts } from '../../metadata/unknown-parts.ts';
import { Defect, inconsistent, type ObjectDescription } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency } from '../schema-cache.ts';
import { describeSource, describeTableExtra } from './describe.ts';
import { printTable, type StageSource } from './lookups.ts';
import { hasUnknownKeys, type WithUnknownKeys } from '../../metadata/unknown-keys.ts';

/** Record types for the entries of some keys. */
const TYPES: Readonly<Record<string, string>> = {
  cron_triggers: 'cron_trigger',
  native_queries: 'native_query',
  logical_models: 'logical_model',
  stored_procedures: 'stored_procedure',
};

function typeOf({ key, name }: UnknownPart): string {
  return name === key ? key : (TYPES[key] ?? key);
}

/** @param where path of the object with the key in the exported document: `sources.default` */
function problemAt({ key, problem }: UnknownPart, where: string): string {
  return `${problem} (at ${where === '' ? key : `${where}.${key}`})`;
}

/** Returns records for sources of unknown kinds, sections, sources and objects outside of sources. */
export function unknownSections(metadata: Metadata): readonly Inconsistency[] {
  const records: Inconsistency[] = [];
  const add = (object: WithUnknownKeys, where: string): void => {
    for (const part of unknownParts(object)) {
      const section = where === '' ? part.key : `${where}.${part.key}`;
      const type = typeOf(part);
      const description = { objectId: objectId.section(section, part.name), type, name: `${type} ${part.name}`, definition: part.json };
      records.push(inconsistent(description, problemAt(part, where)));
    }
  };
  for (const { name, problem } of metadata.unknownSources.values())
    records.push(inconsistent(describeSource(name), `${problem} (at sources.${name}.kind)`));
  add(metadata, '');
  for (const { where, object } of objectsOutsideSources(metadata)) add(object, where);
  for (const source of metadata.sources.values()) records.push(...unknownInSource(source));
  return records;
}

/** Objects outside of sources that work without their unknown keys. */
function* objectsOutsideSources(metadata: Metadata): Iterable<{ readonly where: string; readonly object: WithUnknownKeys }> {
  if (metadata.apiLimits !== null) yield { where: 'api_limits', object: metadata.apiLimits };
  if (metadata.openTelemetry !== null) yield { where: 'opentelemetry', object: metadata.openTelemetry };
  yield { where: 'network', object: metadata.network };
  for (const entry of metadata.network.tlsAllowlist.values()) yield { where: `network.tls_allowlist.${entry.host}`, object: entry };
  yield { where: 'graphql_schema_introspection', object: metadata.introspection };
  for (const collection of metadata.queryCollections.values()) yield { where: `query_collections.${collection.name}`, object: collection };
}

function* unknownInSource(source: SourceMetadata): Iterable<Inconsistency> {
  for (const { prefix, object } of settingsOf(source)) {
    for (const part of unknownParts(object)) {
      const type = typeOf(part);
      const id = objectId.sourceExtra(source.name, prefix + part.key, part.name);
      const description: ObjectDescription = {
        objectId: id,
        type,
        name: `${type} ${part.name} in source ${source.name}`,
        definition: { name: part.name, source: source.name, definition: part.json },
      };
      yield inconsistent(description, problemAt(part, `sources.${source.name}${prefix === '' ? '' : `.${prefix.slice(0, -1)}`}`));
    }
  }
}

/** Settings of a source: each is replaced as a whole, so each preserves its own keys. */
function settingsOf(source: SourceMetadata): readonly { readonly prefix: string; readonly object: WithUnknownKeys }[] {
  return [
    { prefix: '', object: source },
    { prefix: 'configuration.', object: source.configuration as WithUnknownKeys },
    { prefix: 'customization.', object: source.customization },
    { prefix: 'health_check.', object: source.healthCheck ?? {} },
    { prefix: 'query_tags.', object: source.queryTags ?? {} },
  ];
}

/** Returns records for a table and its configuration. */
export function* unknownInTable(source: StageSource, metadata: TableMetadata): Iterable<Inconsistency> {
  for (const { prefix, object } of [
    { prefix: '', object: metadata },
    { prefix: 'configuration.', object: metadata.configuration },
  ]) {
    for (const part of unknownParts(object)) {
      const key = prefix + part.key;
      const description = describeTableExtra(source, metadata.table, typeOf(part), key, part.name, part.json);
      yield inconsistent(description, `${part.problem} (at sources.${source.name}.tables.${printTable(source, metadata.table)}.${key})`);
    }
  }
}

/** @throws Defect if one of the objects has unknown keys */
export function rejectUnknownKeys(...objects: readonly WithUnknownKeys[]): void {
  const unknown = objects.filter(hasUnknownKeys).flatMap(unknownParts);
  if (unknown.length > 0) throw new Defect(unknown.map((part) => `${part.problem} (at ${part.key})`).join('; '));
}
