import { signOut } from '../api/session.ts';

/** Signs out, and reloads the page to discard everything it has read. */
export function leave(): void {
  signOut();
  location.reload();
}
