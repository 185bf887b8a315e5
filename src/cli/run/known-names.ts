/** Names that a command looks up in the metadata. */
import { EXIT, failure } from '../../project/failure.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { nearest } from '../../model/nearest.ts';

/** All roles in the metadata, including those without table permissions. */
export function rolesIn(document: JsonObject): readonly string[] {
  const roles = new Set(['admin']);
  const visit = (value: Json): void => {
    if (isJsonArray(value)) for (const item of value) visit(item);
    else if (isJsonObject(value))
      for (const [key, item] of Object.entries(value)) {
        if ((key === 'role' || key === 'role_name') && item !== null && typeof item !== 'object') roles.add(String(item));
        if (key === 'role_set' && isJsonArray(item)) for (const each of item) roles.add(String(each));
        visit(item);
      }
  };
  for (const section of ['sources', 'inherited_roles', 'remote_schemas', 'actions']) visit(document[section] ?? null);
  return [...roles];
}

/** @throws ProjectFailure with the closest known name */
export function requireKnown(what: string, name: string | undefined, known: readonly string[]): void {
  if (name === undefined || known.includes(name)) return;
  const meant = nearest(name, known);
  const guess = meant === undefined ? '' : `, did you mean "${meant}"?`;
  throw failure('not-exists', `the metadata has no ${what} "${name}"${guess}`, {}, EXIT.usage);
}
