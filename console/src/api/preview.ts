/** What changes would do, told by the service before they are made. */
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import { type Persona, sessionOf } from '../model/persona.ts';
import type { Step } from '../model/steps.ts';
import { ask } from './metadata.ts';

export interface SchemaDifference {
  readonly role: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface ChangePreview {
  readonly isConsistent: boolean;
  readonly inconsistent: readonly { readonly name: string; readonly reason: string }[];
  /** Of roles whose schemas would differ. */
  readonly roles: readonly SchemaDifference[];
  /** Queries of the allow-list and of REST endpoints that a role could not ask any more; the first of them. */
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
  /** Whose schemas are compared; undefined: those of all but admin, or, with queries, of nobody. */
  readonly roles?: readonly string[];
  readonly signal?: AbortSignal;
}

/** @throws Failure as the changes themselves would */
export async function previewChanges(
  steps: readonly Step[],
  { queries = [], roles = queries.length === 0 ? undefined : [], signal }: PreviewOptions = {},
): Promise<ChangePreview> {
  const answer = await ask(
    'preview_changes',
    {
      changes: steps.map(({ type, args }) => ({ type, args })),
      ...(queries.length === 0 ? {} : { queries: queries.map(({ query, as }) => ({ query, user: sessionOf(as) })) }),
      ...(roles === undefined ? {} : { roles }),
    },
    { signal },
  );
  const json = isObject(answer) ? answer : {};
  return {
    isConsistent: json['is_consistent'] !== false,
    inconsistent: objects(json['inconsistent_objects']).map((each) => ({
      name: String(each['name'] ?? each['type'] ?? ''),
      reason: String(each['reason'] ?? ''),
    })),
    roles: objects(json['schema_diff'])
      .map((each) => ({
        role: String(each['role']),
        added: texts(each['added']),
        removed: texts(each['removed']),
        changed: texts(each['changed']),
      }))
      .filter(({ added, removed, changed }) => added.length + removed.length + changed.length > 0),
    broken: objects(json['broken_queries']).map((each) => ({
      collection: String(each['collection']),
      name: String(each['name']),
      role: String(each['role']),
      problem: texts(each['problems']).join('; '),
      endpoints: texts(each['rest_endpoints']),
    })),
    brokenCount: Number(json['broken_query_count'] ?? 0),
    answers: objects(json['answers']),
  };
}

function objects(json: Json | undefined): readonly JsonObject[] {
  return isList(json) ? json.filter(isObject) : [];
}

function texts(json: Json | undefined): readonly string[] {
  return isList(json)
    ? json.map((each) =>
        typeof each === 'string' ? each : isObject(each) ? String(each['name'] ?? each['path'] ?? JSON.stringify(each)) : String(each),
      )
    : [];
}
