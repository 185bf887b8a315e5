/** Custom types by name, and the targets of the relationships of object types. */
import { nameKey } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { CustomObject, CustomRelationship, CustomTypes } from '../../metadata/custom-types.ts';
import { entryCodecs } from '../../metadata/metadata.ts';
import type { ToSource } from '../../metadata/remote-relationship.ts';
import { type Json, printJson } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { type CustomTypeInfo, type CustomTypesInfo, PLAIN_SCALARS } from '../action-info.ts';
import { Defect } from '../inconsistency.ts';
import type { Inconsistency, RemoteRelationshipInfo, SchemaCache, SourceTarget } from '../schema-cache.ts';
import { customTypeProblems } from './custom-type-checks.ts';
import type { ScalarFinder } from './database-scalar.ts';
import { describeCustomTypes } from './describe.ts';
import { type FieldOfKey, type JoinableTargets, sourceTarget } from './remote-relationship.ts';
import { catalogColumn, printTable } from './lookups.ts';
import { inconsistent } from '../inconsistency.ts';
import { rejectUnknownKeys } from './unknown-keys.ts';

export interface CustomTypesStage {
  readonly metadata: CustomTypes;
  /** Empty if there is a problem beyond relationships. */
  readonly info: CustomTypesInfo;
  /** Messages about problems. */
  readonly reasons: readonly string[];
}

const NOTHING: CustomTypesInfo = new Map();

/** Resolves custom types by name; none if one of them has a problem. */
export function resolveCustomTypes(metadata: CustomTypes, scalarOf: ScalarFinder): CustomTypesStage {
  const info = infoOf(metadata, scalarOf);
  const reasons = [...customTypeProblems(metadata, info, scalarOf)];
  try {
    rejectUnknownKeys(metadata);
  } catch (thrown) {
    if (!(thrown instanceof Defect)) throw thrown;
    reasons.push(thrown.message);
  }
  return { metadata, info: reasons.length === 0 ? info : NOTHING, reasons };
}

function infoOf({ inputObjects, objects, scalars, enums }: CustomTypes, scalarOf: ScalarFinder): CustomTypesInfo {
  const info = new Map<string, CustomTypeInfo>();
  for (const { name, description = null, fields } of inputObjects) info.set(name, { kind: 'input-object', name, description, fields });
  for (const { name, description = null, fields } of objects) {
    info.set(name, { kind: 'object', name, description, fields: new Map(fields.map((field) => [field.name, field])) });
  }
  for (const { name, description = null, values } of enums) info.set(name, { kind: 'enum', name, description, values });
  for (const { name, description = null } of scalars) info.set(name, scalarOf(name) ?? { kind: 'scalar', name, description });
  return info;
}

export interface CustomRelationshipsStage {
  readonly byType: SchemaCache['customTypeRelationships'];
  readonly reasons: readonly string[];
  /** Equal for equal results. */
  readonly fingerprint: string;
}

/** Resolves the relationships of types that are part of the schema; a problem with one does not affect the others. */
export function resolveCustomRelationships(
  { metadata, info }: CustomTypesStage,
  targets: JoinableTargets,
  previous: CustomRelationshipsStage | undefined,
): CustomRelationshipsStage {
  const byType = new Map<string, ReadonlyMap<string, RemoteRelationshipInfo>>();
  const reasons: string[] = [];
  const fingerprints: string[] = [];
  for (const object of metadata.objects) {
    const own = new Map<string, RemoteRelationshipInfo>();
    for (const relationship of object.relationships) {
      try {
        const resolved = resolve(relationship, object, info, targets);
        own.set(relationship.name, resolved);
        fingerprints.push(
          printJson([object.name, entryCodecs.customTypes.encode({ ...NONE, objects: [{ ...object, relationships: [relationship] }] })]),
        );
      } catch (thrown) {
        if (!(thrown instanceof Defect)) throw thrown;
        reasons.push(thrown.message);
      }
    }
    if (own.size > 0 && info.has(object.name)) byType.set(object.name, own);
  }
  const fingerprint = fingerprints.join('\n');
  if (previous?.fingerprint === fingerprint) return { ...previous, reasons };
  return { byType, reasons, fingerprint };
}

const NONE: CustomTypes = { inputObjects: [], objects: [], scalars: [], enums: [] };

/** @throws Defect with the whole reason */
function resolve(
  { name, definition, plain }: CustomRelationship,
  object: CustomObject,
  info: CustomTypesInfo,
  targets: JoinableTargets,
): RemoteRelationshipInfo {
  if (definition.kind === 'source' && plain) return { name, target: plainTarget(name, definition, object, info, targets) };
  const where = `in relationship "${name}" of object type "${object.name}": `;
  const field = (key: string): FieldOfKey | null => fieldOfKey(object, key, info);
  try {
    if (definition.kind === 'source') return { name, target: sourceTarget(definition, targets.sources, field, object.name) };
    return { name, target: targets.remoteSchema(definition, field, object.name) };
  } catch (thrown) {
    throw thrown instanceof Defect ? new Defect(where + thrown.message) : thrown;
  }
}

/** Returns a scalar or an enum field that is not a list. */
function fieldOfKey({ fields }: CustomObject, name: string, info: CustomTypesInfo): FieldOfKey | null {
  const type = fields.find((field) => field.name === name)?.type;
  if (type === undefined || type.kind === 'list' || info.get(type.name)?.kind === 'object') return null;
  return { scalar: type.name };
}

/** @throws Defect */
function plainTarget(
  name: string,
  { source: sourceName, relationshipType, table, fieldMapping }: ToSource,
  object: CustomObject,
  info: CustomTypesInfo,
  { sources }: JoinableTargets,
): SourceTarget {
  const of = `for relationship "${name}" of object type "${object.name}"`;
  const within = `for relationship "${name}" in object type "${object.name}"`;
  const source = sources.get(sourceName);
  if (source === undefined) throw new Defect(`the source "${sourceName}" ${of} does not exist`);
  const target = decodedTable(() => source.backend.tableName.decode(table, ROOT));
  const printed = printTable(source, target);
  const found = source.tables.get(nameKey(target));
  if (found === undefined) throw new Defect(`the remote table "${printed}" ${of} does not exist`);
  if (fieldMapping.size === 0) throw new Defect(`no fields are mapped ${within}`);
  const columns = [...fieldMapping].map(([local, remote]) => {
    const type = object.fields.find((field) => field.name === local)?.type;
    if (type === undefined) throw new Defect(`the field "${local}" ${within} does not exist`);
    if (type.kind === 'list') throw new Defect(`the type of the field "${local}" ${within} is a list type`);
    if (info.get(type.name)?.kind === 'object') throw new Defect(`the type of the field "${local}" ${within} is an object type`);
    if (catalogColumn(found.catalog, remote) === undefined) {
      throw new Defect(`the column "${remote}" of remote table "${printed}" ${of} does not exist`);
    }
    return { local, remote };
  });
  return { kind: 'source', source: sourceName, table: target, relationship: relationshipType, columns };
}

function decodedTable<T>(decode: () => T): T {
  try {
    return decode();
  } catch (thrown) {
    throw thrown instanceof SvcError ? new Defect(thrown.message) : thrown;
  }
}

/** Returns one record with all problems. */
export function customTypesRecord(metadata: CustomTypes, reasons: readonly string[], { sources }: JoinableTargets): Inconsistency {
  const [only] = reasons;
  const failed = 'validation for the given custom types failed';
  const text =
    reasons.length === 1
      ? `${failed} because ${only}`
      : `${failed} for the following reasons:\n${reasons.map((reason) => `  • ${reason}`).join('\n')}`;
  const printTableOf = (name: string, table: Json): Json => {
    const source = sources.get(name);
    if (source === undefined) return table;
    try {
      return source.backend.tableName.encode(decodedTable(() => source.backend.tableName.decode(table, ROOT)));
    } catch (thrown) {
      if (thrown instanceof Defect) return table;
      throw thrown;
    }
  };
  return inconsistent(describeCustomTypes(metadata, printTableOf), text);
}

/** Returns true if a name stands for a type of arguments (`input`) or answers (`output`). */
export function isTypeFor(use: 'input' | 'output', name: string, info: CustomTypesInfo, scalarOf: ScalarFinder): boolean {
  if (PLAIN_SCALARS.has(name)) return true;
  const found = info.get(name) ?? scalarOf(name);
  return found !== null && found.kind !== (use === 'input' ? 'object' : 'input-object');
}
