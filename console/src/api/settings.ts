/** Settings that the service writes into the page. */
interface PageSettings {
  readonly read_only?: boolean;
  readonly label?: string | null;
  readonly is_admin_secret_set?: boolean;
  readonly session_prefix_aliases?: readonly string[];
}

function read(): PageSettings {
  const content = document.querySelector('meta[name="svc-console"]')?.getAttribute('content') ?? '{}';
  try {
    return JSON.parse(content) as PageSettings;
  } catch {
    return {};
  }
}

const settings = read();

/** True if the console must not change anything. */
export const isReadOnly = settings.read_only === true;
/** True if the service requires a secret; undefined if unknown. */
export const needsSecret = settings.is_admin_secret_set;
/** Aliases of the session variable prefix in headers, in lower case. */
export const sessionPrefixAliases = settings.session_prefix_aliases ?? [];
/** Label of the instance, such as PRODUCTION. */
export const label = settings.label ?? '';
export const READ_ONLY_REASON = 'This console is read-only (--console-read-only).';
/** Reason to disable controls that change something; undefined if changes are allowed. */
export const readOnlyRefusal = isReadOnly ? READ_ONLY_REASON : undefined;
