import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject } from '../util/json.ts';
import type { SqlFailure } from '../backend/connection.ts';
import type { SqlText } from '../backend/sql-text.ts';

/** Where in a text of several statements the database has failed. */
export class ErrorPlace {
  readonly #sql: string;
  readonly #text: SqlText;
  #position: number | undefined;

  constructor(sql: string, text: SqlText) {
    this.#sql = sql;
    this.#text = text;
  }

  /**
   * @param part what was run: the whole text if absent
   * @param start index of the part in the whole text
   */
  set({ done, position }: SqlFailure, part = this.#sql, start = 0): void {
    const before = (index: number): number => charactersIn(this.#sql.slice(0, index));
    if (position !== null) this.#position = before(start) + position;
    else {
      const failed = this.#text.statements?.(part)[done];
      if (failed !== undefined) this.#position = before(start + failed.at) + 1;
    }
  }

  /** In characters from 1; undefined: nothing has failed, or nobody knows where. */
  get position(): number | undefined {
    return this.#position;
  }

  /** The error with the place in its `internal`, where one is known. */
  located(thrown: unknown): unknown {
    if (this.#position === undefined || !(thrown instanceof SvcError) || !isJsonObject(thrown.internal)) return thrown;
    const { code, message, path, status, isPassing, internal, cause } = thrown;
    return new SvcError(code, message, { path, status, isPassing, internal: { ...internal, position: this.#position }, cause });
  }
}

/** Databases count code points. */
function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
