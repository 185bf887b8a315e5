/** How much a request and a client may take. */
import { optionsOf } from '../option.ts';
import { integer, seconds } from '../option-types.ts';

const limits = optionsOf('Limits');

export const limitOptions = {
  requestBodyLimit: limits('request-body-limit', integer(1, 1_073_741_824), 16_777_216, 'Largest request body, in bytes.'),
  requestValueLimit: limits(
    'request-value-limit',
    integer(1),
    200_000,
    'Most values in the JSON of a GraphQL request, for each megabyte of it or less. An object counts as 4, a text with escapes and a number with a point as 2, a number that a double would change as 2 more, and its digits beyond 100 as 1 each; a key counts as 10 where an object gets a new shape by it, once there are 1000 other shapes.',
  ),
  queryDepthLimit: limits('query-depth-limit', integer(1, 1000), 100, 'Deepest nesting of selections in a GraphQL document.'),
  queryTokenLimit: limits('query-token-limit', integer(1), 10_000, 'Most tokens in a GraphQL document, comments included.'),
  queryNodeLimit: limits(
    'query-node-limit',
    integer(1),
    5000,
    'Most fields and values of a GraphQL operation once its fragments are spread, and most parts of variables that decide how it runs: of filters, orders and rows that are not alike. Nested rows of variables do not count, but for each conflict clause that updates rows by a condition of its own; the rows of an operation may have 200,000 values. In conditions and orders each table of a relationship counts as 25 more, each aggregate of one as 100, and those of permission rules with them. For a batch this, like the limits of tokens, objects and aliases, is the most of all its operations together.',
  ),
  queryObjectLimit: limits(
    'query-object-limit',
    integer(1),
    500,
    'Most fields with a selection of their own in a GraphQL operation, once its fragments are spread.',
  ),
  queryAliasLimit: limits('query-alias-limit', integer(0), 500, 'Most aliases in a GraphQL operation once its fragments are spread.'),
  joinKeyLimit: limits(
    'join-key-limit',
    integer(1),
    10_000,
    'Most different keys that a request may ask other sources and remote schemas for. For a batch this is the most of all its operations together.',
  ),
  joinResponseLimit: limits(
    'join-response-limit',
    integer(1),
    268_435_456,
    'Longest answer with parts of several sources or remote schemas, in characters; and the most that is printed of the answers of remote schemas and actions, where a field is asked for under many names. For a batch this is the most of all such answers together.',
  ),
  remoteSchemaResponseLimit: limits(
    'remote-schema-response-limit',
    integer(1, 1_073_741_824),
    67_108_864,
    'Most bytes that remote schemas may answer to one request together. For a batch this is the most of all its operations together.',
  ),
  websocketConnectionLimit: limits(
    'websocket-connection-limit',
    integer(0),
    20_000,
    'Most websockets and event streams at the same time; 0 allows none.',
  ),
  websocketOperationLimit: limits(
    'websocket-operation-limit',
    integer(1),
    500,
    'Most operations of one websocket at the same time: its subscriptions, and its queries and mutations that have not been answered.',
  ),
  subscriptionPollerLimit: limits(
    'subscription-poller-limit',
    integer(1),
    1000,
    'Most statements repeated for the subscriptions of one role. Those that differ in values only share one.',
  ),
  websocketMessageLimit: limits(
    'websocket-message-limit',
    integer(1024, 1_073_741_824),
    4_194_304,
    'Largest message of a client over a websocket, in bytes.',
  ),
  actionResponseLimit: limits(
    'action-response-limit',
    integer(1, 1_073_741_824),
    33_554_432,
    'Most bytes that handlers of actions may answer to one request together. For a batch this is the most of all its operations together.',
  ),
  batchLimit: limits('batch-limit', integer(1), 100, 'Most operations in one batched request.'),
  responseLimit: limits(
    'response-limit',
    integer(0),
    268_435_456,
    'Most bytes that databases may answer to one operation: a query, a mutation, an operation on rows, a round of a subscription. What is more is refused as it comes; a mutation of PostgreSQL is done all the same, as is one of MariaDB that is a single statement, and the message says so. 0 is no limit.',
  ),
  batchResponseLimit: limits(
    'batch-response-limit',
    integer(1),
    268_435_456,
    'Most bytes of the answers to a batch or a bulk together, those that are coming included: an operation whose answer would be over it is refused, and once it is reached what is left is not run.',
  ),
  resultMemory: limits(
    'result-memory',
    integer(0),
    268_435_456,
    'Maximum bytes of answers of databases, remote schemas and actions in memory for all requests together, from the moment they come until they are sent. Answers of up to 1 MiB have an eighth more. A request that finds no room waits up to 30 seconds, or is answered with 503 where it holds a part already. Should be no less than --response-limit. 0 is no limit.',
  ),
  requestTimeout: limits('request-timeout', seconds(0), 120_000, 'Cancel a GraphQL request that runs longer; 0 is no limit.'),
  operationCacheSize: limits('operation-cache-size', integer(0), 1000, 'Most operations whose plans a role keeps.'),
  operationCacheMemory: limits(
    'operation-cache-memory',
    integer(0),
    67_108_864,
    'Most memory for these operations and their plans, in bytes: of all roles together, one role takes at most half of it, and what would take more than a 32nd is not kept. Estimated, in the service; what the databases keep of statements is bounded by itself.',
  ),
  cacheMemory: limits('cache-memory', integer(0), 67_108_864, 'Most memory for answers of queries with @cached, in bytes; 0 keeps none.'),
  maxCacheSize: limits('max-cache-size', integer(0), 1_048_576, 'Largest answer that is kept, in bytes.'),
  cacheMaxEntryTtl: limits('cache-max-entry-ttl', seconds(0), 3_600_000, 'Longest time that an answer is kept, whatever its query says.'),
  plansPerOperation: limits(
    'plans-per-operation',
    integer(1),
    16,
    'Most plans kept for one operation, one for each shape of its variables.',
  ),
} as const;
