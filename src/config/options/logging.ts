/** What is logged, and how. */
import { optionsOf } from '../option.ts';
import { boolean, choice, integer, listOf, milliseconds, nameList } from '../option-types.ts';

const LOG_TYPES = [
  'startup',
  'http-log',
  'webhook-log',
  'websocket-log',
  'jwk-refresh-log',
  'query-log',
  'execution-log',
  'livequery-poller-log',
  'action-handler-log',
  'health-check-log',
] as const;
type LogType = (typeof LOG_TYPES)[number];

const logging = optionsOf('Logging');

export const loggingOptions = {
  metricsEnableHighCardinalityLabels: logging(
    'metrics-enable-high-cardinality-labels',
    boolean,
    true,
    'Label metrics with names: of operations, with their hashes, and of triggers; each combination is a series of its own.',
  ),
  metricsMaxOperations: logging(
    'metrics-max-operations',
    integer(0, 10_000),
    200,
    'Most operations that metrics tell by name, and as many again of query collections; all others are counted as "_other".',
  ),
  logLevel: logging('log-level', choice('debug', 'info', 'warn', 'error'), 'info', 'Least severe level that is logged.'),
  logFormat: logging(
    'log-format',
    choice('auto', 'text', 'json'),
    'auto',
    'How the log is written: auto is text on a terminal, and elsewhere JSON, as where the variable CI is set. Text has colours on a terminal, unless the variable NO_COLOR is set.',
  ),
  enabledLogTypes: logging(
    'enabled-log-types',
    listOf(LOG_TYPES),
    new Set<LogType>(['startup', 'http-log', 'webhook-log', 'websocket-log', 'jwk-refresh-log']),
    'Comma separated list of the optional log types to write. query-log has an entry for each GraphQL query, with its variables and SQL, and puts queries into the entries of http-log.',
    {
      withoutEffect: new Map<LogType, string>([['execution-log', 'executions are measured']]),
    },
  ),
  slowQueryLog: logging(
    'slow-query-log',
    milliseconds(0),
    0,
    'Log GraphQL operations that take longer, with their SQL but without its values, as slow-query-log; 0 logs none. Whatever --enabled-log-types says.',
  ),
  traceSqlQuery: logging(
    'trace-sql-query',
    boolean,
    false,
    'Put the SQL of statements into their spans, without its values; only where traces are exported.',
    { env: 'ENABLE_QUERY_TRACING' },
  ),
  logMaskedVariables: logging(
    'log-masked-variables',
    nameList,
    new Set<string>() as ReadonlySet<string>,
    'Comma separated list of GraphQL variables whose values logs show as "[MASKED]": in queries, in statements (whose SQL is masked too where such a variable shaped it), and in URLs. Messages of errors may still quote a value.',
  ),
  httpLogQueryOnlyOnError: logging(
    'http-log-query-only-on-error',
    boolean,
    false,
    'Let http-log show the query of failed requests only; of others just the name of the operation. There are queries only with the log type query-log.',
  ),
  enableMetadataQueryLogging: logging(
    'enable-metadata-query-logging',
    boolean,
    false,
    'Let http-log show whole operations of the metadata and schema APIs, where it has just their type; only with the log type query-log. Connection strings, passwords, header values and the like are "[MASKED]"; SQL and templates are shown as they are, with the secrets in them.',
  ),
} as const;
