/** Finds secrets in plain text. */
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import type { DocumentPath } from '../directory/read-metadata.ts';

const SECRET_HEADER = /^(?:authorization|x-api-key|x-svc-admin-secret|.*secret.*|.*token.*|.*password.*)$/i;

const HIDDEN = '***';

/** Returns a value for messages, with what looks like a secret hidden. @param key member that the value belongs to */
export function withSecretsHidden(value: Json, key = ''): Json {
  if (typeof value === 'string') {
    if (key === 'password' && value !== '') return HIDDEN;
    return value.replace(/(\/\/[^/\s:@]*:)[^@\s{]+(?=@)/g, `$1${HIDDEN}`).replace(/([?&;]password=)[^&;{]+/gi, `$1${HIDDEN}`);
  }
  if (isJsonArray(value)) return value.map((item) => withSecretsHidden(item));
  if (!isJsonObject(value)) return value;
  const isHeader = typeof value['name'] === 'string' && SECRET_HEADER.test(value['name']);
  const hidden = (name: string, item: Json): Json =>
    isHeader && name === 'value' && typeof item === 'string' ? HIDDEN : withSecretsHidden(item, name);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, hidden(name, item)]));
}

/** Returns the paths of values that look like secrets in plain text. */
export function plainSecrets(value: Json, at: DocumentPath): readonly DocumentPath[] {
  if (typeof value === 'string')
    return /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^@\s{]+@/i.test(value) || /[?&;]password=[^&;{]+/i.test(value) ? [at] : [];
  if (isJsonArray(value)) return value.flatMap((item, i) => plainSecrets(item, [...at, i]));
  if (!isJsonObject(value)) return [];
  if (
    typeof value['name'] === 'string' &&
    SECRET_HEADER.test(value['name']) &&
    typeof value['value'] === 'string' &&
    value['value'] !== '' &&
    !value['value'].includes('{{')
  )
    return [[...at, 'value']];
  return Object.entries(value).flatMap(([key, item]) =>
    key === 'password' && typeof item === 'string' && item !== '' ? [[...at, key]] : plainSecrets(item, [...at, key]),
  );
}
