import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { MASKED } from './masked-variables.ts';

/** Keys whose values are secrets, wherever they stand. */
const SECRET_KEY =
  /password|passphrase|secret|token|credential|api_?key|access_?key|private_?key|service_?account|authorization|cookie|database_?url|connection_?string/i;
/** Keys of headers, parameters of URLs and environments: the values in them are secrets as a rule. */
const VALUES_KEY = /^(?:headers|(?:add|request|response)_?headers|query_?params|env)$/i;
const URL_KEY = /url$|webhook$|handler$/i;
/** Objects that say where a secret is, or in which parts it comes. */
const REFERENCES: ReadonlySet<string> = new Set(['from_env', 'value_from_env']);
const USER_IN_URL = /:\/\/[^\s/?#]*@/g;

/**
 * An operation of the administration as it may be logged: `[MASKED]` in place of connection strings, passwords and the like,
 * and of the values of headers; URLs without user, password and parameters. Names of environment variables stay. What is
 * written in SQL and templates is not looked into, but for users in URLs.
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
    // `database_url` may be given by its parts, with the password among them
    return key === 'connection_parameters' ? withoutSecrets(part) : MASKED;
  });
}

/** Of headers, either a list of `{name, value}` or an object. */
function withoutValues(headers: Json): Json {
  if (isJsonArray(headers)) return headers.map((item) => (isJsonObject(item) ? mapObject(item, maskedHeaderPart) : MASKED));
  if (isJsonObject(headers)) return mapObject(headers, maskedHeaderMember);
  return headers === null ? null : MASKED;
}

function maskedHeaderPart(key: string, value: Json): Json {
  return key === 'name' || REFERENCES.has(key) ? value : MASKED;
}

/** The headers of a transform are in objects and lists of their own. */
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
