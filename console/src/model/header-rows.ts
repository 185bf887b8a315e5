/** Headers that the service sends, as rows of a form. */
import { type Json, type JsonObject, objectsIn } from './json.ts';

export interface HeaderRow {
  readonly key: string;
  /** Value, or the name of the environment variable that holds it. */
  readonly value: string;
  readonly isFromEnvironment: boolean;
}

/** Reads the key `headers` of a trigger, an action or a remote schema. */
export function headerRows(headers: Json | undefined): readonly HeaderRow[] {
  return objectsIn(headers).map(({ name, value, value_from_env: variable }) => ({
    key: String(name),
    value: String(variable ?? value ?? ''),
    isFromEnvironment: variable !== undefined,
  }));
}

/** Writes the key `headers`, without rows that have no name. */
export function headersOf(rows: readonly HeaderRow[]): readonly JsonObject[] {
  return rows
    .filter(({ key }) => key.trim() !== '')
    .map(({ key, value, isFromEnvironment }) => ({ name: key.trim(), [isFromEnvironment ? 'value_from_env' : 'value']: value }));
}
