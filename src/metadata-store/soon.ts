import { BY_INDEX } from '../sql/by-index.ts';
import type { StatementOptions } from '../backend/connection.ts';

/** ms; a database that does not answer must keep neither a queue nor the end of the service waiting. */
const PATIENCE_MS = 30_000;

/** The end of the wait for one statement that begins now. */
export function soon(ms = PATIENCE_MS): { readonly deadline: number } {
  return { deadline: Date.now() + ms };
}

/** The same for a statement on a queue. */
export function soonByIndex(): StatementOptions {
  return { ...soon(), settings: BY_INDEX };
}
