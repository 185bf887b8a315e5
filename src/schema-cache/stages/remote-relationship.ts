/** Relationships of tables to other sources and to remote schemas; after all of these are there. */
import { nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { isGraphqlName } from '../../metadata/graphql-name.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import {
  type RemoteRelationship,
  remoteRelationshipDefinitionCodec,
  type ToRemoteSchema,
  type ToSource,
} from '../../metadata/remote-relationship.ts';
import { printJson } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { Defect, fromDefect } from '../inconsistency.ts';
import type {
  Inconsistency,
  RemoteRelationshipInfo,
  RemoteSchemaTarget,
  SchemaCache,
  SourceInfo,
  SourceTarget,
  TableInfo,
} from '../schema-cache.ts';
import { describeRemoteRelationship } from './describe.ts';
import { columnOf, printTable, type StageSource } from './scope.ts';
import { refuseUnknown } from './unknown-keys.ts';

export interface RemoteRelationshipsResult {
  readonly bySource: SchemaCache['remoteRelationships'];
  readonly inconsistencies: readonly Inconsistency[];
  /** Equal for results that are alike. */
  readonly fingerprint: string;
}

/** What relationships lead to. */
export interface JoinableTargets {
  readonly sources: ReadonlyMap<string, SourceInfo>;
  /** @throws Defect */
  remoteSchema(definition: ToRemoteSchema, field: (name: string) => FieldOfKey | null, owner: string): RemoteSchemaTarget;
}

/** A field that a key is made of. */
export interface FieldOfKey {
  /** The GraphQL scalar of its values. */
  readonly scalar: string;
}

export function resolveRemoteRelationships(
  metadata: Metadata,
  targets: JoinableTargets,
  contextOf: (source: string) => StageSource | undefined,
  previous: RemoteRelationshipsResult | undefined,
): RemoteRelationshipsResult {
  const bySource = new Map<string, ReadonlyMap<string, ReadonlyMap<string, RemoteRelationshipInfo>>>();
  const inconsistencies: Inconsistency[] = [];
  const prints: string[] = [];
  for (const source of metadata.sources.values()) {
    const info = targets.sources.get(source.name);
    const context = contextOf(source.name);
    if (info === undefined || context === undefined) continue;
    const byTable = new Map<string, ReadonlyMap<string, RemoteRelationshipInfo>>();
    for (const [key, { table, remoteRelationships }] of source.tables) {
      if (remoteRelationships.size === 0) continue;
      const own = new Map<string, RemoteRelationshipInfo>();
      for (const relationship of remoteRelationships.values()) {
        try {
          const resolved = resolve(relationship, info.tables.get(key), { table, context, targets });
          own.set(relationship.name, resolved);
          prints.push(printJson([source.name, key, relationship.name, remoteRelationshipDefinitionCodec.encode(relationship.definition)]));
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
  const fingerprint = prints.join('\n');
  const isSame = previous?.fingerprint === fingerprint;
  return { bySource: isSame ? previous.bySource : bySource, inconsistencies, fingerprint };
}

interface Resolving {
  readonly table: QualifiedName;
  readonly context: StageSource;
  readonly targets: JoinableTargets;
}

/** @throws Defect */
function resolve(relationship: RemoteRelationship, info: TableInfo | undefined, resolving: Resolving): RemoteRelationshipInfo {
  const { name, definition } = relationship;
  const { table, context, targets } = resolving;
  refuseUnknown(relationship);
  const printed = printTable(context, table);
  if (info === undefined) throw new Defect(`table "${printed}" is not tracked`);
  if (!isGraphqlName(name)) throw new Defect(`"${name}" is not a valid GraphQL identifier`);
  if (info.columns.has(name) || info.relationships.has(name) || info.computedFields.has(name)) {
    throw new Defect(`field with name "${name}" already exists in table "${printed}"`);
  }
  if (definition.kind === 'source')
    return { name, target: sourceTarget(definition, targets.sources, (column) => fieldOfTable(context, info, column), printed) };
  return { name, target: targets.remoteSchema(definition, (field) => fieldOfTable(context, info, field), printed) };
}

/** A column or a scalar computed field that takes no arguments. */
function fieldOfTable(context: StageSource, info: TableInfo, name: string): FieldOfKey | null {
  const column = info.columns.get(name);
  if (column !== undefined) return { scalar: context.backend.types.scalar(column.catalog.type).graphql };
  const field = info.computedFields.get(name);
  return field?.returns.kind === 'scalar' ? { scalar: context.backend.types.scalar(field.returns.type).graphql } : null;
}

/** @param owner what messages call the table or type. @throws Defect */
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
    const column = columnOf(info.catalog, remote);
    if (column === undefined) throw new Defect(`column "${remote}" does not exist in table "${printed}" of source ${definition.source}`);
    return { local, remote };
  });
  return { kind: 'source', source: definition.source, table, relationship: definition.relationshipType, columns };
}

export function unknownKey(name: string, owner: string): string {
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
