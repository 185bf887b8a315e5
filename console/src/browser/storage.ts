/** What the page remembers in this browser: theme, layout, history, personas. Never a secret. Keys carry the address of the page. */
const prefix = `svc:${new URL('.', document.baseURI).pathname}:`;

export function remembered<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(prefix + key);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

/** Storage that is full or forbidden is no reason to fail. */
export function remember<T>(key: string, value: T): void {
  try {
    localStorage.setItem(prefix + key, JSON.stringify(value));
  } catch {
    // what is not remembered is chosen again
  }
}

const TAB_SECRET = `${prefix}secret`;

/** The secret that its holder chose to keep for this tab. */
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
    // then the tab asks again
  }
}
