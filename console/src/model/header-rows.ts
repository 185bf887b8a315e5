/** Headers that the service sends, as forms have them. */
import { isList, isObject, type Json, type JsonObject } from './json.ts';

export interface HeaderRow {
  readonly key: string;
  /** Or, where it is from the environment, the variable that holds it. */
  readonly value: string;
  readonly isFromEnvironment: boolean;
}

/** The rows of the key `headers` of what is called. */
export function headerRows(headers: Json | undefined): readonly HeaderRow[] {
  return (isList(headers) ? headers.filter(isObject) : []).map(({ name, value, value_from_env: variable }) => ({
    key: String(name),
    value: String(variable ?? value ?? ''),
    isFromEnvironment: variable !== undefined,
  }));
}

/** The key `headers`, of the rows that have a name. */
export function headersOf(rows: readonly HeaderRow[]): readonly JsonObject[] {
  return rows
    .filter(({ key }) => key.trim() !== '')
    .map(({ key, value, isFromEnvironment }) => ({ name: key.trim(), [isFromEnvironment ? 'value_from_env' : 'value']: value }));
}
