/** What the service wrote into the page when it served it. */
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

/** Whether this console sends nothing that changes anything. */
export const isReadOnly = settings.read_only === true;
/** Whether one has to sign in, where the service said. */
export const needsSecret = settings.is_admin_secret_set;
/** Other prefixes of session variables in headers, in lower case. */
export const sessionPrefixAliases = settings.session_prefix_aliases ?? [];
/** The name of the instance, such as PRODUCTION. */
export const label = settings.label ?? '';
export const READ_ONLY_REASON = 'This console is read-only (console-read-only).';
