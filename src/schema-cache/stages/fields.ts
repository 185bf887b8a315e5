/** Fields of one table: columns, relationships and computed fields, and the conflicts between them. */
import { type ComputedField, computedFieldDefinitionCodec } from '../../metadata/computed-field.ts';
import { type ArrayRelationship, type ObjectRelationship, objectUsingCodec } from '../../metadata/relationship.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import { conflicting, Defect, fromDefect, inconsistent, type ObjectDescription } from '../inconsistency.ts';
import type { ColumnInfo, ComputedFieldInfo, Inconsistency, RelationshipInfo, TableCore } from '../schema-cache.ts';
import { fieldName } from '../naming.ts';
import { resolveColumns } from './column.ts';
import { resolveComputedField } from './computed-field.ts';
import { describeComputedField, describeRelationship } from './describe.ts';
import { DanglingReference, resolveRelationship } from './relationship.ts';
import {
  type LookupRecord,
  type StageLookups,
  RecordedLookups,
  printTable,
  type StageSource,
  lookupsUnchanged,
  type TableFields,
} from './lookups.ts';
import { rejectUnknownKeys, unknownInTable } from './unknown-keys.ts';

export interface FieldsResult {
  readonly core: TableCore;
  readonly metadata: TableMetadata;
  readonly recorded: readonly LookupRecord[];
  readonly fields: TableFields;
  readonly inconsistencies: readonly Inconsistency[];
}

function isReusable(previous: FieldsResult, core: TableCore, metadata: TableMetadata, answers: StageLookups): boolean {
  const before = previous.metadata;
  return (
    previous.core === core &&
    (before === metadata ||
      (before.objectRelationships === metadata.objectRelationships &&
        before.arrayRelationships === metadata.arrayRelationships &&
        before.computedFields === metadata.computedFields &&
        before.configuration === metadata.configuration &&
        before.unknownKeys === metadata.unknownKeys)) &&
    lookupsUnchanged(previous.recorded, answers)
  );
}

/** `fields`: the GraphQL names, its own one first. */
type Candidate = { readonly name: string; readonly fields: readonly string[]; readonly describe: () => ObjectDescription } & (
  | { readonly kind: 'object' | 'array'; readonly relationship: ObjectRelationship | ArrayRelationship }
  | { readonly kind: 'computed-field'; readonly field: ComputedField }
);

export function resolveFields(
  source: StageSource,
  core: TableCore,
  metadata: TableMetadata,
  answers: StageLookups,
  previous: FieldsResult | undefined,
): FieldsResult {
  if (previous !== undefined && isReusable(previous, core, metadata, answers)) return previous;
  const lookups = new RecordedLookups(answers);
  const columns = resolveColumns(core, lookups);
  const relationships = new Map<string, RelationshipInfo>();
  const computedFields = new Map<string, ComputedFieldInfo>();
  const inconsistencies: Inconsistency[] = [...unknownInTable(source, metadata)];
  const printed = printTable(source, core.name);

  for (const candidate of withoutConflicts(source, candidatesOf(source, metadata), columns, inconsistencies)) {
    const { name } = candidate;
    try {
      rejectUnknownKeys(candidate.kind === 'computed-field' ? candidate.field : candidate.relationship);
      if (candidate.kind === 'computed-field') computedFields.set(name, resolveComputedField(source, core.name, candidate.field, lookups));
      else relationships.set(name, resolveRelationship(source, core, candidate.kind, candidate.relationship, lookups));
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
    recorded: lookups.recorded,
    fields: { name: core.name, stored: core.catalog.stored === true, columns, relationships, computedFields },
    inconsistencies,
  };
}

function candidatesOf(source: StageSource, metadata: TableMetadata): readonly Candidate[] {
  const candidates: Candidate[] = [];
  const fieldOf = (...parts: readonly string[]): string => fieldName(source.namingConvention, ...parts);
  for (const relationship of metadata.objectRelationships.values()) {
    const describe = () =>
      describeRelationship(source, metadata.table, 'object', relationship, objectUsingCodec(source.backend).encode(relationship.using));
    const { name } = relationship;
    candidates.push({ kind: 'object', relationship, name, fields: [name], describe });
  }
  for (const relationship of metadata.arrayRelationships.values()) {
    const describe = () =>
      describeRelationship(source, metadata.table, 'array', relationship, objectUsingCodec(source.backend).encode(relationship.using));
    const { name } = relationship;
    candidates.push({ kind: 'array', relationship, name, fields: [name, fieldOf(name, 'aggregate')], describe });
  }
  for (const field of metadata.computedFields.values()) {
    const describe = () => describeComputedField(source, metadata.table, field, computedFieldDefinitionCodec(source.backend).encode(field));
    candidates.push({ kind: 'computed-field', field, name: field.name, fields: [fieldOf(field.name)], describe });
  }
  return candidates.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Drops candidates with the name of a column, and all candidates that share a name. */
function withoutConflicts(
  source: StageSource,
  candidates: readonly Candidate[],
  columns: ReadonlyMap<string, ColumnInfo>,
  inconsistencies: Inconsistency[],
): readonly Candidate[] {
  const columnsByField = new Map<string, ColumnInfo>();
  for (const column of columns.values()) {
    columnsByField.set(column.customName ? column.fieldName : fieldName(source.namingConvention, column.name), column);
  }
  const byName = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    for (const name of candidate.fields) byName.set(name, [...(byName.get(name) ?? []), candidate]);
  }
  const reported = new Set<Candidate>();
  return candidates.filter((candidate) => {
    const shared = candidate.fields.find((name) => (byName.get(name) ?? []).length > 1);
    if (shared !== undefined) {
      if (reported.has(candidate)) return false;
      const rivals = byName.get(shared) ?? [];
      for (const rival of rivals) reported.add(rival);
      inconsistencies.push(
        ...conflicting(
          rivals.map((rival) => rival.describe()),
          `conflicting definitions for field "${shared}"`,
        ),
      );
      return false;
    }
    const column = candidate.fields.map((field) => columnsByField.get(field)).find((found) => found !== undefined);
    // The database name counts as well, even if the GraphQL name of the column differs.
    if (column === undefined && !columns.has(candidate.name)) return true;
    const plain = columns.has(candidate.name) || column?.customName !== true;
    const noun = `${source.backend.product} column`;
    const reason = plain ? noun : `custom field name for ${noun} "${column.name}"`;
    inconsistencies.push(inconsistent(candidate.describe(), `field definition conflicts with ${reason}`));
    return false;
  });
}
