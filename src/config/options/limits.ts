/** Limits of requests, responses and caches. */
import { optionsOf } from '../option.ts';
import { wholeNumber, seconds } from '../option-types.ts';

const limits = optionsOf('Limits');

export const limitOptions = {
  requestBodyLimit: limits('request-body-limit', wholeNumber(1, 1_073_741_824), 16_777_216, 'Maximum size of a request body, in bytes.'),
  requestValueLimit: limits(
    'request-value-limit',
    wholeNumber(1),
    200_000,
    'Maximum number of values in the JSON of a GraphQL request, per megabyte or part of it. An object counts as 4, a string with escapes and a number with a decimal point as 2, a number that a double cannot hold exactly as 2 more, and its digits beyond 100 as 1 each. After 1000 object shapes, a key that makes a new shape counts as 10.',
  ),
  queryDepthLimit: limits('query-depth-limit', wholeNumber(1, 1000), 100, 'Maximum nesting depth of selections in a GraphQL document.'),
  queryTokenLimit: limits(
    'query-token-limit',
    wholeNumber(1),
    10_000,
    'Maximum number of tokens in a GraphQL document, including comments.',
  ),
  queryNodeLimit: limits(
    'query-node-limit',
    wholeNumber(1),
    5000,
    'Maximum number of fields and values in a GraphQL operation, with fragments expanded. Also the maximum number of parts of variables that affect the plan: filters, orders, and rows of different shapes. Nested rows in variables do not count, except once for each conflict clause that updates rows with a condition. The rows of an operation may have at most 200,000 values. In conditions and orders, including those of permission rules, each table of a relationship counts as 25 more and each aggregate of one as 100. This limit and those of tokens, objects and aliases apply to all operations of a batch together.',
  ),
  queryObjectLimit: limits(
    'query-object-limit',
    wholeNumber(1),
    500,
    'Maximum number of fields with a selection in a GraphQL operation, with fragments expanded.',
  ),
  queryAliasLimit: limits(
    'query-alias-limit',
    wholeNumber(0),
    500,
    'Maximum number of aliases in a GraphQL operation, with fragments expanded.',
  ),
  joinKeyLimit: limits(
    'join-key-limit',
    wholeNumber(1),
    10_000,
    'Maximum number of distinct join keys of a request, to other sources and remote schemas. Applies to all operations of a batch together.',
  ),
  joinResponseLimit: limits(
    'join-response-limit',
    wholeNumber(1),
    268_435_456,
    'Maximum size of a response with parts of several sources or remote schemas, in characters. Also limits what is printed of responses of remote schemas and actions if a field is selected under many names. Applies to all operations of a batch together.',
  ),
  remoteSchemaResponseLimit: limits(
    'remote-schema-response-limit',
    wholeNumber(1, 1_073_741_824),
    67_108_864,
    'Maximum total size of the remote schema responses to a request, in bytes. Applies to all operations of a batch together.',
  ),
  websocketConnectionLimit: limits(
    'websocket-connection-limit',
    wholeNumber(0),
    20_000,
    'Maximum number of open websockets and event streams; 0 allows none.',
  ),
  websocketOperationLimit: limits(
    'websocket-operation-limit',
    wholeNumber(1),
    500,
    'Maximum number of concurrent operations per websocket: subscriptions, and unanswered queries and mutations.',
  ),
  subscriptionPollerLimit: limits(
    'subscription-poller-limit',
    wholeNumber(1),
    1000,
    'Maximum number of pollers for the subscriptions of a role. Subscriptions that differ only in values share one.',
  ),
  websocketMessageLimit: limits(
    'websocket-message-limit',
    wholeNumber(1024, 1_073_741_824),
    4_194_304,
    'Maximum size of a websocket message from a client, in bytes.',
  ),
  actionResponseLimit: limits(
    'action-response-limit',
    wholeNumber(1, 1_073_741_824),
    33_554_432,
    'Maximum total size of the action handler responses to a request, in bytes. Applies to all operations of a batch together.',
  ),
  batchLimit: limits('batch-limit', wholeNumber(1), 100, 'Maximum number of operations in a batch request.'),
  responseLimit: limits(
    'response-limit',
    wholeNumber(0),
    268_435_456,
    'Maximum size of the database results of an operation, in bytes. 0 means no limit. Applies to a query, a mutation, a data operation, and each run of a subscription. A larger result fails while it arrives. A mutation of PostgreSQL, or a single-statement mutation of MariaDB, is committed nevertheless; the message says so.',
  ),
  batchResponseLimit: limits(
    'batch-response-limit',
    wholeNumber(1),
    268_435_456,
    'Maximum total size of the responses to a batch or bulk request, in bytes. An operation whose response would exceed it fails, and once it is reached, the remaining operations are not run.',
  ),
  resultMemory: limits(
    'result-memory',
    wholeNumber(0),
    268_435_456,
    'Maximum memory for results of databases, remote schemas and actions, in bytes. 0 means no limit. Covers all requests together, from the arrival of a result until it is sent. Results of up to 1 MiB may use an eighth more. A request that finds no free memory waits up to 30 seconds; one that already holds some fails with status 503. Should be at least --response-limit.',
  ),
  requestTimeout: limits('request-timeout', seconds(0), 120_000, 'Timeout of a GraphQL request, in seconds; 0 means no limit.'),
  operationCacheSize: limits('operation-cache-size', wholeNumber(0), 1000, 'Maximum number of operations in the plan cache of a role.'),
  operationCacheMemory: limits(
    'operation-cache-memory',
    wholeNumber(0),
    67_108_864,
    'Maximum memory for the plan caches of all roles, in bytes. One role uses at most half of it, and an operation that would need more than a 32nd is not cached. The memory is estimated; prepared statements of the databases have a limit of their own.',
  ),
  cacheMemory: limits(
    'cache-memory',
    wholeNumber(0),
    67_108_864,
    'Maximum memory for cached responses of queries with @cached, in bytes; 0 disables the cache.',
  ),
  maxCacheSize: limits('max-cache-size', wholeNumber(0), 1_048_576, 'Maximum size of a cached response, in bytes.'),
  cacheMaxEntryTtl: limits(
    'cache-max-entry-ttl',
    seconds(0),
    3_600_000,
    'Maximum time to live of a cached response, in seconds, whatever its query says.',
  ),
  plansPerOperation: limits(
    'plans-per-operation',
    wholeNumber(1),
    16,
    'Maximum number of cached plans per operation, one for each shape of its variables.',
  ),
} as const;
