/** History of metadata changes. */
import { isObject, type Json, type JsonObject, objectsIn } from './json.ts';

export type ChangeKind = 'added' | 'removed' | 'changed';

export interface RecordedChange {
  readonly version: number;
  readonly at: string;
  /** User or credentials of the author, with the client and its address. */
  readonly author: string;
  readonly operations: readonly string[];
  readonly objectCount: number;
  /** False if the objects were too large, or their space was needed for newer ones. */
  readonly hasObjects: boolean;
  /** The first changed objects. */
  readonly objects: readonly { readonly label: string; readonly kind: ChangeKind }[];
}

export interface ObjectChange {
  readonly label: string;
  readonly kind: ChangeKind;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** Reads the answer of `get_metadata_history`. */
export function historyEntries(json: Json): readonly RecordedChange[] {
  return (isObject(json) ? objectsIn(json['history']) : []).map((entry) => ({
    version: Number(entry['resource_version']),
    at: String(entry['at']),
    author: authorOf(entry),
    operations: textsIn(entry['operations']),
    objectCount: Number(entry['object_count']),
    hasObjects: entry['has_objects'] === true,
    objects: objectsIn(entry['objects']).map((object) => ({ label: labelOf(object), kind: String(object['change']) as ChangeKind })),
  }));
}

/** Returns the oldest version that can be restored, from the answer of `get_metadata_history`. */
export function completeSince(json: Json): number {
  return isObject(json) ? Number(json['complete_since']) : 0;
}

/** Reads the answer of `get_metadata_change`. */
export function objectChanges(json: Json): readonly ObjectChange[] {
  return (isObject(json) ? objectsIn(json['objects']) : []).map((object) => {
    const { before = null, after = null } = object;
    return {
      label: labelOf(object),
      kind: before === null ? 'added' : after === null ? 'removed' : 'changed',
      before: before ?? undefined,
      after: after ?? undefined,
    };
  });
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  'admin-secret': 'admin secret',
  jwt: 'token',
  webhook: 'webhook',
  none: 'no secret',
};

function authorOf({ role, user, credentials, client, ip }: JsonObject): string {
  if (typeof role !== 'string') return 'the service';
  const known = typeof credentials === 'string' ? CREDENTIALS[credentials] : undefined;
  const details = [known, client, ip].filter((each) => typeof each === 'string');
  return `${typeof user === 'string' ? `user ${user}` : role}${details.length === 0 ? '' : ` (${details.join(', ')})`}`;
}

function labelOf({ type, source, name }: JsonObject): string {
  const word = String(type).replaceAll('_', ' ');
  if (type === 'section') return String(name).replaceAll('_', ' ');
  return typeof source === 'string' ? `${word} ${String(name)} of ${source}` : `${word} ${String(name)}`;
}

function textsIn(json: Json | undefined): readonly string[] {
  return Array.isArray(json) ? json.map(String) : [];
}
