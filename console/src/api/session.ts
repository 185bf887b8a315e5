/** Who uses the console: the secret is in this module alone, and nowhere else unless its holder keeps it for the tab. */
import { signal } from '@preact/signals';
import { needsSecret } from './settings.ts';
import { keepTabSecret, tabSecret } from '../browser/storage.ts';

const IDLE_MS = 30 * 60_000;

let secret: string | null = tabSecret();

/** `unknown` until the service has answered once. */
export const access = signal<'unknown' | 'granted' | 'refused'>(needsSecret === true && secret === null ? 'refused' : 'unknown');
/** Why one has to sign in, where it was not the first visit. */
export const signInReason = signal<string | null>(null);
export const hasSecret = signal(secret !== null);

let waiting: (() => void)[] = [];

/** Headers that show who asks. */
export function credentials(): Record<string, string> {
  return secret === null ? {} : { 'X-Svc-Admin-Secret': secret };
}

export function signIn(given: string, keep: boolean): void {
  secret = given;
  keepTabSecret(keep ? given : null);
  hasSecret.value = true;
  granted();
}

/** The service took what we have. */
export function granted(): void {
  access.value = 'granted';
  signInReason.value = null;
  const resumed = waiting;
  waiting = [];
  for (const resume of resumed) resume();
}

export function signOut(reason: string | null = null): void {
  secret = null;
  keepTabSecret(null);
  hasSecret.value = false;
  access.value = 'refused';
  signInReason.value = reason;
}

/** Whether requests may be sent, or have to wait until somebody signs in. */
export function mustWait(): boolean {
  return access.peek() === 'refused';
}

/** Waits for somebody to sign in; what failed is asked again then. */
export function signedIn(signal?: AbortSignal): Promise<void> {
  if (access.peek() === 'granted') {
    // What was accepted before is not any more.
    signOut('The service no longer accepts this secret.');
  } else if (access.peek() === 'unknown') access.value = 'refused';
  return new Promise((resolve, reject) => {
    waiting.push(resolve);
    signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), { once: true });
  });
}

let lastUse = Date.now();
for (const kind of ['pointerdown', 'keydown'] as const) {
  addEventListener(kind, () => (lastUse = Date.now()), { capture: true, passive: true });
}
setInterval(() => {
  if (secret !== null && Date.now() - lastUse > IDLE_MS) signOut('Signed out after 30 minutes without use.');
}, 15_000);
