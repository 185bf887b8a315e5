/**
 * Renames tables and columns in definitions that are stored as JSON: remote relationships and custom types. JSON without the documented
 * shape stays as it is; it is inconsistent anyway.
 */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { type RemoteRelationship, remoteRelationshipCodec } from '../metadata/remote-relationship.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { mapUnknownKeys } from '../metadata/unknown-parts.ts';
import type { SourceInfo } from '../schema-cache/schema-cache.ts';
import { isJsonArray, isJsonObject, type Json, jsonEqual, type JsonObject } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { mapValues, orSame } from '../metadata-api/map-permissions.ts';
import { mapArray, mapObject, type NewNames } from '../metadata-api/rename-in-expression.ts';

/** @param source source before the renames; tables of `metadata` already have their new names */
export function renameInOthers(metadata: Metadata, source: SourceInfo, names: NewNames): Metadata {
  const renamer: Renamer = { source, names };
  const sources = mapValues(metadata.sources, (entry) => {
    const own = entry.name === source.name;
    const oldKeys = own ? oldKeysOf(source, names) : new Map<string, string>();
    const tables = mapValues(entry.tables, (table, key) => inTable(renamer, table, own ? (oldKeys.get(key) ?? key) : null));
    return orSame(entry, { ...entry, tables });
  });
  const next = mapUnknownKeys(metadata, (name, section) => (name === 'custom_types' ? inCustomTypes(renamer, section) : section));
  return orSame(metadata, { ...next, sources });
}

interface Renamer {
  readonly source: SourceInfo;
  readonly names: NewNames;
}

function oldKeysOf(source: SourceInfo, names: NewNames): Map<string, string> {
  return new Map([...source.tables.values()].map(({ name }) => [nameKey(names.table(name)), nameKey(name)]));
}

/** @param key `nameKey` of the table before the rename; null in another source */
function inTable(renamer: Renamer, table: TableMetadata, key: string | null): TableMetadata {
  const remoteRelationships = mapValues(table.remoteRelationships, (relationship) => renamedRelationship(renamer, relationship, key));
  return orSame(table, { ...table, remoteRelationships });
}

function items(json: Json, change: (item: JsonObject) => Json): Json {
  return isJsonArray(json) ? mapArray(json, (item) => (isJsonObject(item) ? change(item) : item)) : json;
}

/** Changes the values of some keys of an object that has them. */
function inKeys(json: Json, changes: Readonly<Record<string, (value: Json) => Json>>): Json {
  if (!isJsonObject(json)) return json;
  return mapObject(json, (key, value) => [key, Object.hasOwn(changes, key) ? (changes[key] as (value: Json) => Json)(value) : value]);
}

function columns(names: NewNames, table: string): (json: Json) => Json {
  return (json) => (isJsonArray(json) ? mapArray(json, (item) => (typeof item === 'string' ? names.field(table, item) : item)) : json);
}

/** Returns the same object if it has no renamed part. */
function renamedRelationship(renamer: Renamer, relationship: RemoteRelationship, key: string | null): RemoteRelationship {
  const written = remoteRelationshipCodec.encode(relationship) as JsonObject;
  const renamed = remoteRelationship(renamer, written, key);
  return jsonEqual(written, renamed) ? relationship : remoteRelationshipCodec.decode(renamed, ROOT);
}

function remoteRelationship(renamer: Renamer, relationship: JsonObject, key: string | null): Json {
  const { names } = renamer;
  const own = key === null ? (json: Json): Json => json : columns(names, key);
  const toRemoteSchema = (json: Json): Json => inKeys(json, { lhs_fields: own });
  const toSource = (json: Json): Json =>
    inTarget(renamer, json, 'source', 'table', (name) => (key === null ? name : names.field(key, name)));
  return inKeys(relationship, {
    svc_fields: own,
    definition: (json) => inKeys(json, { to_remote_schema: toRemoteSchema, to_source: toSource, svc_fields: own, lhs_fields: own }),
  });
}

/** `{objects: [{relationships: [{source, remote_table, field_mapping}]}]}` */
function inCustomTypes(renamer: Renamer, section: Json): Json {
  const relationship = (json: JsonObject): Json => inTarget(renamer, json, 'source', 'remote_table', (name) => name);
  return inKeys(section, {
    objects: (json) => items(json, (type) => inKeys(type, { relationships: (each) => items(each, relationship) })),
  });
}

/** An object that names a table and maps fields to its columns. */
function inTarget({ source, names }: Renamer, json: Json, sourceKey: string, tableKey: string, field: (name: string) => string): Json {
  if (!isJsonObject(json)) return json;
  const target = (json[sourceKey] ?? 'default') === source.name ? tableName(source, json[tableKey]) : undefined;
  return mapObject(json, (key, value) => {
    if (key === tableKey && target !== undefined) {
      const renamed = names.table(target);
      return [key, renamed === target ? value : source.backend.tableName.encode(renamed)];
    }
    if (key !== 'field_mapping' || !isJsonObject(value)) return [key, value];
    const column = (name: Json): Json => (target !== undefined && typeof name === 'string' ? names.field(nameKey(target), name) : name);
    return [key, mapObject(value, (name, remote) => [field(name), column(remote)])];
  });
}

function tableName({ backend }: SourceInfo, json: Json | undefined): QualifiedName | undefined {
  if (json === undefined) return undefined;
  try {
    return backend.tableName.decode(json, ROOT);
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}
