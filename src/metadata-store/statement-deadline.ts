import { BY_INDEX } from '../sql/by-index.ts';
import type { StatementOptions } from '../backend/connection.ts';

/** Timeout of a statement, in ms: a database that does not respond must block neither a queue nor the shutdown of the service. */
const STATEMENT_TIMEOUT_MS = 30_000;

/** Deadline for a statement that starts now. */
export function statementDeadline(ms = STATEMENT_TIMEOUT_MS): { readonly deadline: number } {
  return { deadline: Date.now() + ms };
}

/** Options for a statement on a queue: the deadline, and settings that make the planner use an index. */
export function statementDeadlineByIndex(): StatementOptions {
  return { ...statementDeadline(), settings: BY_INDEX };
}
