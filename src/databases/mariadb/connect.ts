/** From a source's configuration to an open source. */
import type { ConnectContext } from '../../backend/backend.ts';
import type { MariadbConfiguration } from './configuration.ts';
import { type Lateness, unlessLate } from '../../util/unless-late.ts';
import { connectionError, statementError, StatementCancelledError } from './errors.ts';
import { Pool } from './pool.ts';
import { MariadbSource } from './source.ts';
import { targetOf } from './target.ts';
import type { RunOptions } from '../../backend/connection.ts';

const DEFAULTS = { idleTimeoutMs: 180_000, lifetimeMs: 600_000 };
const AFTER_REQUEST_MS = 10_000;
const LEAST_TIMEOUT_MS = 60_000;
const FIRST_ANSWER_MS = 60_000;
/** The first one with `json_table`. */
const LEAST_VERSION = [10, 6] as const;

/**
 * Throws `SvcError`: `not-found` for missing environment variables, `database-error` when the server cannot be reached or is no
 * MariaDB that will do, `timeout` when it does not answer in time.
 */
export async function connect(configuration: MariadbConfiguration, context: ConnectContext, how: RunOptions = {}): Promise<MariadbSource> {
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
    const deadline = Math.min(how.deadline ?? Number.POSITIVE_INFINITY, Date.now() + FIRST_ANSWER_MS);
    const late = (reason: Lateness): Error => new StatementCancelledError(reason);
    await unlessLate({ signal: how.signal, deadline }, checkServer(pool), late, () => undefined);
  } catch (failure) {
    await pool.close(0);
    throw statementError(failure, { text: '', values: [] });
  }
  return new MariadbSource(pool, target.database ?? '', { stringifyNumericTypes: context.stringifyNumericTypes ?? false });
}

/** Before anything is set in a session: other servers know other settings. */
async function checkServer(pool: Pool): Promise<void> {
  const version = await pool.version();
  const found = /^(?:5\.5\.5-)?(\d+)\.(\d+)\.\d+-MariaDB/i.exec(version);
  const [major, minor] = LEAST_VERSION;
  const wanted = `MariaDB from version ${major}.${minor} on`;
  if (found === null) throw connectionError(`the server is none of ${wanted}: its version is ${version}`);
  const [has, and] = [Number(found[1]), Number(found[2])];
  if (has < major || (has === major && and < minor))
    throw connectionError(`the server is too old, it has version ${version}: ${wanted} will do`);
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}
