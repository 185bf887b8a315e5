/** Variables of GraphQL requests whose values no log is to show. */
import { isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';

export const MASKED = '[MASKED]';

/** The variables with `[MASKED]` in place of the values of those named. */
export function maskVariables(variables: JsonObject, names: ReadonlySet<string>): JsonObject {
  if (names.size === 0 || !Object.keys(variables).some((name) => names.has(name))) return variables;
  // Entries, not assignment: `__proto__` is a legal name.
  return Object.fromEntries(Object.entries(variables).map(([name, value]): [string, Json] => [name, names.has(name) ? MASKED : value]));
}

/** The URL of a request whose parameters may be variables (REST endpoints), or hold them as JSON (GraphQL). */
export function maskUrl(url: string, names: ReadonlySet<string>): string {
  const mark = url.indexOf('?');
  if (names.size === 0 || mark < 0) return url;
  const parameters = url
    .slice(mark + 1)
    .split('&')
    .map((parameter) => maskParameter(parameter, names));
  return `${url.slice(0, mark)}?${parameters.join('&')}`;
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
