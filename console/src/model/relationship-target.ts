/** Where a relationship leads that is no foreign key: to a table of any source, or to a field of a remote schema. */
import { isObject, type Json, type JsonObject } from './json.ts';
import { parseRemoteField, printRemoteField } from './remote-field.ts';

export interface TargetDraft {
  readonly to: 'table' | 'remote';
  readonly many: boolean;
  readonly source: string;
  /** As addresses show it. */
  readonly table: string;
  readonly mapping: readonly { readonly key: string; readonly value: string }[];
  readonly remoteSchema: string;
  /** As one writes it. */
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

/** @param tableId how a table's name is shown */
export function targetDraft(definition: Json | undefined, tableId: (table: Json) => string): TargetDraft {
  if (!isObject(definition)) return NO_TARGET;
  const source = definition['to_source'];
  if (isObject(source)) {
    const mapping = isObject(source['field_mapping']) ? source['field_mapping'] : {};
    return {
      ...NO_TARGET,
      many: source['relationship_type'] === 'array',
      source: String(source['source'] ?? ''),
      table: tableId(source['table'] ?? ''),
      mapping: Object.entries(mapping).map(([key, value]) => ({ key, value: String(value) })),
    };
  }
  // What is older than `to_remote_schema` has the same keys beside each other.
  const remote = isObject(definition['to_remote_schema']) ? definition['to_remote_schema'] : definition;
  if (remote['remote_schema'] === undefined) return NO_TARGET;
  return {
    ...NO_TARGET,
    to: 'remote',
    remoteSchema: String(remote['remote_schema'] ?? ''),
    field: printRemoteField(remote['remote_field']),
  };
}

/** What is still missing of a draft; undefined where nothing is. */
export function missingOf({ to, source, table, mapping, remoteSchema, field }: TargetDraft): string | undefined {
  if (to === 'remote') return remoteSchema === '' ? 'Choose a remote schema' : field.trim() === '' ? 'Say which field' : undefined;
  if (source === '' || table === '') return 'Choose a table';
  return mapping.some(({ key, value }) => key !== '' && value !== '') ? undefined : 'Say which fields are equal';
}

/**
 * The definition of a draft; what a form does not show of the former one stays.
 * @param table of the draft as metadata names it
 * @throws SyntaxError where the field of a remote schema cannot be read
 */
export function targetDefinition(draft: TargetDraft, table: Json, before: Json | undefined): JsonObject {
  const former = isObject(before) ? before : {};
  if (draft.to === 'remote') {
    const { field, variables } = parseRemoteField(draft.field);
    const kept = isObject(former['to_remote_schema']) ? former['to_remote_schema'] : {};
    return { to_remote_schema: { ...kept, remote_schema: draft.remoteSchema, lhs_fields: variables, remote_field: field } };
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
