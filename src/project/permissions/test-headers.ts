/** Headers with which a permission test is sent. */
import { BACKEND_ONLY_HEADER, isSessionVariable, ROLE_VARIABLE } from '../../auth/session-variables.ts';
import { headerProblem } from '../../metadata/environment-template.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { failure, type FilePlace, type ProjectFailure } from '../failure.ts';

export interface TestHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Reason why no request can have these headers. */
  readonly flaw: ProjectFailure | undefined;
}

const PREFIX = 'x-svc-';

/**
 * Returns the headers of a session.
 * @param placeOfKey place of a member of `as` or of its `session`
 * @throws ProjectFailure for names that are not session variables
 */
export function testHeaders(
  role: string,
  session: JsonObject,
  isBackendOnly: boolean,
  placeOfKey: (part: 'as' | 'session', key: string) => FilePlace,
): TestHeaders {
  const headers = new Map<string, string>();
  const flaws: ProjectFailure[] = [];
  const add = (name: string, value: string, shown: string, place: FilePlace, flaw: string | undefined): void => {
    headers.set(name, value);
    if (flaw !== undefined) flaws.push(failure('session', `the ${shown} cannot be sent: its value ${flaw}`, place));
  };
  add(ROLE_VARIABLE, role, 'role', placeOfKey('as', 'role'), flawOf(role));
  for (const [key, value] of Object.entries(session)) {
    const place = placeOfKey('session', key);
    const lower = key.toLowerCase();
    const name = lower.startsWith(PREFIX) ? lower : PREFIX + lower;
    const refusal = refusalOf(key, name, lower);
    if (refusal !== undefined) throw failure('session', refusal, place);
    if (headers.has(name)) throw failure('session', `the session has "${name}" twice`, place);
    add(
      name,
      String(value),
      `session variable "${key}"`,
      place,
      isText(value) ? flawOf(String(value)) : 'must be a text, a number or a boolean',
    );
  }
  if (isBackendOnly) headers.set(BACKEND_ONLY_HEADER, 'true');
  return { headers: Object.fromEntries(headers), flaw: flaws[0] };
}

/** Returns why a session must not have a name; `undefined` if it may. @param key the name as it is written */
function refusalOf(key: string, name: string, lower: string): string | undefined {
  if (name === ROLE_VARIABLE) return `the session cannot set "${key}": write the role as as: {role}`;
  const refusal = `"${key}" is not a session variable`;
  if (name === BACKEND_ONLY_HEADER) return `${refusal}: write as: {role, backend_only: true}`;
  // The service would read it as a variable with both prefixes.
  if (lower.startsWith('x-hasura-')) return `${refusal}: remove "x-hasura-"`;
  return name !== PREFIX && headerProblem(name, '') === null && isSessionVariable(name) ? undefined : refusal;
}

function isText(value: Json): boolean {
  return value !== null && !isJsonArray(value) && !isJsonObject(value);
}

/** Returns why a value cannot be sent as a header; `undefined` if it can. */
function flawOf(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'has a line break';
  if (/[^\t\P{Cc}\u0080-\u009f]/u.test(value)) return 'has a control character';
  if (/[^\0-\u00ff]/.test(value)) return 'has characters outside of Latin-1, which no header can have';
  return /^[ \t]|[ \t]$/.test(value) ? 'begins or ends with a space, which a header loses' : undefined;
}
