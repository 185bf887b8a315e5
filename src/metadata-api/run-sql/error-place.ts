import type { SqlFailure } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { isJsonObject } from '../../util/json.ts';
import { splitStatements } from './split-statements.ts';

/** Where in a text of several statements the database has failed. */
export class ErrorPlace {
  readonly #sql: string;
  /** Of what is run now, in the text. */
  #from = 0;
  #position: number | undefined;

  constructor(sql: string) {
    this.#sql = sql;
  }

  /** A statement is done: the next one stands behind it. */
  behind(statement: string): void {
    this.#from = this.#startOf(statement) + statement.length;
  }

  /** @param part what was run: the text, or the statement that follows what is done */
  set(part: string, { done, position }: SqlFailure): void {
    const start = this.#startOf(part);
    if (position !== null) {
      this.#position = charactersIn(this.#sql.slice(0, start)) + position;
      return;
    }
    let at = 0;
    for (const [i, statement] of splitStatements(part).entries()) {
      at = part.indexOf(statement, at);
      if (i === done) {
        this.#position = charactersIn(this.#sql.slice(0, start + at)) + 1;
        return;
      }
      at += statement.length;
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

  #startOf(part: string): number {
    return Math.max(0, this.#sql.indexOf(part, this.#from));
  }
}

/** Databases count code points. */
function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
