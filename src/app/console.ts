import { fileURLToPath } from 'node:url';
import { type AccessConfig, adminSecretsOf } from '../config/access.ts';
import type { Config } from '../config/options.ts';
import type { Observer } from '../observability/observation.ts';
import { ConsoleMissing, readConsole } from '../server/console-files.ts';
import type { ConsoleState } from '../server/console-state.ts';

export type ConsoleConfig = AccessConfig &
  Pick<Config, 'enableConsole' | 'enabledApis' | 'consoleLabel' | 'consoleReadOnly' | 'consoleAssetsDir' | 'sessionPrefixAliases'>;

/** Folder of the built console; the relative path is the same from `src` and from `dist`. */
const BUILT = fileURLToPath(new URL('../../dist/console', import.meta.url));

/** Reads the files of the console if it is enabled. If they are missing, the log and the page say so. */
export async function openConsole(config: ConsoleConfig, observe: Observer): Promise<ConsoleState> {
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
