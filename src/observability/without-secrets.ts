import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { MASKED } from './masked-variables.ts';

/** Keys whose values are always secrets. */
const SECRET_KEY =
  /password|passphrase|secret|token|credential|api_?key|access_?key|private_?key|service_?account|authorization|cookie|database_?url|connection_?string/i;
/** Keys of headers, URL parameters and environments, whose values are usually secrets. */
const VALUES_KEY = /^(?:headers|(?:add|request|response)_?headers|query_?params|env)$/i;
const URL_KEY = /url$|webhook$|handler$/i;
/** Keys that refer to a secret without containing it. */
const REFERENCES: ReadonlySet<string> = new Set(['from_env', 'value_from_env']);
const USER_IN_URL = /:\/\/[^\s/?#]*@/g;

/**
 * Removes secrets from an administration operation before it is logged: masks connection strings, passwords and similar values, and values
 * of headers; removes user, password and parameters from URLs. Names of environment variables stay. SQL and templates are not searched,
 * except for users in URLs.
 */
export function withoutSecrets(json: Json): Json {
  if (typeof json === 'string') return urlWithoutSecrets(json);
  if (isJsonArray(json)) return json.map(withoutSecrets);
  if (!isJsonObject(json)) return json;
  return mapObject(json, (key, value) => {
    if (VALUES_KEY.test(key)) return withoutValues(value);
    if (SECRET_KEY.test(key)) return withoutSecret(value);
    return typeof value === 'string' && URL_KEY.test(key) ? withoutParameters(userless(value)) : withoutSecrets(value);
  });
}

function mapObject(object: JsonObject, change: (key: string, value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]): [string, Json] => [key, change(key, value)]));
}

function withoutSecret(value: Json): Json {
  if (value === null || typeof value === 'boolean') return value;
  if (!isJsonObject(value)) return MASKED;
  return mapObject(value, (key, part) => {
    if (REFERENCES.has(key)) return part;
    // `database_url` may consist of parts, one of which is the password.
    return key === 'connection_parameters' ? withoutSecrets(part) : MASKED;
  });
}

/** @param headers list of `{name, value}`, or an object */
function withoutValues(headers: Json): Json {
  if (isJsonArray(headers)) return headers.map((item) => (isJsonObject(item) ? mapObject(item, maskedHeaderPart) : MASKED));
  if (isJsonObject(headers)) return mapObject(headers, maskedHeaderMember);
  return headers === null ? null : MASKED;
}

function maskedHeaderPart(key: string, value: Json): Json {
  return key === 'name' || REFERENCES.has(key) ? value : MASKED;
}

/** Headers of a transform are nested in further objects and lists. */
function maskedHeaderMember(key: string, value: Json): Json {
  if (VALUES_KEY.test(key)) return withoutValues(value);
  return /^remove_?headers$/i.test(key) ? value : MASKED;
}

function urlWithoutSecrets(text: string): string {
  const shown = userless(text);
  return /^\s*[a-z][a-z0-9+.-]*:\/\/\S*$/i.test(shown) ? withoutParameters(shown) : shown;
}

function userless(text: string): string {
  return text.includes('://') ? text.replace(USER_IN_URL, '://***@') : text;
}

function withoutParameters(url: string): string {
  return url.replace(/[?#].*$/s, '?***');
}
