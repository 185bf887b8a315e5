/** Masks the values of GraphQL variables in logs. */
import { isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';

export const MASKED = '[MASKED]';

/** Replaces the values of named variables by `[MASKED]`. */
export function maskVariables(variables: JsonObject, names: ReadonlySet<string>): JsonObject {
  if (names.size === 0 || !Object.keys(variables).some((name) => names.has(name))) return variables;
  // Entries, not assignment: `__proto__` is a legal name.
  return Object.fromEntries(Object.entries(variables).map(([name, value]): [string, Json] => [name, names.has(name) ? MASKED : value]));
}

/** Masks variables in a URL: as parameters of REST endpoints, and as JSON in GraphQL requests. */
export function maskUrl(url: string, names: ReadonlySet<string>): string {
  const query = url.indexOf('?');
  if (names.size === 0 || query < 0) return url;
  const parameters = url
    .slice(query + 1)
    .split('&')
    .map((parameter) => maskParameter(parameter, names));
  return `${url.slice(0, query)}?${parameters.join('&')}`;
}

function maskParameter(parameter: string, names: ReadonlySet<string>): string {
  const [name, value] = [...new URLSearchParams(parameter)][0] ?? ['', ''];
  const written = parameter.split('=', 1)[0] ?? '';
  if (names.has(name)) return `${written}=${MASKED}`;
  if (name !== 'variables') return parameter;
  try {
    const json = parseJson(value);
    if (!isJsonObject(json)) return parameter;
    const masked = maskVariables(json, names);
    return masked === json ? parameter : `${written}=${encodeURIComponent(printJson(masked))}`;
  } catch {
    return `${written}=${MASKED}`;
  }
}
