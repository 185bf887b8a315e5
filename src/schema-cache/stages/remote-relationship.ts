/** Relationships of tables and remote types to other sources and to remote schemas; resolved after all of their targets. */
import { nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import {
  type RemoteRelationship,
  remoteRelationshipDefinitionCodec,
  type ToRemoteSchema,
  type ToSource,
} from '../../metadata/remote-relationship.ts';
import type { RemoteModel, RemoteObject } from '../../remote-schema/model.ts';
import { printJson } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { Defect, fromDefect, fieldNameProblem } from '../inconsistency.ts';
import { fieldName } from '../naming.ts';
import type {
  Inconsistency,
  RemoteRelationshipInfo,
  RemoteSchemaInfo,
  RemoteSchemaTarget,
  SchemaCache,
  SourceInfo,
  SourceTarget,
  TableInfo,
} from '../schema-cache.ts';
import { describeRemoteRelationship, describeRemoteTypeRelationship } from './describe.ts';
import { catalogColumn, printTable, type StageSource } from './lookups.ts';
import { rejectUnknownKeys } from './unknown-keys.ts';

export interface RemoteRelationshipsResult {
  readonly bySource: SchemaCache['remoteRelationships'];
  readonly byRemoteSchema: SchemaCache['remoteTypeRelationships'];
  readonly inconsistencies: readonly Inconsistency[];
  /** Equal for equal results. */
  readonly fingerprint: string;
}

/** Targets of relationships. */
export interface JoinableTargets {
  readonly sources: ReadonlyMap<string, SourceInfo>;
  readonly remoteSchemas: SchemaCache['remoteSchemas'];
  /** @throws Defect */
  remoteSchema(definition: ToRemoteSchema, field: (name: string) => FieldOfKey | null, owner: string): RemoteSchemaTarget;
}

/** A field that is part of a key. */
export interface FieldOfKey {
  /** GraphQL scalar of its values. */
  readonly scalar: string;
}

/** Resolves the targets and keys of remote relationships, and records their defects. */
export function resolveRemoteRelationships(
  metadata: Metadata,
  targets: JoinableTargets,
  contextOf: (source: string) => StageSource | undefined,
  previous: RemoteRelationshipsResult | undefined,
): RemoteRelationshipsResult {
  const found: Findings = { inconsistencies: [], fingerprints: [] };
  const bySource = relationshipsOfTables(metadata, targets, contextOf, found);
  const byRemoteSchema = relationshipsOfTypes(metadata, targets, found);
  const { inconsistencies } = found;
  const fingerprint = found.fingerprints.join('\n');
  if (previous?.fingerprint === fingerprint) return { ...previous, inconsistencies };
  return { bySource, byRemoteSchema, inconsistencies, fingerprint };
}

interface Findings {
  readonly inconsistencies: Inconsistency[];
  /** One for each relationship that was resolved. */
  readonly fingerprints: string[];
}

function relationshipsOfTables(
  metadata: Metadata,
  targets: JoinableTargets,
  contextOf: (source: string) => StageSource | undefined,
  { inconsistencies, fingerprints }: Findings,
): RemoteRelationshipsResult['bySource'] {
  const bySource = new Map<string, ReadonlyMap<string, ReadonlyMap<string, RemoteRelationshipInfo>>>();
  for (const source of metadata.sources.values()) {
    const info = targets.sources.get(source.name);
    const context = contextOf(source.name);
    if (info === undefined || context === undefined) continue;
    const byTable = new Map<string, ReadonlyMap<string, RemoteRelationshipInfo>>();
    for (const [key, { table, remoteRelationships }] of source.tables) {
      if (remoteRelationships.size === 0) continue;
      const own = new Map<string, RemoteRelationshipInfo>();
      const owner = info.tables.get(key);
      const taken = owner === undefined ? new Set<string>() : namesOfFields(context, owner);
      for (const relationship of remoteRelationships.values()) {
        try {
          const resolved = resolve(relationship, owner, { table, context, targets, taken });
          own.set(relationship.name, resolved);
          for (const name of namesOf(relationship, context)) taken.add(name);
          fingerprints.push(
            printJson([source.name, key, relationship.name, remoteRelationshipDefinitionCodec.encode(relationship.definition)]),
          );
        } catch (error) {
          if (!(error instanceof Defect)) throw error;
          const described = describeRemoteRelationship(context, table, relationship);
          const where = `in table "${printTable(context, table)}": in remote relationship "${relationship.name}": `;
          inconsistencies.push(fromDefect(described, where, error));
        }
      }
      if (own.size > 0) byTable.set(key, own);
    }
    if (byTable.size > 0) bySource.set(source.name, byTable);
  }
  return bySource;
}

function relationshipsOfTypes(
  metadata: Metadata,
  targets: JoinableTargets,
  { inconsistencies, fingerprints }: Findings,
): RemoteRelationshipsResult['byRemoteSchema'] {
  const byRemoteSchema = new Map<string, ReadonlyMap<string, ReadonlyMap<string, RemoteRelationshipInfo>>>();
  for (const remote of metadata.remoteSchemas.values()) {
    const info = targets.remoteSchemas.get(remote.name);
    if (info === undefined) continue;
    const byType = new Map<string, ReadonlyMap<string, RemoteRelationshipInfo>>();
    for (const { typeName, relationships } of remote.remoteRelationships.values()) {
      const own = new Map<string, RemoteRelationshipInfo>();
      for (const relationship of relationships.values()) {
        try {
          own.set(relationship.name, resolveOfType(relationship, info, typeName, targets));
          const definition = remoteRelationshipDefinitionCodec.encode(relationship.definition);
          fingerprints.push(printJson(['', remote.name, typeName, relationship.name, definition]));
        } catch (error) {
          if (!(error instanceof Defect)) throw error;
          const where = `in remote schema "${remote.name}": in type "${typeName}": in remote relationship "${relationship.name}": `;
          inconsistencies.push(fromDefect(describeRemoteTypeRelationship(remote.name, typeName, relationship), where, error));
        }
      }
      if (own.size > 0) byType.set(typeName, own);
    }
    if (byType.size > 0) byRemoteSchema.set(remote.name, byType);
  }
  return byRemoteSchema;
}

/** @throws Defect */
function resolveOfType(
  relationship: RemoteRelationship,
  { name: remote, model }: RemoteSchemaInfo,
  typeName: string,
  targets: JoinableTargets,
): RemoteRelationshipInfo {
  const { name, definition } = relationship;
  rejectUnknownKeys(relationship);
  const type = model.types.get(typeName);
  if (type === undefined) throw new Defect(`no type named "${typeName}" defined in remote schema "${remote}"`);
  if (type.kind !== 'object') throw new Defect('remote relationships on a remote schema can only be defined on object types');
  const problem = fieldNameProblem(name);
  if (problem !== null) throw new Defect(problem);
  if (type.fields.has(name)) throw new Defect(`field with name "${name}" already exists in type "${typeName}"`);
  const field = (key: string): FieldOfKey | null => fieldOfType(model, type, key);
  if (definition.kind === 'source') return { name, target: sourceTarget(definition, targets.sources, field, typeName) };
  return { name, target: targets.remoteSchema(definition, field, typeName) };
}

/** Returns a scalar or an enum field without arguments. */
function fieldOfType({ types }: RemoteModel, type: RemoteObject, name: string): FieldOfKey | null {
  const field = type.fields.get(name);
  if (field === undefined || field.type.kind === 'list' || field.args.size > 0) return null;
  const kind = types.get(field.type.name)?.kind ?? 'scalar';
  return kind === 'scalar' || kind === 'enum' ? { scalar: field.type.name } : null;
}

interface Resolving {
  readonly table: QualifiedName;
  readonly context: StageSource;
  readonly targets: JoinableTargets;
  /** Names of the table's other fields. */
  readonly taken: ReadonlySet<string>;
}

/** Returns the database and GraphQL names of a table's fields, without those of its remote relationships. */
function namesOfFields({ namingConvention }: StageSource, { columns, relationships, computedFields }: TableInfo): Set<string> {
  const names = new Set<string>();
  for (const { name, fieldName: ownName, customName } of columns.values()) {
    names.add(name).add(customName ? ownName : fieldName(namingConvention, name));
  }
  for (const { name, kind } of relationships.values()) {
    names.add(name);
    if (kind === 'array') names.add(fieldName(namingConvention, name, 'aggregate'));
  }
  for (const name of computedFields.keys()) names.add(name).add(fieldName(namingConvention, name));
  return names;
}

/** Returns the names of the fields of a remote relationship of a table, its own one first. */
function namesOf({ name, definition }: RemoteRelationship, { namingConvention }: StageSource): readonly string[] {
  const isList = definition.kind === 'source' && definition.relationshipType === 'array';
  return isList ? [name, fieldName(namingConvention, { literal: name }, 'aggregate')] : [name];
}

/** @throws Defect */
function resolve(relationship: RemoteRelationship, info: TableInfo | undefined, resolving: Resolving): RemoteRelationshipInfo {
  const { name, definition } = relationship;
  const { table, context, targets, taken } = resolving;
  rejectUnknownKeys(relationship);
  const printed = printTable(context, table);
  if (info === undefined) throw new Defect(`table "${printed}" is not tracked`);
  const problem = fieldNameProblem(name);
  if (problem !== null) throw new Defect(problem);
  const clash = namesOf(relationship, context).find((own) => taken.has(own));
  if (clash !== undefined) throw new Defect(`field with name "${clash}" already exists in table "${printed}"`);
  if (definition.kind === 'source')
    return { name, target: sourceTarget(definition, targets.sources, (column) => fieldOfTable(context, info, column), printed) };
  return { name, target: targets.remoteSchema(definition, (field) => fieldOfTable(context, info, field), printed) };
}

/** Returns a column, or a scalar computed field without arguments. */
function fieldOfTable(context: StageSource, info: TableInfo, name: string): FieldOfKey | null {
  const column = info.columns.get(name);
  if (column !== undefined) return { scalar: context.backend.types.scalar(column.catalog.type).graphql };
  const field = info.computedFields.get(name);
  return field?.returns.kind === 'scalar' ? { scalar: context.backend.types.scalar(field.returns.type).graphql } : null;
}

/** @param owner name of the table or type in messages. @throws Defect */
export function sourceTarget(
  definition: ToSource,
  sources: ReadonlyMap<string, SourceInfo>,
  field: (name: string) => FieldOfKey | null,
  owner: string,
): SourceTarget {
  const source = sources.get(definition.source);
  if (source === undefined) throw new Defect(`source not found: "${definition.source}"`);
  const table = targetTable(definition, source);
  const printed = printTable(source, table);
  const info = source.tables.get(nameKey(table));
  if (info === undefined) throw new Defect(`table "${printed}" does not exist in source: ${definition.source}`);
  if (definition.fieldMapping.size === 0) throw new Defect('no columns are mapped');
  const columns = [...definition.fieldMapping].map(([local, remote]) => {
    if (field(local) === null) throw new Defect(unknownKey(local, owner));
    const column = catalogColumn(info.catalog, remote);
    if (column === undefined) throw new Defect(`column "${remote}" does not exist in table "${printed}" of source ${definition.source}`);
    return { local, remote };
  });
  return { kind: 'source', source: definition.source, table, relationship: definition.relationshipType, columns };
}

function unknownKey(name: string, owner: string): string {
  return `field with name "${name}" is not provided by the lhs entity "${owner}" for defining a join condition`;
}

function targetTable({ table }: ToSource, source: SourceInfo): QualifiedName {
  try {
    return source.backend.tableName.decode(table, ROOT);
  } catch (error) {
    if (error instanceof SvcError) throw new Defect(error.message);
    throw error;
  }
}
