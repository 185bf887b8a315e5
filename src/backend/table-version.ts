/** Versions of the tables that the service has in a database, and the rule by which services of different versions share them. */
import { SvcError } from '../errors/svc-error.ts';

export interface TableVersion {
  /** Number of the last migration; 0 if there are no tables. */
  readonly version: number;
  /**
   * Version of the oldest service that can use the tables. A migration that only adds something leaves it as it is; one that removes or
   * changes something sets it to the version since which services do not need the removed part.
   */
  readonly oldestReader: number;
}

/** Reads the stored columns. Tables without an oldest reader can be used by services of their own version only. */
export function readTableVersion(version: string | null | undefined, oldestReader: string | null | undefined): TableVersion {
  const number = Number(version ?? 0);
  return { version: number, oldestReader: Number(oldestReader ?? number) };
}

/**
 * Returns whether a service may migrate the tables: not if they have its own version, or a later one that it can use.
 * @param tables name of the tables with their version, for the error: `the metadata database has catalog version`
 * @param own version of the service
 * @throws SvcError `not-supported` if the tables require a newer service
 */
export function isMigrationDue(tables: string, { version, oldestReader }: TableVersion, own: number): boolean {
  if (version < own) return true;
  if (version === own || oldestReader <= own) return false;
  throw new SvcError(
    'not-supported',
    `${tables} ${version}, which requires a service that supports version ${oldestReader}, and this one supports versions up to ${own}: start a newer version of the service`,
  );
}
