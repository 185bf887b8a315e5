/** Parts of the installation of event triggers that kinds share. */
import { isSettled, type CaptureLabel } from '../../../backend/capture-label.ts';
import type { RetainOptions } from '../../../backend/captures.ts';
import { isMigrationDue, type TableVersion } from '../../../backend/table-version.ts';
import type { ErrorCode } from '../../../errors/codes.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import type { CapturedOperationName } from '../../../metadata/event-trigger.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';

export const OPERATION_SQL: Readonly<Record<CapturedOperationName, Sql>> = {
  insert: sql`insert`,
  update: sql`update`,
  delete: sql`delete`,
};

/** Returns the error of a trigger that the database refuses. It includes the message of the database, because an administrator sees it. */
export function refusedBy(error: SvcError, code: ErrorCode, message: string): SvcError {
  const internal = error.internal === undefined ? {} : { internal: error.internal };
  return new SvcError(code, `the event trigger cannot be installed: ${message}`, { cause: error, ...internal });
}

/** Returns whether a capture that no definition needs is to be removed. */
export function isRemovable(label: CaptureLabel, { removed, ...state }: Omit<RetainOptions, 'owner' | 'lockMs'>): boolean {
  return isSettled(label, state) || (label.version === undefined && removed.includes(label.trigger));
}

/** Maximum number of events that one statement archives, so that it does not lock them for long. */
export const ARCHIVE_BATCH = 10_000;

/** Archives events batch by batch. @param batch archives at most `ARCHIVE_BATCH` and returns their number */
export async function archiveAll(batch: () => Promise<number>): Promise<void> {
  while ((await batch()) === ARCHIVE_BATCH);
}

/**
 * Returns whether a service may migrate the tables of events; see `isMigrationDue`.
 * @throws SvcError `not-supported` if they require a newer service
 */
export function isEventMigrationDue(stored: TableVersion, own: number): boolean {
  return isMigrationDue('the tables of events in the database have version', stored, own);
}
