import { enumerate } from '../util/enumerate.ts';
import { isJsonObject, type Json } from '../util/json.ts';
import { type Codec, defaulted, leaf, like, mapOf, object, optional, parseFailed, text, wrongType } from './codec.ts';
import { graphqlName } from './graphql-name.ts';
import { byKey } from './keyed-list.ts';
import { at } from '../util/path.ts';
import { refuseUnknownKeys, type WithUnknownKeys } from './unknown-keys.ts';

export const ROOT_FIELD_KEYS = [
  'select',
  'select_by_pk',
  'select_aggregate',
  'select_stream',
  'insert',
  'insert_one',
  'update',
  'update_by_pk',
  'update_many',
  'delete',
  'delete_by_pk',
] as const;

export type RootFieldKey = (typeof ROOT_FIELD_KEYS)[number];

/** `comment`: undefined is automatic, null or "" is none. */
export interface CustomRootField {
  readonly name?: string;
  readonly comment?: string | null;
}

export interface ColumnConfiguration {
  readonly customName?: string;
  readonly comment?: string;
}

export interface TableConfiguration extends WithUnknownKeys {
  readonly customName?: string;
  readonly customRootFields: ReadonlyMap<RootFieldKey, CustomRootField>;
  readonly columnConfig: ReadonlyMap<string, ColumnConfiguration>;
  readonly comment?: string;
}

export const NO_TABLE_CONFIGURATION: TableConfiguration = { customRootFields: new Map(), columnConfig: new Map() };

const CUSTOM_ROOT_FIELD = { keys: ['name', 'comment'] };

/** null, a name, or `{name, comment}`; undefined if nothing is customized. */
const customRootFieldCodec: Codec<CustomRootField | undefined> = leaf(
  'CustomRootField',
  (json, path): CustomRootField | undefined => {
    if (json === null) return undefined;
    if (typeof json === 'string') return { name: graphqlName.decode(json, path) };
    if (!isJsonObject(json)) throw wrongType('CustomRootField', 'Object', json, path);
    refuseUnknownKeys(json, path, CUSTOM_ROOT_FIELD);
    const { name, comment } = json;
    const named = name === undefined || name === null ? {} : { name: graphqlName.decode(name, at(path, 'name')) };
    if (comment === undefined) return name === undefined || name === null ? undefined : named;
    return { ...named, comment: comment === null ? null : text.decode(comment, at(path, 'comment')) };
  },
  (value: CustomRootField | undefined): Json => {
    if (value === undefined) return null;
    if (value.comment === undefined) return value.name ?? null;
    return { ...(value.name === undefined ? {} : { name: value.name }), comment: value.comment };
  },
  { description: 'The name of the root field, or `{"name": …, "comment": …}`. `null` keeps the default.' },
);

/** Names of root fields by key. @throws SvcError also for duplicate names */
export function customRootFieldsCodec<K extends string>(keys: readonly K[]): Codec<ReadonlyMap<K, CustomRootField>> {
  return leaf(
    'CustomRootFields',
    (json, path) => {
      if (!isJsonObject(json)) throw wrongType('CustomRootFields', 'Object', json, path);
      refuseUnknownKeys(json, path, { keys });
      const fields = new Map<K, CustomRootField>();
      const names = new Set<string>();
      const duplicates = new Set<string>();
      for (const key of keys) {
        const field = customRootFieldCodec.decode(json[key] ?? null, at(path, key));
        if (field === undefined) continue;
        fields.set(key, field);
        if (field.name === undefined) continue;
        if (names.has(field.name)) duplicates.add(field.name);
        names.add(field.name);
      }
      if (duplicates.size > 0) {
        throw parseFailed(`the following custom root field names are duplicated: ${enumerate([...duplicates].sort())}`, path);
      }
      return fields;
    },
    (fields) => {
      const out: Record<string, Json> = {};
      for (const key of keys) {
        const field = fields.get(key);
        if (field !== undefined) out[key] = customRootFieldCodec.encode(field);
      }
      return out;
    },
    { description: `An object with any of the keys ${keys.map((key) => `\`${key}\``).join(', ')}.`, of: [customRootFieldCodec] },
  );
}

const columnConfigurationCodec: Codec<ColumnConfiguration> = object('ColumnConfig', {
  customName: optional(graphqlName),
  comment: optional(text),
});

const written = object('TableConfig', {
  customRootFields: defaulted(customRootFieldsCodec(ROOT_FIELD_KEYS), () => NO_TABLE_CONFIGURATION.customRootFields),
  customColumnNames: defaulted<ReadonlyMap<string, string>>(mapOf(graphqlName), () => new Map()),
  columnConfig: defaulted<ReadonlyMap<string, ColumnConfiguration>>(
    mapOf(columnConfigurationCodec),
    () => NO_TABLE_CONFIGURATION.columnConfig,
  ),
  customName: optional(graphqlName),
  identifier: optional(graphqlName),
  comment: optional(text),
});

/** Merges column settings of both spellings; `column_config` takes precedence. */
function mergeColumns(
  names: ReadonlyMap<string, string>,
  columns: ReadonlyMap<string, ColumnConfiguration>,
): ReadonlyMap<string, ColumnConfiguration> {
  const merged = new Map<string, ColumnConfiguration>();
  for (const [column, customName] of names) merged.set(column, { customName });
  for (const [column, configuration] of columns) {
    const both = { ...merged.get(column), ...configuration };
    if (both.customName !== undefined || both.comment !== undefined) merged.set(column, both);
  }
  return merged;
}

/** Returns true if the configuration is not empty. */
export function isConfigured(configuration: TableConfiguration): boolean {
  const { customName, customRootFields, columnConfig, comment } = configuration;
  return customName !== undefined || customRootFields.size > 0 || columnConfig.size > 0 || comment !== undefined;
}

/**
 * `custom_column_names` is an older spelling of `column_config`: it is merged when decoded, and encoded as well for readers that only
 * support it. `identifier` is an alias of `custom_name`.
 */
export const tableConfigurationCodec: Codec<TableConfiguration> = leaf(
  'TableConfig',
  (json, path) => {
    const { customRootFields, customColumnNames, columnConfig, customName, identifier, comment } = written.decode(json, path);
    const name = customName ?? identifier;
    const value: TableConfiguration = {
      ...(name === undefined ? {} : { customName: name }),
      customRootFields,
      columnConfig: mergeColumns(customColumnNames, columnConfig),
      ...(comment === undefined ? {} : { comment }),
    };
    return isConfigured(value) ? value : NO_TABLE_CONFIGURATION;
  },
  (value) => {
    const columnConfig = new Map([...value.columnConfig].sort(byKey));
    const customColumnNames = new Map<string, string>();
    for (const [column, { customName }] of columnConfig) if (customName !== undefined) customColumnNames.set(column, customName);
    return written.encode({
      ...value,
      columnConfig,
      customColumnNames,
      customName: value.customName,
      comment: value.comment,
      identifier: undefined,
    });
  },
  like(written, '`custom_column_names` is an older spelling of `column_config`.'),
);
