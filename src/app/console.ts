import { fileURLToPath } from 'node:url';
import { type AccessConfig, adminSecretsOf } from '../config/access.ts';
import type { Config } from '../config/options.ts';
import type { Observer } from '../observability/observation.ts';
import type { ServerContext } from '../server/context.ts';
import { escaped } from '../server/page.ts';
import { FilesMissing, readStaticFiles, type StaticState } from '../server/static-files.ts';
import { type JsonObject, printJson } from '../util/json.ts';

export type ConsoleConfig = AccessConfig &
  Pick<
    Config,
    'enableConsole' | 'enabledApis' | 'consoleLabel' | 'consoleReadOnly' | 'consoleAssetsDir' | 'docsAssetsDir' | 'sessionPrefixAliases'
  >;

/** Folders of the built console and documentation; the relative paths are the same from `src` and from `dist`. */
const BUILT_CONSOLE = fileURLToPath(new URL('../../dist/console', import.meta.url));
const BUILT_DOCS = fileURLToPath(new URL('../../dist/docs', import.meta.url));

/** Reads the files of the console if it is enabled. If they are missing, the log and the page say so. */
export async function openConsole(config: ConsoleConfig, observe: Observer): Promise<StaticState> {
  if (!config.enableConsole) return { kind: 'off' };
  const state = await readState(async () => {
    if (!config.enabledApis.has('metadata')) throw new FilesMissing('it needs the endpoint group metadata (--enabled-apis)');
    const settings = {
      label: config.consoleLabel,
      read_only: config.consoleReadOnly,
      is_admin_secret_set: adminSecretsOf(config).length > 0,
      session_prefix_aliases: [...config.sessionPrefixAliases],
    };
    return readStaticFiles(config.consoleAssetsDir ?? BUILT_CONSOLE, (html) => withSettings(html, settings));
  });
  reportMissing(state, 'console', observe);
  return state;
}

/**
 * Returns a function that reads the files of the documentation once, when the first page is requested, so that a start does not wait for
 * them; `null` if the console is disabled. A clone has no files until they are built, which the page says.
 */
export function openDocs(config: ConsoleConfig, observe: Observer): ServerContext['docs'] {
  if (!config.enableConsole) return null;
  let state: Promise<StaticState> | undefined;
  const open = async (): Promise<StaticState> => {
    const read = await readState(() => readStaticFiles(config.docsAssetsDir ?? BUILT_DOCS));
    reportMissing(read, 'documentation', observe);
    return read;
  };
  return () => (state ??= open());
}

function reportMissing(state: StaticState, what: 'console' | 'documentation', observe: Observer): void {
  if (state.kind !== 'missing') return;
  observe({ kind: 'startup', message: `${what}_missing`, info: { warning: `the ${what} cannot be served: ${state.reason}` } });
}

async function readState(read: () => ReturnType<typeof readStaticFiles>): Promise<StaticState> {
  try {
    return { kind: 'served', files: await read() };
  } catch (thrown) {
    if (!(thrown instanceof FilesMissing)) throw thrown;
    return { kind: 'missing', reason: thrown.message };
  }
}

const SETTINGS = /<meta name="svc-console"[^>]*>\s*/;

/** Writes the settings for the page before sign-in into it. */
function withSettings(html: string, settings: JsonObject): string {
  const meta = `<meta name="svc-console" content="${escaped(printJson(settings))}">`;
  return html.replace(SETTINGS, '').replace(/<head[^>]*>/i, (head) => `${head}\n${meta}`);
}
