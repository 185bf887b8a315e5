/** Permission matrix of a document: roles by tables by operations, with inherited roles resolved. */
import { createHash } from 'node:crypto';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { canonical, printedName } from '../directory/sections.ts';
import { eachObject } from '../directory/each-object.ts';
import type { DocumentPath } from '../directory/read-metadata.ts';

export const OPERATIONS = ['select', 'insert', 'update', 'delete'] as const;
export type PermissionOperation = (typeof OPERATIONS)[number];

export interface Grant {
  readonly role: string;
  readonly source: string;
  readonly table: string;
  /** Name in the form of the document. */
  readonly tableName: Json;
  readonly operation: PermissionOperation;
  /** Role that has the permission; another one if it is inherited. */
  readonly from: string;
  readonly permission: JsonObject;
  readonly path: DocumentPath;
}

/** Returns all permissions of all roles, sorted. A role's own permission for an operation overrides inherited ones. */
export function grantsOf(document: JsonObject): readonly Grant[] {
  const own: Grant[] = [];
  eachObject(document['sources'], ['sources'], (source, sourceAt) =>
    eachObject(source['tables'], [...sourceAt, 'tables'], (table, tableAt) => {
      for (const operation of OPERATIONS) {
        const key = `${operation}_permissions`;
        eachObject(table[key], [...tableAt, key], ({ role, permission }, path) => {
          if (!isJsonObject(permission)) return;
          const name = String(role);
          own.push({
            role: name,
            source: String(source['name']),
            table: printedName(table['table'] ?? null),
            tableName: table['table'] ?? null,
            operation,
            from: name,
            permission,
            path,
          });
        });
      }
    }),
  );
  const parents = new Map<string, readonly string[]>();
  eachObject(document['inherited_roles'], ['inherited_roles'], (entry) => {
    const set = entry['role_set'];
    parents.set(String(entry['role_name']), isJsonArray(set) ? set.map(String) : []);
  });
  const inherited = [...parents.keys()].flatMap((role) => inheritedGrants(role, parents, own));
  const order = ({ role, source, table, operation, from }: Grant): string =>
    [role, source, table, OPERATIONS.indexOf(operation), from].join('\0');
  return [...own, ...inherited].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

function inheritedGrants(role: string, parents: ReadonlyMap<string, readonly string[]>, own: readonly Grant[]): readonly Grant[] {
  const key = ({ source, table, operation }: Grant): string => [source, table, operation].join('\0');
  const has = new Set(own.filter((grant) => grant.role === role).map(key));
  const found: Grant[] = [];
  const visit = (name: string, seen: ReadonlySet<string>, shadowed: ReadonlySet<string>): void => {
    for (const parent of parents.get(name) ?? []) {
      if (seen.has(parent)) continue;
      const grants = own.filter((grant) => grant.role === parent && !shadowed.has(key(grant)));
      for (const grant of grants) if (!found.some((other) => other.path === grant.path)) found.push({ ...grant, role, from: parent });
      visit(parent, new Set([...seen, parent]), new Set([...shadowed, ...grants.map(key)]));
    }
  };
  visit(role, new Set([role]), has);
  return found;
}

/** Returns the columns as text, and the rules with digests, which are equal for equal rules. */
export function describeGrant({ permission, operation }: Grant): { readonly columns: string; readonly rules: string } {
  const columns = permission['columns'];
  const list = columns === '*' ? '*' : isJsonArray(columns) ? columns.map(String).sort().join(',') : operation === 'delete' ? '-' : '';
  const rules = [
    'filter',
    'check',
    'set',
    'limit',
    'allow_aggregations',
    'backend_only',
    'computed_fields',
    'query_root_fields',
    'subscription_root_fields',
  ]
    .filter((key) => permission[key] !== undefined && permission[key] !== null)
    .map((key) => `${key}=${digest(permission[key] as Json, key)}`);
  return { columns: list, rules: rules.join(' ') };
}

function digest(value: Json, key: string): string {
  const text = canonical(value, key);
  if (text === '{}' || text.length <= 24) return text;
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** Returns the names of session variables that a permission uses, in lower case. */
export function sessionVariablesOf(value: Json): readonly string[] {
  if (typeof value === 'string') return value === 'REQ_USER_ID' ? ['x-svc-user-id'] : /^x-svc-/i.test(value) ? [value.toLowerCase()] : [];
  if (isJsonArray(value)) return value.flatMap(sessionVariablesOf);
  return isJsonObject(value) ? Object.values(value).flatMap(sessionVariablesOf) : [];
}
