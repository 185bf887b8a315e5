/** Target of a remote relationship: a table of any source, or a field of a remote schema. */
import { isObject, type Json, type JsonObject, objectOf } from './json.ts';
import { parseRemoteField, printRemoteField } from './remote-field.ts';

export interface TargetDraft {
  readonly to: 'table' | 'remote';
  readonly many: boolean;
  readonly source: string;
  /** Table name as addresses show it. */
  readonly table: string;
  readonly mapping: readonly { readonly key: string; readonly value: string }[];
  readonly remoteSchema: string;
  /** Such as `country(code: $country_code)`. */
  readonly field: string;
}

export const NO_TARGET: TargetDraft = {
  to: 'table',
  many: false,
  source: '',
  table: '',
  mapping: [{ key: '', value: '' }],
  remoteSchema: '',
  field: '',
};

/** @param tableId prints the name of a table */
export function targetDraft(definition: Json | undefined, tableId: (table: Json) => string): TargetDraft {
  if (!isObject(definition)) return NO_TARGET;
  const source = definition['to_source'];
  if (isObject(source)) {
    const mapping = objectOf(source['field_mapping']);
    return {
      ...NO_TARGET,
      many: source['relationship_type'] === 'array',
      source: String(source['source'] ?? ''),
      table: tableId(source['table'] ?? ''),
      mapping: Object.entries(mapping).map(([key, value]) => ({ key, value: String(value) })),
    };
  }
  // The format before `to_remote_schema` has the same keys at the top level.
  const remote = isObject(definition['to_remote_schema']) ? definition['to_remote_schema'] : definition;
  if (remote['remote_schema'] === undefined) return NO_TARGET;
  return {
    ...NO_TARGET,
    to: 'remote',
    remoteSchema: String(remote['remote_schema'] ?? ''),
    field: printRemoteField(remote['remote_field']),
  };
}

/** Names what is missing; undefined if the draft is complete. */
export function missingOf({ to, source, table, mapping, remoteSchema, field }: TargetDraft): string | undefined {
  if (to === 'remote') return remoteSchema === '' ? 'Select a remote schema' : field.trim() === '' ? 'Enter a field' : undefined;
  if (source === '' || table === '') return 'Select a table';
  return mapping.some(({ key, value }) => key !== '' && value !== '') ? undefined : 'Map at least one field';
}

/**
 * Definition of a draft. Keys of `before` that the form does not show are preserved.
 * @param table name of the draft's table in metadata
 * @throws SyntaxError if the field of a remote schema cannot be read
 */
export function targetDefinition(draft: TargetDraft, table: Json, before: Json | undefined): JsonObject {
  const former = objectOf(before);
  if (draft.to === 'remote') {
    const { field, variables } = parseRemoteField(draft.field);
    const stored = objectOf(former['to_remote_schema']);
    return { to_remote_schema: { ...stored, remote_schema: draft.remoteSchema, lhs_fields: variables, remote_field: field } };
  }
  const pairs = draft.mapping.filter(({ key, value }) => key !== '' && value !== '').map(({ key, value }) => [key, value] as const);
  return {
    to_source: {
      relationship_type: draft.many ? 'array' : 'object',
      source: draft.source,
      table,
      field_mapping: Object.fromEntries(pairs),
    },
  };
}
