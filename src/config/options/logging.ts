/** Log, metrics and traces. */
import { optionsOf } from '../option.ts';
import { boolean, choice, wholeNumber, wordList, milliseconds, nameList } from '../option-types.ts';

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
    'Label metrics with names and hashes of operations, and with names of triggers. Each combination is a separate time series.',
  ),
  metricsMaxOperations: logging(
    'metrics-max-operations',
    wholeNumber(0, 10_000),
    200,
    'Maximum number of operations with their own metric label, and as many again from query collections. All others are counted as "_other".',
  ),
  logLevel: logging('log-level', choice('debug', 'info', 'warn', 'error'), 'info', 'Minimum level of log entries.'),
  logFormat: logging(
    'log-format',
    choice('auto', 'text', 'json'),
    'auto',
    'Format of the log: auto means text on a terminal, and JSON elsewhere or if the variable CI is set. Text has colours on a terminal, unless the variable NO_COLOR is set.',
  ),
  enabledLogTypes: logging(
    'enabled-log-types',
    wordList(LOG_TYPES),
    new Set<LogType>(['startup', 'http-log', 'webhook-log', 'websocket-log', 'jwk-refresh-log']),
    'Comma-separated list of optional log types to write. query-log writes an entry for each GraphQL query with its variables and SQL, and adds queries to http-log entries.',
    {
      withoutEffect: new Map<LogType, string>([['execution-log', 'executions are measured']]),
    },
  ),
  slowQueryLog: logging(
    'slow-query-log',
    milliseconds(0),
    0,
    'Log GraphQL operations that take longer than this, in milliseconds; 0 disables it. Entries have type slow-query-log, whatever --enabled-log-types says, and contain the SQL without its values.',
  ),
  traceSqlQuery: logging('trace-sql-query', boolean, false, 'Add the SQL of statements, without its values, to their spans.', {
    env: 'ENABLE_QUERY_TRACING',
  }),
  logMaskedVariables: logging(
    'log-masked-variables',
    nameList,
    new Set<string>() as ReadonlySet<string>,
    'Comma-separated list of GraphQL variables whose values are logged as "[MASKED]". Applies to queries, statements and URLs; SQL that depends on such a variable is masked too. Error messages may still quote a value.',
  ),
  httpLogQueryOnlyOnError: logging(
    'http-log-query-only-on-error',
    boolean,
    false,
    'Log the query of failed requests only, and the operation name of others, in http-log. Needs the log type query-log.',
  ),
  enableMetadataQueryLogging: logging(
    'enable-metadata-query-logging',
    boolean,
    false,
    'Log whole operations of the metadata and schema APIs in http-log, instead of their type. Needs the log type query-log. Connection strings, passwords, header values and similar are "[MASKED]"; SQL and templates are logged unchanged, with any secrets in them.',
  ),
} as const;
