/** The fields of one table: columns, relationships and computed fields, and the clashes between them. */
import { type ComputedField, computedFieldDefinitionCodec } from '../../metadata/computed-field.ts';
import { type ArrayRelationship, type ObjectRelationship, objectUsingCodec } from '../../metadata/relationship.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import { conflicting, Defect, fromDefect, inconsistent, type ObjectDescription } from '../inconsistency.ts';
import type { ColumnInfo, ComputedFieldInfo, Inconsistency, RelationshipInfo } from '../schema-cache.ts';
import { resolveColumns } from './column.ts';
import { resolveComputedField } from './computed-field.ts';
import { describeComputedField, describeRelationship, describeTableExtra } from './describe.ts';
import { DanglingReference, resolveRelationship } from './relationship.ts';
import {
  type Answered,
  type Answers,
  Inquiry,
  printTable,
  type SourceContext,
  stillHolds,
  type TableCore,
  type TableFields,
} from './scope.ts';

export interface FieldsResult {
  readonly core: TableCore;
  readonly metadata: TableMetadata;
  readonly answered: readonly Answered[];
  readonly fields: TableFields;
  readonly inconsistencies: readonly Inconsistency[];
}

function keeps(previous: FieldsResult, core: TableCore, metadata: TableMetadata, answers: Answers): boolean {
  const before = previous.metadata;
  return (
    previous.core === core &&
    (before === metadata ||
      (before.objectRelationships === metadata.objectRelationships &&
        before.arrayRelationships === metadata.arrayRelationships &&
        before.computedFields === metadata.computedFields &&
        before.other === metadata.other)) &&
    stillHolds(previous.answered, answers)
  );
}

type Candidate = { readonly describe: () => ObjectDescription; readonly names: readonly string[] } & (
  | { readonly kind: 'object' | 'array'; readonly relationship: ObjectRelationship | ArrayRelationship }
  | { readonly kind: 'computed-field'; readonly field: ComputedField }
);

export function resolveFields(
  source: SourceContext,
  core: TableCore,
  metadata: TableMetadata,
  answers: Answers,
  previous: FieldsResult | undefined,
): FieldsResult {
  if (previous !== undefined && keeps(previous, core, metadata, answers)) return previous;
  const inquiry = new Inquiry(answers);
  const columns = resolveColumns(core, inquiry);
  const relationships = new Map<string, RelationshipInfo>();
  const computedFields = new Map<string, ComputedFieldInfo>();
  const inconsistencies: Inconsistency[] = [...unsupported(source, metadata)];
  const printed = printTable(source, core.name);

  for (const candidate of withoutClashes(candidatesOf(source, metadata), columns, inconsistencies)) {
    const name = candidate.names[0] as string;
    try {
      if (candidate.kind === 'computed-field') computedFields.set(name, resolveComputedField(source, core.name, candidate.field, inquiry));
      else relationships.set(name, resolveRelationship(source, core, candidate.kind, candidate.relationship, inquiry));
    } catch (error) {
      if (!(error instanceof Defect)) throw error;
      const noun = candidate.kind === 'computed-field' ? 'computed field' : 'relationship';
      const where = error instanceof DanglingReference ? '' : `in table "${printed}": in ${noun} "${name}": `;
      inconsistencies.push(fromDefect(candidate.describe(), where, error));
    }
  }
  return {
    core,
    metadata,
    answered: inquiry.answered,
    fields: { name: core.name, columns, relationships, computedFields },
    inconsistencies,
  };
}

function candidatesOf(source: SourceContext, metadata: TableMetadata): readonly Candidate[] {
  const candidates: Candidate[] = [];
  for (const relationship of metadata.objectRelationships.values()) {
    const describe = () =>
      describeRelationship(source, metadata.table, 'object', relationship, objectUsingCodec(source.backend).encode(relationship.using));
    candidates.push({ kind: 'object', relationship, names: [relationship.name], describe });
  }
  for (const relationship of metadata.arrayRelationships.values()) {
    const describe = () =>
      describeRelationship(source, metadata.table, 'array', relationship, objectUsingCodec(source.backend).encode(relationship.using));
    candidates.push({ kind: 'array', relationship, names: [relationship.name, `${relationship.name}_aggregate`], describe });
  }
  for (const field of metadata.computedFields.values()) {
    const describe = () => describeComputedField(source, metadata.table, field, computedFieldDefinitionCodec(source.backend).encode(field));
    candidates.push({ kind: 'computed-field', field, names: [field.name], describe });
  }
  return candidates.sort((a, b) => ((a.names[0] as string) < (b.names[0] as string) ? -1 : 1));
}

/** Drops what has the name of a column, and all of those that share a name. */
function withoutClashes(
  candidates: readonly Candidate[],
  columns: ReadonlyMap<string, ColumnInfo>,
  inconsistencies: Inconsistency[],
): readonly Candidate[] {
  const customNames = new Map<string, string>();
  for (const column of columns.values()) if (column.customName) customNames.set(column.fieldName, column.name);
  const byName = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const name = candidate.names[0] as string;
    byName.set(name, [...(byName.get(name) ?? []), candidate]);
  }
  return candidates.filter((candidate) => {
    const name = candidate.names[0] as string;
    const rivals = byName.get(name) ?? [];
    if (rivals.length > 1) {
      if (rivals[0] === candidate) {
        inconsistencies.push(
          ...conflicting(
            rivals.map((rival) => rival.describe()),
            `conflicting definitions for field "${name}"`,
          ),
        );
      }
      return false;
    }
    if (columns.has(name)) {
      inconsistencies.push(inconsistent(candidate.describe(), 'field definition conflicts with postgres column'));
      return false;
    }
    const custom = candidate.names.find((each) => customNames.has(each));
    if (custom === undefined) return true;
    const reason = `field definition conflicts with custom field name for postgres column "${customNames.get(custom)}"`;
    inconsistencies.push(inconsistent(candidate.describe(), reason));
    return false;
  });
}

const EXTRA_TYPES: Readonly<Record<string, string>> = { remote_relationships: 'remote_relationship', event_triggers: 'event_trigger' };

/** Definitions that no feature here understands are kept and reported, never silently without effect. */
function* unsupported(source: SourceContext, metadata: TableMetadata): Iterable<Inconsistency> {
  for (const [key, json] of metadata.other) {
    const entries = Array.isArray(json) ? json : json === null ? [] : [json];
    for (const entry of entries) {
      const named = typeof entry === 'object' && entry !== null && 'name' in entry && typeof entry.name === 'string' ? entry.name : key;
      yield inconsistent(
        describeTableExtra(source, metadata.table, EXTRA_TYPES[key] ?? key, key, named, entry),
        `${key} are not supported yet`,
      );
    }
  }
}
