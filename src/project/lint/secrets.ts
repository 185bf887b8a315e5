/** Finds secrets in plain text. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { DocumentPath } from '../directory/read-metadata.ts';

const SECRET_HEADER = /^(?:authorization|x-api-key|x-svc-admin-secret|.*secret.*|.*token.*|.*password.*)$/i;

const PASSWORD_IN_URL = /\b([a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:)[^@\s{]+(?=@)/gi;
/** Parameters of a URL whose names promise a secret. */
const SECRET_PARAMETER =
  /([?&;](?:[^=&;?#\s]*(?:token|secret|password|passwd|signature|credential|api[_-]?key|access[_-]?key)[^=&;?#\s]*|key|sig|auth)=)[^&;#{\s"']+/gi;
/** Key of a service account, in its JSON text. */
const PRIVATE_KEY = /("private_key"\s*:\s*")[^"]+/g;
const PASSWORD_MEMBER = /^(?:password|sslpassword|passphrase|private_key|client_secret|access_token)$/;
const HIDDEN = '***';

/** Returns a value for messages, with secrets in plain text hidden. @param key member that the value belongs to */
export function withSecretsHidden(value: Json, key = ''): Json {
  if (typeof value === 'string') return isPassword(key, value) ? HIDDEN : hiddenInText(value);
  if (isJsonArray(value)) return value.map((item) => withSecretsHidden(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, item]): [string, Json] => [name, withSecretsHidden(item, name)]);
  return { ...Object.fromEntries(entries), ...(isSecretHeader(value) ? { value: HIDDEN } : {}) };
}

/** Returns the paths of values that look like secrets in plain text. */
export function plainSecrets(value: Json, at: DocumentPath): readonly DocumentPath[] {
  if (typeof value === 'string') return hiddenInText(value) === value ? [] : [at];
  if (isJsonArray(value)) return value.flatMap((item, i) => plainSecrets(item, [...at, i]));
  if (!isJsonObject(value)) return [];
  if (isSecretHeader(value)) return [[...at, 'value']];
  return Object.entries(value).flatMap(([key, item]) => (isPassword(key, item) ? [[...at, key]] : plainSecrets(item, [...at, key])));
}

function isPassword(key: string, value: Json): boolean {
  return PASSWORD_MEMBER.test(key) && typeof value === 'string' && value !== '';
}

function hiddenInText(text: string): string {
  return text.replace(PASSWORD_IN_URL, `$1${HIDDEN}`).replace(SECRET_PARAMETER, `$1${HIDDEN}`).replace(PRIVATE_KEY, `$1${HIDDEN}`);
}

/** True for a header whose name promises a secret and whose value is neither empty nor a template. */
function isSecretHeader({ name, value }: JsonObject): boolean {
  return typeof name === 'string' && SECRET_HEADER.test(name) && typeof value === 'string' && value !== '' && !value.includes('{{');
}
