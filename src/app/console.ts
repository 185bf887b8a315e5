import { fileURLToPath } from 'node:url';
import { adminSecretsOf } from '../config/access.ts';
import type { Config } from '../config/options.ts';
import type { Observer } from '../observability/observation.ts';
import { ConsoleMissing, readConsole } from '../server/console-files.ts';
import type { ConsoleState } from '../server/console-state.ts';

/** Where the build puts it, seen from the sources and from what is made of them alike. */
const BUILT = fileURLToPath(new URL('../../dist/console', import.meta.url));

/** Reads the console if it is switched on; that it is not there is told in the log, and to whoever opens it. */
export async function openConsole(config: Config, observe: Observer): Promise<ConsoleState> {
  if (!config.enableConsole) return { kind: 'off' };
  try {
    if (!config.enabledApis.has('metadata')) throw new ConsoleMissing('it needs the endpoint group metadata (--enabled-apis)');
    const settings = {
      label: config.consoleLabel,
      read_only: config.consoleReadOnly,
      is_admin_secret_set: adminSecretsOf(config).length > 0,
      session_prefix_aliases: [...config.sessionPrefixAliases],
    };
    return { kind: 'served', files: await readConsole(config.consoleAssetsDir ?? BUILT, settings) };
  } catch (thrown) {
    if (!(thrown instanceof ConsoleMissing)) throw thrown;
    observe({ kind: 'startup', message: 'console_missing', info: { warning: `the console cannot be served: ${thrown.message}` } });
    return { kind: 'missing', reason: thrown.message };
  }
}
