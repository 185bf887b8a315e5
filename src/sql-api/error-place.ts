import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject } from '../util/json.ts';
import type { SqlFailure } from '../backend/connection.ts';
import type { SqlText } from '../backend/sql-text.ts';

/** Position of a database error in a text of several statements. */
export class ErrorPlace {
  readonly #sql: string;
  readonly #text: SqlText;
  #position: number | undefined;

  constructor(sql: string, text: SqlText) {
    this.#sql = sql;
    this.#text = text;
  }

  /**
   * @param part the SQL that was run, a part of the whole text
   * @param start index of the part in the whole text
   */
  set({ completed: done, position }: SqlFailure, part = this.#sql, start = 0): void {
    const before = (index: number): number => charactersIn(this.#sql.slice(0, index));
    if (position !== null) this.#position = before(start) + position;
    else {
      const failed = this.#text.statements?.(part)[done];
      if (failed !== undefined) this.#position = before(start + failed.at) + 1;
    }
  }

  /** In code points from 1; `undefined` without a failure, or if the database did not report the position. */
  get position(): number | undefined {
    return this.#position;
  }

  /** Returns the error with the position, if there is one, in its `internal`. */
  located(thrown: unknown): unknown {
    if (this.#position === undefined || !(thrown instanceof SvcError) || !isJsonObject(thrown.internal)) return thrown;
    const { code, message, path, status, isTransient, internal, cause } = thrown;
    return new SvcError(code, message, { path, status, isTransient, internal: { ...internal, position: this.#position }, cause });
  }
}

/** Counts code points, as databases do. */
function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
