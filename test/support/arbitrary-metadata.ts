/** Arbitrary documents, for properties that hold for all of them. */
import type { DataType } from '../../src/metadata/opentelemetry.ts';
import fc from 'fast-check';
import { nameKey, type QualifiedName } from '../../src/catalog/catalog.ts';
import type { Action, ActionDefinition, ActionPermission } from '../../src/metadata/action.ts';
import type { ApiLimits, Limit } from '../../src/metadata/api-limits.ts';
import type { ComputedField } from '../../src/metadata/computed-field.ts';
import type { CronTrigger } from '../../src/metadata/cron-trigger.ts';
import type {
  CustomEnum,
  CustomEnumValue,
  CustomField,
  CustomInputObject,
  CustomObject,
  CustomRelationship,
  CustomScalar,
  CustomTypes,
} from '../../src/metadata/custom-types.ts';
import type { GraphqlType } from '../../src/metadata/graphql-type.ts';
import type { QueryCollection } from '../../src/metadata/query-collection.ts';
import { REST_METHODS, type RestEndpoint } from '../../src/metadata/rest-endpoint.ts';
import type { FunctionMetadata } from '../../src/metadata/function.ts';
import type { UnknownKey } from '../../src/metadata/kept.ts';
import type { Metadata, SourceMetadata } from '../../src/metadata/metadata.ts';
import { tlsAllowlistKey } from '../../src/metadata/network.ts';
import { type PermissionEntry, QUERY_ROOT_FIELDS, SUBSCRIPTION_ROOT_FIELDS } from '../../src/metadata/permission.ts';
import type { ArrayUsing, ObjectUsing, Relationship } from '../../src/metadata/relationship.ts';
import type { Renaming, RemoteSchema } from '../../src/metadata/remote-schema.ts';
import type { SourceCustomization } from '../../src/metadata/source.ts';
import type { RemoteRelationship } from '../../src/metadata/remote-relationship.ts';
import type { CapturedOperation, EventTrigger } from '../../src/metadata/event-trigger.ts';
import type { TableMetadata } from '../../src/metadata/table.ts';
import { type CustomRootField, ROOT_FIELD_KEYS, type TableConfiguration } from '../../src/metadata/table-configuration.ts';
import type { RequestTransform, ResponseTransform } from '../../src/metadata/transform.ts';
import type { ValidateInput } from '../../src/metadata/validate-input.ts';
import { type UnknownSource, unknownSourceOf } from '../../src/metadata/unknown-source.ts';
import { type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import { testKinds } from './kinds.ts';

/** Leaves `undefined` values out, as decoders do. */
function sparse<T extends object>(
  model: { readonly [K in Exclude<keyof T, 'unknownKeys'>]-?: fc.Arbitrary<T[K]> },
  required: readonly (keyof T)[],
): fc.Arbitrary<T> {
  return fc.record(model as unknown as { [K in keyof T]: fc.Arbitrary<T[K]> }, {
    requiredKeys: required as (keyof T)[],
  }) as fc.Arbitrary<T>;
}

/** Nothing, or a key that says what the service cannot do. */
function unknown(key: string, value: Json): fc.Arbitrary<readonly UnknownKey[] | undefined> {
  return fc.constantFrom(undefined, [{ path: [key], value, complaint: `the key "${key}" is not supported` }]);
}

/** Anything a quoted identifier may be. */
export const name = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }).filter((text) => !text.includes('\0'));
const graphqlName = fc.stringMatching(/^[_A-Za-z][_0-9A-Za-z]{0,6}$/);
const comment = fc.string({ maxLength: 6 });
const json: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 2 }).map((value) => parseJson(JSON.stringify(value)));
const jsonObject = fc.dictionary(name, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }).map((value) => parseJson(JSON.stringify(value)));
export const qualifiedName: fc.Arbitrary<QualifiedName> = fc.record({ schema: fc.oneof(fc.constant('public'), name), name });
const names = fc.uniqueArray(name, { maxLength: 3 });
const someNames = fc.uniqueArray(name, { minLength: 1, maxLength: 3 });

function mapBy<T>(item: fc.Arbitrary<T>, key: (item: T) => string, maxLength = 2): fc.Arbitrary<ReadonlyMap<string, T>> {
  return fc.uniqueArray(item, { maxLength, selector: key }).map((items) => new Map(items.map((one) => [key(one), one])));
}

export const manual = fc.record({
  kind: fc.constant('manual' as const),
  manual: fc.record({
    remoteTable: qualifiedName,
    columnMapping: fc
      .uniqueArray(fc.tuple(name, name), { maxLength: 2, selector: ([key]) => key })
      .map((pairs): ReadonlyMap<string, string> => new Map(pairs)),
    insertionOrder: fc.constantFrom('before_parent' as const, 'after_parent' as const, null),
  }),
});
const remoteColumns = fc.record({ kind: fc.constant('remote-columns' as const), table: qualifiedName, columns: someNames });
export const arrayUsing: fc.Arbitrary<ArrayUsing> = fc.oneof(manual, remoteColumns);
export const objectUsing: fc.Arbitrary<ObjectUsing> = fc.oneof(
  manual,
  remoteColumns,
  fc.record({ kind: fc.constant('own-columns' as const), columns: someNames }),
);

function relationship<U>(using: fc.Arbitrary<U>): fc.Arbitrary<Relationship<U>> {
  return sparse<Relationship<U>>({ name, using, comment }, ['name', 'using']);
}

const customRootField: fc.Arbitrary<CustomRootField> = fc.oneof(
  graphqlName.map((given) => ({ name: given })),
  fc.record({ name: graphqlName, comment: fc.option(comment) }),
  fc.record({ comment: fc.option(comment) }),
);

function customRootFields<K extends string>(keys: readonly K[]): fc.Arbitrary<ReadonlyMap<K, CustomRootField>> {
  const entry = fc.tuple(fc.constantFrom(...keys), customRootField);
  return fc
    .uniqueArray(entry, { maxLength: 3, selector: ([key]) => key })
    .map((pairs) => new Map(pairs))
    .filter((fields) => {
      const given = [...fields.values()].flatMap((field) => field.name ?? []);
      return new Set(given).size === given.length;
    });
}

export const tableConfiguration: fc.Arbitrary<TableConfiguration> = sparse<TableConfiguration>(
  {
    customName: graphqlName,
    customRootFields: customRootFields(ROOT_FIELD_KEYS),
    columnConfig: fc
      .uniqueArray(
        fc.tuple(
          name,
          fc.oneof(fc.record({ customName: graphqlName }), fc.record({ comment }), fc.record({ customName: graphqlName, comment })),
        ),
        {
          maxLength: 2,
          selector: ([column]) => column,
        },
      )
      .map((pairs) => new Map(pairs)),
    comment,
  },
  ['customRootFields', 'columnConfig'],
);

export const columns = fc.oneof(fc.constant('*' as const), names);
const presets = fc
  .uniqueArray(fc.tuple(name, json), { maxLength: 2, selector: ([column]) => column })
  .map((pairs): ReadonlyMap<string, Json> => new Map(pairs));
const validateInput = fc.constantFrom<ValidateInput>(
  { type: 'http', definition: { url: 'http://example.org', headers: [], timeout: 3, forwardClientHeaders: false } },
  {
    type: 'http',
    definition: {
      url: '{{HOOKS}}/x',
      headers: [
        { name: 'a', value: 'b' },
        { name: 'c', valueFromEnv: 'D' },
      ],
      timeout: 10,
      forwardClientHeaders: true,
    },
  },
);

function entries<P>(permission: fc.Arbitrary<P>): fc.Arbitrary<ReadonlyMap<string, PermissionEntry<P>>> {
  return mapBy(sparse<PermissionEntry<P>>({ role: name, permission, comment }, ['role', 'permission']), ({ role }) => role);
}

export const computedField: fc.Arbitrary<ComputedField> = sparse<Omit<ComputedField, 'argumentMapping' | 'returnTable'>>(
  { name, function: qualifiedName, tableArgument: name, sessionArgument: name, comment },
  ['name', 'function'],
);

export const computedFieldOfColumns: fc.Arbitrary<ComputedField> = sparse<Omit<ComputedField, 'tableArgument' | 'sessionArgument'>>(
  { name, function: qualifiedName, argumentMapping: fc.constant(new Map([['one', 'id']])), returnTable: qualifiedName, comment },
  ['name', 'function', 'argumentMapping', 'returnTable'],
);

const graphqlArguments = jsonObject.map((value) => value as JsonObject);

export const remoteRelationship: fc.Arbitrary<RemoteRelationship> = fc.record({
  name,
  definition: fc.oneof(
    fc.record({
      kind: fc.constant('source' as const),
      relationshipType: fc.constantFrom('object' as const, 'array' as const),
      source: name,
      table: fc.oneof(name, fc.record({ schema: name, name })),
      fieldMapping: fc.uniqueArray(fc.tuple(name, name), { maxLength: 2, selector: ([from]) => from }).map((pairs) => new Map(pairs)),
    }),
    fc.record({
      kind: fc.constant('remote-schema' as const),
      remoteSchema: name,
      lhsFields: fc.array(name, { maxLength: 2 }),
      path: fc.array(fc.record({ name: graphqlName, arguments: graphqlArguments }), { minLength: 1, maxLength: 3 }),
      legacy: fc.boolean(),
    }),
  ),
});

const capturedOperation = sparse<CapturedOperation>(
  { columns: fc.oneof(fc.constant('*' as const), someNames), payload: fc.oneof(fc.constant('*' as const), someNames) },
  ['columns'],
);
export const eventTrigger: fc.Arbitrary<EventTrigger> = sparse<EventTrigger>(
  {
    name,
    insert: capturedOperation,
    update: capturedOperation,
    delete: capturedOperation,
    enableManual: fc.constant(true),
    webhook: fc.oneof(
      fc.constant({ kind: 'template' as const, text: '{{HOOKS}}/user' }),
      fc.constant({ kind: 'environment' as const, name: 'HOOK' }),
    ),
    retryConf: fc.constantFrom({ numRetries: 0, intervalSec: 10, timeoutSec: 60 }, { numRetries: 3, intervalSec: 1 }),
    headers: fc.constantFrom([], [{ name: 'a', value: 'b' }], [{ name: 'c', valueFromEnv: 'D' }]),
    cleanupConfig: fc.constant({
      schedule: '0 * * * *',
      batchSize: 10,
      clearOlderThan: 1,
      timeout: 2,
      cleanInvocationLogs: true,
      paused: false,
    }),
    requestTransform: fc.constant({ version: 2 as const, method: 'PUT' }),
    responseTransform: fc.constant({ version: 2 as const }),
    triggerOnReplication: fc.boolean(),
    ordering: fc.oneof(fc.constant('row' as const), someNames),
    maxConcurrency: fc.nat(999_999).map((n) => n + 1),
    signature: fc.constant({ secretFromEnv: 'SECRET' }),
  },
  ['name', 'enableManual', 'webhook', 'retryConf', 'headers'],
);

export const table: fc.Arbitrary<TableMetadata> = fc.record({
  table: qualifiedName,
  isEnum: fc.boolean(),
  configuration: tableConfiguration,
  objectRelationships: mapBy(relationship(objectUsing), (item) => item.name),
  arrayRelationships: mapBy(relationship(arrayUsing), (item) => item.name),
  computedFields: mapBy(computedField, (item) => item.name),
  remoteRelationships: mapBy(remoteRelationship, (item) => item.name),
  insertPermissions: entries(
    sparse({ columns, check: jsonObject, set: presets, backendOnly: fc.boolean(), validateInput }, ['check', 'set', 'backendOnly']),
  ),
  selectPermissions: entries(
    sparse(
      {
        columns,
        computedFields: names,
        filter: jsonObject,
        limit: fc.nat(),
        allowAggregations: fc.boolean(),
        queryRootFields: fc.subarray([...QUERY_ROOT_FIELDS]),
        subscriptionRootFields: fc.subarray([...SUBSCRIPTION_ROOT_FIELDS]),
      },
      ['columns', 'computedFields', 'filter', 'allowAggregations'],
    ),
  ),
  updatePermissions: entries(
    sparse({ columns, filter: jsonObject, check: fc.option(jsonObject), set: presets, backendOnly: fc.boolean(), validateInput }, [
      'columns',
      'filter',
      'check',
      'set',
      'backendOnly',
    ]),
  ),
  deletePermissions: entries(sparse({ filter: jsonObject, backendOnly: fc.boolean(), validateInput }, ['filter', 'backendOnly'])),
  eventTriggers: mapBy(eventTrigger, (item) => item.name),
});

export const functionMetadata: fc.Arbitrary<FunctionMetadata> = sparse<FunctionMetadata>(
  {
    function: qualifiedName,
    configuration: sparse(
      {
        customName: graphqlName,
        customRootFields: customRootFields(['function', 'function_aggregate'] as const),
        sessionArgument: name,
        exposedAs: fc.constantFrom('query' as const, 'mutation' as const),
      },
      ['customRootFields'],
    ),
    permissions: names.map((roles) => [...roles].sort()),
    comment,
  },
  ['function', 'configuration', 'permissions'],
);

export const customization: fc.Arbitrary<SourceCustomization> = sparse<SourceCustomization>(
  {
    rootFields: sparse({ namespace: graphqlName, prefix: graphqlName, suffix: graphqlName }, []),
    typeNames: sparse({ prefix: graphqlName, suffix: graphqlName }, []),
    namingConvention: fc.constantFrom('svc-default' as const, 'graphql-default' as const),
  },
  ['rootFields', 'typeNames'],
);

export const source: fc.Arbitrary<SourceMetadata> = sparse<SourceMetadata>(
  {
    name,
    kind: fc.constantFrom('pg', 'dwh'),
    configuration: json.map((connectionInfo) => ({ connectionInfo })),
    customization,
    healthCheck: fc.record({
      test: fc.record({ sql: name }),
      interval: fc.integer({ min: 1, max: 99 }),
      retries: fc.nat(9),
      retryInterval: fc.nat(9),
      timeout: fc.integer({ min: 1, max: 99 }),
    }),
    tables: mapBy(table, (item) => nameKey(item.table)),
    functions: mapBy(functionMetadata, (item) => nameKey(item.function)),
  },
  ['name', 'kind', 'configuration', 'customization', 'tables', 'functions'],
);

const positive = fc.integer({ min: 1, max: 999 });
const limitOf = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<Limit<T>> =>
  fc.record(
    { global: item, perRole: fc.dictionary(name, item).map((perRole) => new Map(Object.entries(perRole))) },
    { requiredKeys: ['perRole'] },
  );
export const apiLimits: fc.Arbitrary<ApiLimits> = fc.record(
  {
    disabled: fc.boolean(),
    depthLimit: limitOf(positive),
    nodeLimit: limitOf(positive),
    timeLimit: limitOf(positive),
    batchLimit: limitOf(positive),
    rateLimit: limitOf(
      fc.record(
        { maxReqsPerMin: positive, uniqueParams: fc.constantFrom<'IP' | readonly string[]>('IP', ['x-svc-org-id', 'x-svc-user-id']) },
        { requiredKeys: ['maxReqsPerMin'] },
      ),
    ),
    concurrencyLimit: limitOf(positive),
  },
  { requiredKeys: ['disabled'] },
);

export const queryCollection: fc.Arbitrary<QueryCollection> = sparse<QueryCollection>(
  { name, queries: mapBy(fc.record({ name, query: fc.string({ maxLength: 6 }) }), (item) => item.name), comment },
  ['name', 'queries'],
);

export const restEndpoint: fc.Arbitrary<RestEndpoint> = fc.record({
  name,
  url: name,
  methods: fc.subarray([...REST_METHODS], { minLength: 1 }),
  definition: fc.record({ query: fc.record({ collectionName: name, queryName: name }) }),
  comment: fc.option(comment),
});

const mapping = fc.dictionary(graphqlName, graphqlName, { maxKeys: 2 }).map((names) => new Map(Object.entries(names)));
const renaming = sparse<Renaming>({ prefix: graphqlName, suffix: graphqlName, mapping }, ['mapping']);

export const remoteSchema: fc.Arbitrary<RemoteSchema> = sparse<RemoteSchema>(
  {
    name,
    definition: fc.record({
      address: fc.oneof(
        fc.record({ kind: fc.constant('template' as const), text: name }),
        fc.record({ kind: fc.constant('environment' as const), name }),
      ),
      timeout: fc.integer({ min: 1, max: 99 }),
      headers: fc.constantFrom([], [{ name: 'a', value: 'b' }], [{ name: 'c', valueFromEnv: 'D' }]),
      forwardClientHeaders: fc.boolean(),
      customization: fc.option(
        fc.record({
          rootFieldsNamespace: fc.option(graphqlName, { nil: undefined }),
          typeNames: fc.option(renaming, { nil: undefined }),
          fieldNames: fc.array(
            fc.tuple(graphqlName, renaming).map(([parentType, names]) => ({ parentType, ...names })),
            { maxLength: 2 },
          ),
        }),
        { nil: undefined },
      ),
    }),
    comment,
    permissions: mapBy(fc.record({ role: name, schema: name }), ({ role }) => role),
    remoteRelationships: mapBy(
      fc.record({
        typeName: graphqlName,
        relationships: mapBy(
          fc.record({
            name,
            definition: fc.record({
              kind: fc.constant('source' as const),
              relationshipType: fc.constantFrom('object' as const, 'array' as const),
              source: name,
              table: json,
              fieldMapping: fc.dictionary(name, name, { maxKeys: 2 }).map((fields) => new Map(Object.entries(fields))),
            }),
          }),
          (item) => item.name,
        ),
      }),
      ({ typeName }) => typeName,
    ),
  },
  ['name', 'definition', 'permissions', 'remoteRelationships'],
);

/** Longer names than those of other sources. */
const unknownSource = fc
  .tuple(fc.constantFrom('of a kind 1', 'of a kind 2'), json)
  .map(([name, tables]) => unknownSourceOf({ name, kind: 'none', tables, other: [] }, testKinds) as UnknownSource);

const graphqlType: fc.Arbitrary<GraphqlType> = fc.letrec<{ type: GraphqlType }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 2 },
    fc.record({ kind: fc.constant('named' as const), name: graphqlName, nonNull: fc.boolean() }),
    fc.record({ kind: fc.constant('list' as const), item: tie('type'), nonNull: fc.boolean() }),
  ),
})).type;

const customField: fc.Arbitrary<CustomField> = sparse<CustomField>({ name: graphqlName, type: graphqlType, description: comment }, [
  'name',
  'type',
]);

const action: fc.Arbitrary<Action> = sparse<Action>(
  {
    name: graphqlName,
    definition: sparse<ActionDefinition>(
      {
        arguments: fc.array(customField, { maxLength: 2 }),
        outputType: graphqlType,
        kind: fc.constantFrom('query', 'synchronous', 'asynchronous'),
        handler: name,
        headers: fc.array(fc.record({ name, valueFromEnv: fc.constant('KEY') }), { maxLength: 2 }),
        forwardClientHeaders: fc.boolean(),
        ignoredClientHeaders: names,
        timeout: fc.nat(100),
        signature: fc.constant({ secretFromEnv: 'SECRET' }),
        retryConf: fc.record({ numRetries: fc.nat(3), intervalSec: fc.nat(3) }),
        requestTransform: fc.constant<RequestTransform>({ version: 2, url: '{{$base_url}}', body: { action: 'remove' } }),
        responseTransform: fc.constant<ResponseTransform>({ version: 1, body: { action: 'transform', template: '{{$body}}' } }),
      },
      ['arguments', 'outputType', 'kind', 'handler', 'headers', 'forwardClientHeaders', 'timeout'],
    ).map(({ retryConf, ...rest }) => (rest.kind === 'asynchronous' && retryConf !== undefined ? { ...rest, retryConf } : rest)),
    comment,
    permissions: mapBy(sparse<ActionPermission>({ role: name, comment }, ['role']), ({ role }) => role),
  },
  ['name', 'definition', 'permissions'],
);

const some = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> => fc.array(item, { minLength: 1, maxLength: 2 });
const few = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> => fc.array(item, { maxLength: 2 });

const customRelationship: fc.Arbitrary<CustomRelationship> = fc.record({
  name: graphqlName,
  definition: fc.record({
    kind: fc.constant('source' as const),
    relationshipType: fc.constantFrom('object' as const, 'array' as const),
    source: name,
    table: json,
    fieldMapping: fc.dictionary(name, name, { maxKeys: 2 }).map((fields) => new Map(Object.entries(fields))),
  }),
  plain: fc.boolean(),
});

const customTypes: fc.Arbitrary<CustomTypes> = fc.record({
  inputObjects: few(sparse<CustomInputObject>({ name: graphqlName, description: comment, fields: some(customField) }, ['name', 'fields'])),
  objects: few(
    sparse<CustomObject>({ name: graphqlName, description: comment, fields: some(customField), relationships: few(customRelationship) }, [
      'name',
      'fields',
      'relationships',
    ]),
  ),
  scalars: few(sparse<CustomScalar>({ name: graphqlName, description: comment }, ['name'])),
  enums: few(
    sparse<CustomEnum>(
      {
        name: graphqlName,
        description: comment,
        values: some(sparse<CustomEnumValue>({ value: graphqlName, description: comment, isDeprecated: fc.boolean() }, ['value'])),
      },
      ['name', 'values'],
    ),
  ),
});

const atMost = (most: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: most });

const cronTrigger: fc.Arbitrary<CronTrigger> = sparse<CronTrigger>(
  {
    name,
    webhook: name,
    schedule: fc.constantFrom('* * * * *', '0 3 * * 1-5', '*/5 1,2 29 2 0'),
    includeInMetadata: fc.boolean(),
    payload: json.filter((value) => value !== null),
    retryConf: fc.record({
      numRetries: atMost(3),
      intervalSeconds: atMost(100),
      timeoutSeconds: atMost(100).map((seconds) => seconds + 1),
      toleranceSeconds: atMost(100),
    }),
    headers: fc.array(fc.record({ name, valueFromEnv: graphqlName }), { maxLength: 2 }),
    comment,
    requestTransform: fc.constant({ version: 2 as const, method: 'PUT' }),
    responseTransform: fc.constant({ version: 1 as const }),
    signature: fc.record({ secretFromEnv: graphqlName }),
  },
  ['name', 'webhook', 'schedule', 'includeInMetadata', 'retryConf', 'headers'],
);

export const metadata: fc.Arbitrary<Metadata> = fc.record({
  sources: mapBy(source, (item) => item.name),
  unknownSources: mapBy(unknownSource, (item) => item.name),
  remoteSchemas: mapBy(remoteSchema, (item) => item.name),
  queryCollections: mapBy(queryCollection, (item) => item.name),
  allowlist: mapBy(fc.record({ collection: name, scope: fc.option(someNames) }), (item) => item.collection),
  restEndpoints: mapBy(restEndpoint, (item) => item.name),
  actions: mapBy(action, (item) => item.name),
  customTypes,
  cronTriggers: mapBy(cronTrigger, (item) => item.name).map(
    (triggers) => new Map([...triggers].filter(([, { includeInMetadata }]) => includeInMetadata)),
  ),
  inheritedRoles: mapBy(
    fc.uniqueArray(name, { minLength: 3, maxLength: 4 }).map(([roleName = '', ...roleSet]) => ({ roleName, roleSet })),
    (item) => item.roleName,
  ),
  introspection: names.map((disabledForRoles) => ({ disabledForRoles })),
  apiLimits: fc.option(apiLimits),
  openTelemetry: fc.option(
    fc.record({
      status: fc.constantFrom('disabled', '{{STATUS}}'),
      dataTypes: fc.constantFrom<readonly DataType[]>([], ['traces'], ['traces', 'logs']),
      exporterOtlp: fc.record({
        protocol: fc.constant('http/protobuf' as const),
        otlpTracesEndpoint: fc.constant('http://collector:4318/v1/traces'),
        headers: fc.constant([]),
        resourceAttributes: fc.constantFrom([], [{ name: 'a', value: '{{B}}' }]),
        tracesPropagators: fc.constant([]),
      }),
      batchSpanProcessor: fc.record({ maxExportBatchSize: fc.constantFrom(1, 512) }),
    }),
  ),
  network: mapBy(
    fc.record({
      host: name,
      suffix: fc.option(fc.constantFrom('443', '8443')),
      permissions: fc.option(fc.constantFrom<readonly 'self-signed'[]>([], ['self-signed'])),
    }),
    tlsAllowlistKey,
  ).map((tlsAllowlist) => ({ tlsAllowlist })),
  unknownKeys: unknown('metrics_config', [{ name: 'r', exporter_otlp: 'http://example.org' }]),
});
