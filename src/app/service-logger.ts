import type { Config } from '../config/options.ts';
import { createLogger, type Logger, logStyle } from '../observability/logger.ts';

/** Logger on standard output, as text on a terminal and as JSON elsewhere, unless `--log-format` says otherwise. */
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
