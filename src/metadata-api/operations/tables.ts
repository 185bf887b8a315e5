import { nameKey } from '../../catalog/catalog.ts';
import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { anyJson, bool, type Codec, defaulted, leaf, like, object, optional, required } from '../../metadata/codec.ts';
import { type ExtFederationConfig, extFederationConfigCodec } from '../../metadata/ext-federation.ts';
import { withoutTable, withTable } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { newTable, type TableMetadata } from '../../metadata/table.ts';
import { NO_TABLE_CONFIGURATION, type TableConfiguration, tableConfigurationCodec } from '../../metadata/table-configuration.ts';
import { printName } from '../../metadata/table-name.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { isJsonObject, type Json } from '../../util/json.ts';
import { dropDependents } from '../drop-dependents.ts';
import {
  BROKEN_BY_DROP,
  define,
  type Documentation,
  type EditContext,
  everyKind,
  type OperationDefinition,
  type OperationGroup,
  perKind,
} from '../operation.ts';
import { BAD_NAME, BREAKS_OTHERS, DEPENDENTS, INCONSISTENT, NAME_TAKEN, refused, SOURCE_ERRORS, TABLE_ERRORS } from '../operation-error.ts';
import { orBareName } from '../bare-name.ts';
import { unnamedTable } from '../unnamed-tables.ts';
import { editTargetTable, sourceArgument, type TableTarget, targetSource } from '../target.ts';

export interface TrackTable extends TableTarget {
  readonly configuration: TableConfiguration;
  readonly isEnum: boolean;
  readonly extFederationConfig?: ExtFederationConfig | undefined;
}

export interface UntrackTable extends TableTarget {
  readonly cascade: boolean;
}

export function trackTableArguments(backend: Backend): Codec<TrackTable> {
  const enums: Codec<boolean> = leaf(
    bool.name,
    (json, path) => {
      const value = bool.decode(json, path);
      if (value && !backend.capabilities.enumTables)
        throw new SvcError('not-supported', `${backend.kind} sources have no enum tables`, { path });
      return value;
    },
    (value) => value,
    like(bool),
  );
  const long = object('TrackTable', {
    table: required(backend.tableName),
    source: sourceArgument,
    configuration: defaulted(tableConfigurationCodec, () => NO_TABLE_CONFIGURATION),
    isEnum: defaulted(enums, () => false),
    extFederationConfig: optional(extFederationConfigCodec),
  });
  return orBareName<TrackTable>(
    leaf(
      long.name,
      (json, path) => long.decode(withSchemaInside(json), path),
      (value) => long.encode(value),
      like(long),
    ),
    'table',
    backend.tableName,
    (table) => ({ table, source: 'default', configuration: NO_TABLE_CONFIGURATION, isEnum: false }),
  );
}

/** Converts an older form, with `schema` next to a bare table name, to the current one. */
function withSchemaInside(json: Json): Json {
  if (!isJsonObject(json) || typeof json['table'] !== 'string' || typeof json['schema'] !== 'string') return json;
  const { table, schema, ...rest } = json;
  return { ...rest, table: { schema: schema as Json, name: table as Json } };
}

export function untrackTableArguments(backend: Backend): Codec<UntrackTable> {
  const long = object('UntrackTable', {
    table: required(backend.tableName),
    source: sourceArgument,
    cascade: defaulted(bool, () => false),
  });
  return orBareName<UntrackTable>(long, 'table', backend.tableName, (table) => ({ table, source: 'default', cascade: false }));
}

function withFederation({ extFederationConfig: _, ...table }: TableMetadata, config: ExtFederationConfig | undefined): TableMetadata {
  return config === undefined ? table : { ...table, extFederationConfig: config };
}

/** Adds a table to the metadata. @throws SvcError if a table or function with its name is tracked, or the source has another kind */
export function trackTable(metadata: Metadata, args: TrackTable, backend: Backend, context: EditContext): Metadata {
  const source = targetSource(metadata, args.source, backend, context.snapshot);
  const key = nameKey(args.table);
  const printed = printName(args.table, backend.defaultSchema);
  if (source.tables.has(key)) throw new SvcError('already-tracked', `view/table already tracked: "${printed}"`);
  if (source.functions.has(key)) throw new SvcError('not-supported', `function with name "${printed}" already exists`);
  return withTable(metadata, args.source, withFederation(newTable(args.table, args.configuration, args.isEnum), args.extFederationConfig));
}

/** Removes tables from the metadata. Dependencies between them do not matter. */
export function untrackTables(metadata: Metadata, items: readonly UntrackTable[], backend: Backend, { snapshot }: EditContext): Metadata {
  for (const { source, table } of items) {
    if (targetSource(metadata, source, backend, snapshot).tables.has(nameKey(table))) continue;
    throw new SvcError('already-untracked', `view/table already untracked: "${printName(table, backend.defaultSchema)}"`);
  }
  const dropped = items.map(({ source, table }) => ({ kind: 'table', source, table }) as const);
  const cascade = items.every((item) => item.cascade);
  return items.reduce(
    (edited, { source, table }) => withoutTable(edited, source, nameKey(table)),
    dropDependents(metadata, dropped, cascade, snapshot),
  );
}

const AUTHOR = { schema: 'public', name: 'author' };

const track = perKind('track_table', everyKind, (backend) =>
  define({
    args: trackTableArguments(backend),
    changes: 'metadata',
    errors: [
      ...SOURCE_ERRORS,
      refused('already-tracked', 'the table is already tracked'),
      refused('not-supported', 'a tracked function has the same name'),
      ...(backend.capabilities.enumTables ? [] : [refused('not-supported', '`is_enum` is true')]),
      INCONSISTENT,
      BAD_NAME,
      NAME_TAKEN,
    ],
    documentation: { summary: 'Tracks a table or view: adds it to the GraphQL API.', example: { source: 'default', table: AUTHOR } },
    edit: (metadata, args, context) => trackTable(metadata, args, backend, context),
    refresh: ({ source, table }) => ({ tables: [{ source, name: table }] }),
    edited: ({ source, table }) => [objectId.table(source, table)],
    warnings: (args) => unnamedTable(args, backend.defaultSchema),
  }),
);

const untrack = perKind('untrack_table', everyKind, (backend) =>
  define({
    args: untrackTableArguments(backend),
    changes: 'metadata',
    errors: [...SOURCE_ERRORS, refused('already-untracked', 'the table is not tracked'), DEPENDENTS, BREAKS_OTHERS],
    documentation: {
      summary: 'Untracks a table: removes it from the GraphQL API, with its relationships, computed fields and permissions.',
      example: { source: 'default', table: AUTHOR, cascade: true },
    },
    readsDependencies: true,
    othersBroke: BROKEN_BY_DROP,
    edit: (metadata, args, context) => untrackTables(metadata, [args], backend, context),
  }),
);

type CustomizeTable = TableTarget & { readonly configuration: TableConfiguration };

function customization(backend: Backend, args: Codec<CustomizeTable>, documentation: Documentation): OperationDefinition<CustomizeTable> {
  return define({
    args,
    changes: 'metadata',
    errors: [...TABLE_ERRORS, INCONSISTENT, BAD_NAME, NAME_TAKEN, BREAKS_OTHERS],
    documentation,
    edit: (metadata, target, { snapshot }) =>
      editTargetTable(metadata, target, backend, snapshot, (table) => ({ ...table, configuration: target.configuration })),
    edited: ({ source, table }) => [objectId.table(source, table)],
    warnings: (args) => unnamedTable(args, backend.defaultSchema),
  });
}

const setCustomization = perKind('set_table_customization', everyKind, (backend) =>
  customization(
    backend,
    object('SetTableCustomization', {
      table: required(backend.tableName),
      source: sourceArgument,
      configuration: defaulted(tableConfigurationCodec, () => NO_TABLE_CONFIGURATION),
    }),
    {
      summary: 'Replaces the GraphQL names and comments of a table and its columns.',
      example: {
        source: 'default',
        table: AUTHOR,
        configuration: { custom_name: 'writer', column_config: { id: { custom_name: 'writerId' } } },
      },
    },
  ),
);

/** Older form of `set_table_customization`, with separate arguments. */
export const setCustomFields = perKind('set_table_custom_fields', everyKind, (backend) => {
  const written = object('SetTableCustomFields', {
    table: required(backend.tableName),
    source: sourceArgument,
    customRootFields: optional(anyJson),
    customColumnNames: optional(anyJson),
  });
  return customization(
    backend,
    leaf(
      written.name,
      (json, path) => {
        const { table, source, customRootFields, customColumnNames } = written.decode(json, path);
        const configuration: Record<string, Json> = {};
        if (customRootFields !== undefined) configuration['custom_root_fields'] = customRootFields;
        if (customColumnNames !== undefined) configuration['custom_column_names'] = customColumnNames;
        return { table, source, configuration: tableConfigurationCodec.decode(configuration, path) };
      },
      ({ table, source }) => written.encode({ table, source, customRootFields: undefined, customColumnNames: undefined }),
      like(written),
    ),
    {
      summary: 'Replaces the GraphQL names of a table and its columns.',
      example: { source: 'default', table: AUTHOR, custom_root_fields: { select: 'writers' }, custom_column_names: { id: 'writerId' } },
    },
  );
});

const setIsEnum = perKind(
  'set_table_is_enum',
  (backend) => backend.capabilities.enumTables,
  (backend) =>
    define({
      args: object('SetTableIsEnum', { table: required(backend.tableName), source: sourceArgument, isEnum: required(bool) }),
      changes: 'metadata',
      errors: [...TABLE_ERRORS, INCONSISTENT, BREAKS_OTHERS],
      documentation: {
        summary: 'Makes a table an enum table, whose rows are the values of a GraphQL enum, or a plain table again.',
        example: { source: 'default', table: { schema: 'public', name: 'color' }, is_enum: true },
      },
      edit: (metadata, target, { snapshot }) =>
        editTargetTable(metadata, target, backend, snapshot, (table) => ({ ...table, isEnum: target.isEnum })),
      refresh: ({ source, table }) => ({ tables: [{ source, name: table }] }),
      edited: ({ source, table }) => [objectId.table(source, table)],
    }),
);

const setFederation = perKind('set_ext_federation_config', everyKind, (backend) =>
  define({
    args: object('SetExtFederationConfig', {
      table: required(backend.tableName),
      source: sourceArgument,
      extFederationConfig: optional(extFederationConfigCodec),
    }),
    changes: 'metadata',
    errors: [...TABLE_ERRORS, INCONSISTENT],
    documentation: {
      summary:
        'Makes the rows of a table entities of an Apollo Federation graph; null ends that. Only has an effect if federation is enabled.',
      example: { source: 'default', table: AUTHOR, ext_federation_config: { enable: 'v1' } },
    },
    edit: (metadata, target, { snapshot }) =>
      editTargetTable(metadata, target, backend, snapshot, (table) => withFederation(table, target.extFederationConfig)),
    edited: ({ source, table }) => [objectId.table(source, table)],
  }),
);

export const tableOperations: readonly OperationGroup[] = [track, untrack, setCustomization, setIsEnum, setFederation];
