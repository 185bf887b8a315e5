/** Arbitrary metadata documents for property tests. */
import type { DataType } from '../../src/metadata/opentelemetry.ts';
import fc from 'fast-check';
import type { ApiLimits, Limit } from '../../src/metadata/api-limits.ts';
import type { CronTrigger } from '../../src/metadata/cron-trigger.ts';
import type { QueryCollection } from '../../src/metadata/query-collection.ts';
import { REST_METHODS, type RestEndpoint } from '../../src/metadata/rest-endpoint.ts';
import type { Metadata } from '../../src/metadata/metadata.ts';
import { tlsAllowlistKey } from '../../src/metadata/network.ts';
import type { Renaming, RemoteSchema } from '../../src/metadata/remote-schema.ts';
import { type UnknownSource, unknownSourceOf } from '../../src/metadata/unknown-source.ts';
import type { Json } from '../../src/util/json.ts';
import { action, customTypes } from './arbitrary-actions.ts';
import { source } from './arbitrary-source.ts';
import { comment, graphqlName, json, mapBy, name, names, someNames, sparse } from './arbitrary-values.ts';
import { testKinds } from './kinds.ts';
import type { UnknownKey } from '../../src/metadata/unknown-keys.ts';

/** An empty object, or a key for a feature that the service does not have. */
function unknown(key: string, value: Json): fc.Arbitrary<readonly UnknownKey[] | undefined> {
  return fc.constantFrom(undefined, [{ path: [key], value, problem: `the key "${key}" is not supported` }]);
}

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

/** Longer than the names of the other sources. */
const unknownSource = fc
  .tuple(fc.constantFrom('of a kind 1', 'of a kind 2'), json)
  .map(([name, tables]) => unknownSourceOf({ name, kind: 'none', tables, other: [] }, testKinds) as UnknownSource);

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
