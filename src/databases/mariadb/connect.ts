/** Opens a source from its configuration. */
import type { ConnectContext } from '../../backend/backend.ts';
import type { MariadbConfiguration } from './configuration.ts';
import { type StopReason, withDeadline } from '../../util/deadline.ts';
import { connectionError, statementError, StatementCancelledError } from './errors.ts';
import { Pool } from './pool.ts';
import { MariadbSource } from './source.ts';
import { targetOf } from './target.ts';
import type { RunOptions } from '../../backend/connection.ts';

const DEFAULTS = { idleTimeoutMs: 180_000, lifetimeMs: 600_000 };
const AFTER_REQUEST_MS = 10_000;
const LEAST_TIMEOUT_MS = 60_000;
const FIRST_ANSWER_MS = 60_000;
/** First version with `json_table`. */
const MIN_VERSION = [10, 6] as const;

/**
 * @throws SvcError `not-found` for missing environment variables, `database-error` if the server is unreachable or not a supported
 * MariaDB, `timeout` if it does not answer in time
 */
export async function connect(
  configuration: MariadbConfiguration,
  context: ConnectContext,
  options: RunOptions = {},
): Promise<MariadbSource> {
  const target = targetOf(configuration, context.environment);
  const { pool: own } = configuration;
  const lifetimeMs = context.lifetimeMs ?? DEFAULTS.lifetimeMs;
  const { requestTimeoutMs = 0 } = context;
  const pool = new Pool(target, {
    maxConnections: own?.max_connections ?? context.maxConnections,
    idleTimeoutMs: milliseconds(own?.idle_timeout) ?? context.idleTimeoutMs ?? DEFAULTS.idleTimeoutMs,
    lifetimeMs: lifetimeMs === 0 ? Number.POSITIVE_INFINITY : lifetimeMs,
    waitTimeoutMs: milliseconds(own?.pool_timeout) ?? context.waitTimeoutMs ?? Number.POSITIVE_INFINITY,
    statementTimeoutMs: requestTimeoutMs === 0 ? null : Math.max(requestTimeoutMs + AFTER_REQUEST_MS, LEAST_TIMEOUT_MS),
  });
  try {
    const deadline = Math.min(options.deadline ?? Number.POSITIVE_INFINITY, Date.now() + FIRST_ANSWER_MS);
    const late = (reason: StopReason): Error => new StatementCancelledError(reason);
    await withDeadline({ signal: options.signal, deadline }, checkServer(pool), late, () => undefined);
  } catch (failure) {
    await pool.close(0);
    throw statementError(failure, { text: '', values: [] });
  }
  return new MariadbSource(pool, target.database ?? '', { stringifyNumericTypes: context.stringifyNumericTypes ?? false });
}

/** Runs before session settings are applied, because other servers do not know them. */
async function checkServer(pool: Pool): Promise<void> {
  const version = await pool.version();
  const found = /^(?:5\.5\.5-)?(\d+)\.(\d+)\.\d+-MariaDB/i.exec(version);
  const [major, minor] = MIN_VERSION;
  const [actualMajor, actualMinor] = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
  if (actualMajor < major || (actualMajor === major && actualMinor < minor))
    throw connectionError(`the server has version ${version}, but MariaDB ${major}.${minor} or later is required`);
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}
