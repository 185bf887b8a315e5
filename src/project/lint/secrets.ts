/** Finds secrets in plain text. */
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import type { DocumentPath } from '../directory/read-metadata.ts';

const SECRET_HEADER = /^(?:authorization|x-api-key|x-svc-admin-secret|.*secret.*|.*token.*|.*password.*)$/i;

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
