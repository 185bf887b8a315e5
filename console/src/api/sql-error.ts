/** Errors of `run_sql`. */
import { isObject, type JsonObject } from '../model/json.ts';
import type { Failure } from './failure.ts';

/** Returns the error of the database; empty if there is none. */
export function databaseError({ internal }: Failure): JsonObject {
  return isObject(internal) && isObject(internal['error']) ? internal['error'] : {};
}

/** Returns the message and hint of the database if there is one, else the message of the service. */
export function sqlMessageOf(failure: Failure): string {
  const { message, hint } = databaseError(failure);
  return typeof message === 'string' ? [message, hint].filter((part) => typeof part === 'string').join('. ') : failure.message;
}

/** Names of the metadata objects that block a statement, from the message of a `dependency-error`. */
export function dependentsIn({ code, message }: Failure): readonly string[] {
  return code === 'dependency-error' ? message.replace(/^[^:]*: /, '').split(/, (?=[a-z ]+ )/) : [];
}
