/**
 * Keys of the document that have no effect: each is listed, so that nothing is ineffective in
 * silence. Here are those of objects that work without them; a permission, relationship, computed
 * field, function, allow-list entry, endpoint or role with such a key is inconsistent as a whole,
 * because the key may be what narrows it.
 */
import type { Metadata, SourceMetadata } from '../../metadata/metadata.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import { type UnknownPart, unknownParts } from '../../metadata/unknown-parts.ts';
import { Defect, inconsistent, type ObjectDescription } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency } from '../schema-cache.ts';
import { describeSource, describeTableExtra } from './describe.ts';
import { printTable, type StageSource } from './scope.ts';
import { hasUnknownKeys, type WithUnknownKeys } from '../../metadata/unknown-keys.ts';

/** The record type of the entries of a section. */
const TYPES: Readonly<Record<string, string>> = {
  cron_triggers: 'cron_trigger',
  native_queries: 'native_query',
  logical_models: 'logical_model',
  stored_procedures: 'stored_procedure',
};

function typeOf({ key, name }: UnknownPart): string {
  return name === key ? key : (TYPES[key] ?? key);
}

/** @param where of the object that keeps the key, as the exported document has it: `sources.default` */
function complaintOf({ key, complaint }: UnknownPart, where: string): string {
  return `${complaint} (at ${where === '' ? key : `${where}.${key}`})`;
}

/** Of sources of unknown kinds, sections, sources and objects that are in none. */
export function unknownSections(metadata: Metadata): readonly Inconsistency[] {
  const records: Inconsistency[] = [];
  const add = (keeper: WithUnknownKeys, where: string): void => {
    for (const part of unknownParts(keeper)) {
      const section = where === '' ? part.key : `${where}.${part.key}`;
      const type = typeOf(part);
      const object = { objectId: objectId.section(section, part.name), type, name: `${type} ${part.name}`, definition: part.json };
      records.push(inconsistent(object, complaintOf(part, where)));
    }
  };
  for (const { name, complaint } of metadata.unknownSources.values())
    records.push(inconsistent(describeSource(name), `${complaint} (at sources.${name}.kind)`));
  add(metadata, '');
  for (const { where, keeper } of sectionKeepers(metadata)) add(keeper, where);
  for (const source of metadata.sources.values()) records.push(...ofSource(source));
  return records;
}

/** Objects outside of sources that work without the keys that nobody knows. */
function* sectionKeepers(metadata: Metadata): Iterable<{ readonly where: string; readonly keeper: WithUnknownKeys }> {
  if (metadata.apiLimits !== null) yield { where: 'api_limits', keeper: metadata.apiLimits };
  if (metadata.openTelemetry !== null) yield { where: 'opentelemetry', keeper: metadata.openTelemetry };
  yield { where: 'network', keeper: metadata.network };
  for (const entry of metadata.network.tlsAllowlist.values()) yield { where: `network.tls_allowlist.${entry.host}`, keeper: entry };
  yield { where: 'graphql_schema_introspection', keeper: metadata.introspection };
  for (const collection of metadata.queryCollections.values()) yield { where: `query_collections.${collection.name}`, keeper: collection };
}

function* ofSource(source: SourceMetadata): Iterable<Inconsistency> {
  for (const { prefix, keeper } of sourceKeepers(source)) {
    for (const part of unknownParts(keeper)) {
      const type = typeOf(part);
      const id = objectId.sourceExtra(source.name, prefix + part.key, part.name);
      const object: ObjectDescription = {
        objectId: id,
        type,
        name: `${type} ${part.name} in source ${source.name}`,
        definition: { name: part.name, source: source.name, definition: part.json },
      };
      yield inconsistent(object, complaintOf(part, `sources.${source.name}${prefix === '' ? '' : `.${prefix.slice(0, -1)}`}`));
    }
  }
}

/** The settings of a source: each replaced as a whole, so each keeps its own keys. */
function sourceKeepers(source: SourceMetadata): readonly { readonly prefix: string; readonly keeper: WithUnknownKeys }[] {
  return [
    { prefix: '', keeper: source },
    { prefix: 'configuration.', keeper: source.configuration as WithUnknownKeys },
    { prefix: 'customization.', keeper: source.customization },
    { prefix: 'health_check.', keeper: source.healthCheck ?? {} },
    { prefix: 'query_tags.', keeper: source.queryTags ?? {} },
  ];
}

/** Of a table and its configuration. */
export function* unknownInTable(source: StageSource, metadata: TableMetadata): Iterable<Inconsistency> {
  for (const { prefix, keeper } of [
    { prefix: '', keeper: metadata },
    { prefix: 'configuration.', keeper: metadata.configuration },
  ]) {
    for (const part of unknownParts(keeper)) {
      const key = prefix + part.key;
      const object = describeTableExtra(source, metadata.table, typeOf(part), key, part.name, part.json);
      yield inconsistent(object, `${part.complaint} (at sources.${source.name}.tables.${printTable(source, metadata.table)}.${key})`);
    }
  }
}

/** @throws Defect when one of these holds a key that nobody knows */
export function refuseUnknown(...keepers: readonly WithUnknownKeys[]): void {
  const unknown = keepers.filter(hasUnknownKeys).flatMap(unknownParts);
  if (unknown.length > 0) throw new Defect(unknown.map((part) => `${part.complaint} (at ${part.key})`).join('; '));
}
