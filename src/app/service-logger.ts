import type { Config } from '../config/options.ts';
import { createLogger, type Logger, logStyle } from '../observability/logger.ts';

/** The log of the service on standard output, as the settings and the kind of output ask for. */
export function serviceLogger(
  config: Pick<Config, 'logLevel' | 'enabledLogTypes' | 'logFormat'>,
  environment: Readonly<Record<string, string | undefined>>,
): Logger {
  return createLogger({
    level: config.logLevel,
    enabledTypes: config.enabledLogTypes,
    ...logStyle(config.logFormat, process.stdout.isTTY === true, environment),
  });
}
