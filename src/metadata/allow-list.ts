import { at, type Path } from '../util/path.ts';
import type { Json } from '../util/json.ts';
import { bool, type Codec, defaulted, leaf, like, list, nonEmptyText, object, optional, parseFailed, required } from './codec.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

/** Roles that may run the operations of a collection on the allow-list; `null` for all roles. */
export type AllowListScope = readonly string[] | null;

export interface AllowListEntry extends WithUnknownKeys {
  /** Name of the query collection. */
  readonly collection: string;
  readonly scope: AllowListScope;
}

const writtenScope = object('AllowlistScope', { global: required(bool), roles: optional(list(nonEmptyText)) });

/** `{global: true}` or `{global: false, roles: […]}`. */
export const allowListScopeCodec: Codec<AllowListScope> = leaf(
  'AllowlistScope',
  decodeScope,
  (scope) => writtenScope.encode(scope === null ? { global: true } : { global: false, roles: scope }),
  like(writtenScope, '`{"global": true}`, or `{"global": false, "roles": […]}`.'),
);

function decodeScope(json: Json, path: Path): AllowListScope {
  const { global, roles } = writtenScope.decode(json, path);
  if (global) {
    if (roles !== undefined) throw parseFailed('roles are not allowed when scope is global', path);
    return null;
  }
  if (roles === undefined) throw parseFailed("the key 'roles' was not present", path);
  const place = at(path, 'roles');
  if (roles.length === 0) throw parseFailed('a scope that is not global needs at least one role', place);
  const duplicates = roles.filter((role, i) => roles.indexOf(role) !== i);
  if (duplicates.length > 0) throw parseFailed(`duplicate roles are not allowed: ${[...new Set(duplicates)].join(', ')}`, place);
  return roles;
}

/** Entry of `allowlist`, and the arguments of `add_collection_to_allowlist`. */
export const allowListEntryCodec: Codec<AllowListEntry> = object('AllowlistEntry', {
  collection: required(nonEmptyText),
  scope: defaulted<AllowListScope>(allowListScopeCodec, () => null),
});
