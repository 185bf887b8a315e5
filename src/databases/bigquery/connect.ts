/** Opens a source from its configuration. */
import type { ConnectContext } from '../../backend/backend.ts';
import { textCells } from './client/answers.ts';
import { BigQueryClient } from './client/client.ts';
import type { BigQueryConfiguration } from './configuration.ts';
import { BigQueryError, connectionError, statementError } from './errors.ts';
import { BigQuerySource } from './source.ts';
import { targetOf } from './target.ts';
import type { RunOptions } from '../../backend/connection.ts';

const DEFAULTS = { rowLimit: 1_000, retryBaseDelayMs: 500, retryLimit: 5 };
const FIRST_ANSWER_MS = 60_000;

/**
 * @throws SvcError `not-found` for missing environment variables and files, `database-error` for invalid keys and if BigQuery refuses
 * the connection, `timeout` if it does not answer in time
 */
export async function connect(
  configuration: BigQueryConfiguration,
  context: ConnectContext,
  options: RunOptions = {},
): Promise<BigQuerySource> {
  const { http } = context;
  if (http === undefined) throw connectionError('there is no HTTP client');
  const target = targetOf(configuration, context);
  const { location, maximumBytesBilled, retryBaseDelay, retryLimit, globalSelectLimit } = configuration;
  const client = new BigQueryClient(http, target, {
    location,
    maximumBytesBilled,
    retryBaseDelayMs: retryBaseDelay === undefined ? DEFAULTS.retryBaseDelayMs : retryBaseDelay / 1_000,
    retryLimit: retryLimit ?? DEFAULTS.retryLimit,
    maxStatements: context.maxConnections,
    waitTimeoutMs: context.waitTimeoutMs ?? Number.POSITIVE_INFINITY,
  });
  try {
    const deadline = Math.min(options.deadline ?? Number.POSITIVE_INFINITY, Date.now() + FIRST_ANSWER_MS);
    // Reads no data, so it is free of charge.
    await client.run({ text: 'select 1', parameters: [] }, { signal: options.signal, deadline }, () => textCells);
  } catch (failure) {
    await client.close(0);
    const error = statementError(failure, '', []);
    throw failure instanceof BigQueryError && error.code === 'unexpected' ? connectionError(failure.message, failure) : error;
  }
  return new BigQuerySource(client, { datasets: target.datasets, rowLimit: globalSelectLimit ?? DEFAULTS.rowLimit });
}
