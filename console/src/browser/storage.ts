/**
 * Local storage: theme, layout, personas, history, and the texts of SQL and Explorer tabs with whatever was typed there. The console
 * itself stores no secret and no token. Keys contain the address of the page.
 */
const prefix = `svc:${new URL('.', document.baseURI).pathname}:`;

export function remembered<T>(key: string, fallback: T): T {
  try {
    const text = localStorage.getItem(prefix + key);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Stores a value. Full or forbidden storage is ignored. */
export function remember<T>(key: string, value: T): void {
  try {
    localStorage.setItem(prefix + key, JSON.stringify(value));
  } catch {
    // The default applies next time.
  }
}

const TAB_SECRET = `${prefix}secret`;

/** Secret that the user chose to keep for this tab. */
export function tabSecret(): string | null {
  try {
    return sessionStorage.getItem(TAB_SECRET);
  } catch {
    return null;
  }
}

export function keepTabSecret(secret: string | null): void {
  try {
    if (secret === null) sessionStorage.removeItem(TAB_SECRET);
    else sessionStorage.setItem(TAB_SECRET, secret);
  } catch {
    // The next reload asks for the secret.
  }
}
