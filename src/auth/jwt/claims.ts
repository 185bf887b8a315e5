/** Turns the claims of a verified token into a session. */
import { ALLOWED_ROLES, type ClaimSource, type ClaimsLocation, DEFAULT_ROLE } from '../../config/jwt-secret.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { describeJson } from '../../metadata/codec.ts';
import { duplicateKey } from '../../util/duplicate-keys.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { valueAt } from '../../util/json-path.ts';
import { aliasNamespaces, ownName, type PrefixAliases } from '../prefix-aliases.ts';
import type { Session } from '../session.ts';
import { isSessionVariable, isStorableText, ROLE_VARIABLE } from '../session-variables.ts';

type SessionClaims = ReadonlyMap<string, Json>;

/**
 * @param requested role that the client requests
 * @param aliases other prefixes of claim names
 * @throws SvcError jwt-invalid-claims, jwt-missing-role-claims, access-denied
 */
export function sessionOfClaims(
  claims: JsonObject,
  location: ClaimsLocation,
  requested: string | undefined,
  aliases: PrefixAliases = [],
): Session {
  const found = location.kind === 'map' ? mappedClaims(claims, location.entries) : claimsInNamespace(claims, location, aliases);
  const allowed = allowedRoles(found.get(ALLOWED_ROLES));
  const byDefault = defaultRole(found.get(DEFAULT_ROLE));
  const role = requested ?? byDefault;
  if (!allowed.includes(role)) throw roleNotAllowed(requested !== undefined);
  const variables = new Map<string, string>();
  for (const [name, value] of found) {
    if (name !== ALLOWED_ROLES && name !== DEFAULT_ROLE && isSessionVariable(name)) variables.set(name, sessionText(name, value));
  }
  variables.set(ROLE_VARIABLE, role);
  return { role, variables, backendOnly: false };
}

function roleNotAllowed(isRequested: boolean): SvcError {
  const remedy = isRequested
    ? `X-Svc-Role must name one of the roles in ${ALLOWED_ROLES} of the token. Without the header, the role is ${DEFAULT_ROLE}.`
    : `The token needs ${DEFAULT_ROLE} among its ${ALLOWED_ROLES}, or the request X-Svc-Role with one of them.`;
  return new SvcError('access-denied', 'Your requested role is not in allowed roles', { remedies: [remedy] });
}

function invalid(message: string): SvcError {
  return new SvcError('jwt-invalid-claims', message);
}

function mappedClaims(claims: JsonObject, entries: ReadonlyMap<string, ClaimSource>): SessionClaims {
  const found = new Map<string, Json>();
  for (const [name, source] of entries) {
    const value = source.kind === 'literal' ? source.value : (valueAt(claims, source.path) ?? source.byDefault);
    if (value !== undefined && value !== null) found.set(name, value);
    else if (name !== ALLOWED_ROLES && name !== DEFAULT_ROLE) throw invalid(`JWT claim from claims_map, ${name} not found`);
  }
  return found;
}

function claimsInNamespace(
  claims: JsonObject,
  configured: Exclude<ClaimsLocation, { kind: 'map' }>,
  aliases: PrefixAliases,
): SessionClaims {
  const location = locationIn(claims, configured, aliases);
  const value =
    location.kind === 'path' ? valueAt(claims, location.path) : Object.hasOwn(claims, location.name) ? claims[location.name] : undefined;
  if (value === undefined) {
    throw invalid(
      location.kind === 'path'
        ? `claims not found at claims_namespace_path: '${location.text}'`
        : `claims key: '${location.name}' not found`,
    );
  }
  const object = location.format === 'json' ? value : parsedClaims(value, location);
  if (!isJsonObject(object)) throw invalid('expecting a json object when claims_format is json');
  const found = new Map<string, Json>();
  const own = new Set(Object.keys(object).map((key) => key.toLowerCase()));
  for (const [key, claim] of Object.entries(object)) {
    const written = key.toLowerCase();
    const name = ownName(written, aliases);
    if (!name.startsWith('x-svc-') || (name !== written && own.has(name))) continue;
    if (found.has(name)) throw invalid(`x-svc-* claims: duplicate claim ${name}`);
    found.set(name, claim);
  }
  return found;
}

/** Falls back to the namespaces of the aliases: tokens of another service have their claims there. */
function locationIn<L extends Exclude<ClaimsLocation, { kind: 'map' }>>(claims: JsonObject, location: L, aliases: PrefixAliases): L {
  if (location.kind === 'path' || Object.hasOwn(claims, location.name)) return location;
  const other = aliasNamespaces(aliases).find((name) => Object.hasOwn(claims, name));
  return other === undefined ? location : { ...location, name: other };
}

function parsedClaims(value: Json, location: Exclude<ClaimsLocation, { kind: 'map' }>): JsonObject {
  if (typeof value !== 'string') throw invalid('expecting a string when claims_format is stringified_json');
  try {
    const json = JSON.parse(value) as Json;
    if (isJsonObject(json) && duplicateKey(value) === null) return json;
  } catch {
    // Reported below.
  }
  const place = location.kind === 'path' ? `claims_namespace_path ${location.text}` : `claims_namespace ${location.name}`;
  throw invalid(`expecting stringified json at: '${place}', but found: ${value}`);
}

function allowedRoles(value: Json | undefined): readonly string[] {
  if (value === undefined) throw missing(ALLOWED_ROLES);
  const complaint = (why: string): SvcError => invalid(`invalid ${ALLOWED_ROLES}; should be a list of roles: ${why}`);
  if (!isJsonArray(value)) throw complaint(`parsing [] failed, expected Array, but encountered ${describeJson(value)}`);
  return value.map((role) => roleName(role, complaint));
}

function defaultRole(value: Json | undefined): string {
  if (value === undefined) throw missing(DEFAULT_ROLE);
  return roleName(value, (why) => invalid(`invalid ${DEFAULT_ROLE}; should be a single role name: ${why}`));
}

function roleName(value: Json, complaint: (why: string) => SvcError): string {
  if (typeof value !== 'string') throw complaint(`parsing RoleName failed, expected String, but encountered ${describeJson(value)}`);
  if (value === '' || !isStorableText(value)) throw complaint('parsing RoleName failed, not a role name');
  return value;
}

function missing(name: string): SvcError {
  return new SvcError('jwt-missing-role-claims', `JWT claim does not contain ${name}`);
}

function sessionText(name: string, value: Json): string {
  if (typeof value !== 'string') {
    throw invalid(`x-svc-* claims: parsing Text failed, expected String at ${name}, but encountered ${describeJson(value)}`);
  }
  if (!isStorableText(value)) throw invalid(`x-svc-* claims: ${name} has characters that cannot be stored as text`);
  return value;
}
