/** Previews changes with `preview_changes`. */
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
  readonly isConsistent: boolean;
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
  return {
    isConsistent: json['is_consistent'] !== false,
    inconsistent: objectsIn(json['inconsistent_objects']).map((each) => ({
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

function texts(json: Json | undefined): readonly string[] {
  return isList(json)
    ? json.map((each) =>
        typeof each === 'string' ? each : isObject(each) ? String(each['name'] ?? each['path'] ?? JSON.stringify(each)) : String(each),
      )
    : [];
}
