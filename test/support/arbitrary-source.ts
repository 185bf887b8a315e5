/** Arbitrary sources with tracked tables and functions. */
import fc from 'fast-check';
import { nameKey } from '../../src/catalog/catalog.ts';
import type { ComputedField } from '../../src/metadata/computed-field.ts';
import type { FunctionMetadata } from '../../src/metadata/function.ts';
import type { SourceMetadata } from '../../src/metadata/metadata.ts';
import { type PermissionEntry, QUERY_ROOT_FIELDS, SUBSCRIPTION_ROOT_FIELDS } from '../../src/metadata/permission.ts';
import type { ArrayUsing, ObjectUsing, Relationship } from '../../src/metadata/relationship.ts';
import type { SourceCustomization } from '../../src/metadata/source.ts';
import type { RemoteRelationship } from '../../src/metadata/remote-relationship.ts';
import type { CapturedOperation, EventTrigger } from '../../src/metadata/event-trigger.ts';
import type { TableMetadata } from '../../src/metadata/table.ts';
import { type CustomRootField, ROOT_FIELD_KEYS, type TableConfiguration } from '../../src/metadata/table-configuration.ts';
import type { ValidateInput } from '../../src/metadata/validate-input.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { comment, graphqlName, json, jsonObject, mapBy, name, names, qualifiedName, someNames, sparse } from './arbitrary-values.ts';

const manual = fc.record({
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

const remoteRelationship: fc.Arbitrary<RemoteRelationship> = fc.record({
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
const eventTrigger: fc.Arbitrary<EventTrigger> = sparse<EventTrigger>(
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
    queryTags: fc.record({
      disabled: fc.boolean(),
      format: fc.constantFrom('standard' as const, 'standard_prepended' as const, 'sqlcommenter' as const),
      omitRequestId: fc.boolean(),
    }),
    tables: mapBy(table, (item) => nameKey(item.table)),
    functions: mapBy(functionMetadata, (item) => nameKey(item.function)),
  },
  ['name', 'kind', 'configuration', 'customization', 'tables', 'functions'],
);
