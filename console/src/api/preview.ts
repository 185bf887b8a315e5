/** Previews changes with `preview_changes`. */
import { readInconsistency } from '../model/inconsistent.ts';
import { isList, isObject, type Json, type JsonObject, objectOf, objectsIn } from '../model/json.ts';
import { type Persona, sessionOf } from '../model/persona.ts';
import type { Step } from '../model/steps.ts';
import { readOperation } from './metadata.ts';

export interface SchemaDifference {
  readonly role: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface ChangePreview {
  /** False also if objects stay inconsistent that are so without the changes. */
  readonly isConsistent: boolean;
  /** Objects that the changes make inconsistent. */
  readonly inconsistent: readonly { readonly name: string; readonly reason: string }[];
  /** Roles whose schemas would change. */
  readonly roles: readonly SchemaDifference[];
  /** First queries of the allow-list and of REST endpoints that would fail for a role. */
  readonly broken: readonly BrokenQuery[];
  readonly brokenCount: number;
  readonly answers: readonly JsonObject[];
}

export interface BrokenQuery {
  readonly collection: string;
  readonly name: string;
  readonly role: string;
  readonly problem: string;
  readonly endpoints: readonly string[];
}

interface PreviewedQuery {
  readonly query: string;
  readonly as: Persona;
}

interface PreviewOptions {
  readonly queries?: readonly PreviewedQuery[];
  /** Roles whose schemas are compared. Defaults to all roles but admin; with `queries`, to none. */
  readonly roles?: readonly string[];
  readonly signal?: AbortSignal;
}

/** @throws Failure if the changes would fail */
export async function previewChanges(
  steps: readonly Step[],
  { queries = [], roles = queries.length === 0 ? undefined : [], signal }: PreviewOptions = {},
): Promise<ChangePreview> {
  const response = await readOperation(
    'preview_changes',
    {
      changes: steps.map(({ type, args }) => ({ type, args })),
      ...(queries.length === 0 ? {} : { queries: queries.map(({ query, as }) => ({ query, user: sessionOf(as) })) }),
      ...(roles === undefined ? {} : { roles }),
    },
    { signal },
  );
  const json = objectOf(response);
  const inconsistent = objectsIn(json['inconsistent_objects']);
  const before = inconsistent.length === 0 ? new Set() : await readInconsistentBefore(signal);
  return {
    isConsistent: json['is_consistent'] !== false,
    inconsistent: inconsistent
      .filter((each) => !before.has(identityOf(each)))
      .map((each) => ({
        name: String(each['name'] ?? each['type'] ?? ''),
        reason: String(each['reason'] ?? ''),
      })),
    roles: objectsIn(json['schema_diff'])
      .map((each) => ({
        role: String(each['role']),
        added: texts(each['added']),
        removed: texts(each['removed']),
        changed: texts(each['changed']),
      }))
      .filter(({ added, removed, changed }) => added.length + removed.length + changed.length > 0),
    broken: objectsIn(json['broken_queries']).map((each) => ({
      collection: String(each['collection']),
      name: String(each['name']),
      role: String(each['role']),
      problem: texts(each['problems']).join('; '),
      endpoints: texts(each['rest_endpoints']),
    })),
    brokenCount: Number(json['broken_query_count'] ?? 0),
    answers: objectsIn(json['answers']),
  };
}

async function readInconsistentBefore(signal: AbortSignal | undefined): Promise<ReadonlySet<string>> {
  const json = objectOf(await readOperation('get_inconsistent_metadata', {}, { signal }));
  return new Set(objectsIn(json['inconsistent_objects']).map(identityOf));
}

/** Names and reason of a record of inconsistent objects, whose definitions a change may edit. */
function identityOf(record: JsonObject): string {
  const { reason, objects } = readInconsistency(record, []);
  return JSON.stringify([reason, objects.map(({ name }) => name)]);
}

function texts(json: Json | undefined): readonly string[] {
  return isList(json)
    ? json.map((each) =>
        typeof each === 'string' ? each : isObject(each) ? String(each['name'] ?? each['path'] ?? JSON.stringify(each)) : String(each),
      )
    : [];
}
