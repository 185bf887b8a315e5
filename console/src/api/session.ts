/** Session of the administrator. The secret is only in this module, and in the tab's session storage if the user chooses that. */
import { signal } from '@preact/signals';
import { needsSecret } from './settings.ts';
import { keepTabSecret, tabSecret } from '../browser/storage.ts';

const IDLE_MS = 30 * 60_000;

let secret: string | null = tabSecret();

/** `unknown` until the first response of the service. */
export const access = signal<'unknown' | 'granted' | 'refused'>(needsSecret === true && secret === null ? 'refused' : 'unknown');
/** Reason for signing in again; `null` on the first visit. */
export const signInReason = signal<string | null>(null);
export const hasSecret = signal(secret !== null);

let waiting: (() => void)[] = [];
/** Number of sign-ins and sign-outs. */
let turn = 0;

/** Names the present session: the response to a request of an earlier one says nothing about it. */
export function presentSession(): number {
  return turn;
}

/** Returns the header with the secret; empty without a secret. */
export function credentials(): Record<string, string> {
  return secret === null ? {} : { 'X-Svc-Admin-Secret': secret };
}

export function signIn(next: string, keep: boolean): void {
  turn += 1;
  secret = next;
  keepTabSecret(keep ? next : null);
  hasSecret.value = true;
  granted(turn);
}

/** Called when the service has accepted a request of `session`; resumes the waiting ones. */
export function granted(session: number): void {
  if (session !== turn) return;
  access.value = 'granted';
  signInReason.value = null;
  const resumed = waiting;
  waiting = [];
  for (const resume of resumed) resume();
}

export function signOut(reason: string | null = null): void {
  turn += 1;
  secret = null;
  keepTabSecret(null);
  hasSecret.value = false;
  access.value = 'refused';
  signInReason.value = reason;
}

/** Returns true if requests have to wait for a sign-in. */
export function mustWait(): boolean {
  return access.peek() === 'refused';
}

/** Resolves after the next sign-in. @param session that of a request which the service has refused */
export function signedIn(session: number, signal?: AbortSignal): Promise<void> {
  if (session !== turn && access.peek() === 'granted') return Promise.resolve();
  if (access.peek() === 'granted') {
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
  if (secret !== null && Date.now() - lastUse > IDLE_MS) signOut('You were signed out after 30 minutes of inactivity.');
}, 15_000);
