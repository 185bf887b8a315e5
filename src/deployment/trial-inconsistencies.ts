/** Inconsistent objects in the result of a trial run. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import type { ReadMetadata } from '../project/directory/read-metadata.ts';
import { errorsIn, type Problem } from '../project/failure.ts';
import { inconsistenciesIn, isMissingTable, problemsOf, titleOf } from '../project/project-metadata.ts';

export interface PlannedInconsistencies {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Inconsistent in the trial, but maybe only because it runs without the added sources and remote schemas. */
  readonly notKnown: readonly string[];
  /** Records of `after` with their places: the reasons for which a deployment is refused. */
  readonly problems: readonly Problem[];
}

/** @param added names of remote schemas that are new or have another address, which the trial does not call */
export function plannedInconsistencies(trial: JsonObject, read: ReadMetadata, added: readonly string[]): PlannedInconsistencies {
  const isUncertain = (record: Json): boolean => added.length > 0 && isJsonObject(record) && mayNeed(record, new Set(added));
  const after = recordsIn(trial, 'after');
  const certain = after.filter((record) => !isUncertain(record));
  return {
    before: textsOf(recordsIn(trial, 'before')),
    after: textsOf(certain),
    notKnown: after.filter(isUncertain).map(textOf),
    problems: errorsIn(problemsOf(inconsistenciesIn(certain, read))),
  };
}

/** Returns the inconsistent objects of a trial, before or after the deployment. */
export function recordsIn(trial: JsonObject, when: 'before' | 'after'): readonly Json[] {
  const found = isJsonObject(trial['inconsistencies']) ? trial['inconsistencies'][when] : undefined;
  return isJsonArray(found) ? found : [];
}

/** Returns a text for each record, and a single one for many missing tables of one source. */
function textsOf(records: readonly Json[]): readonly string[] {
  const [missing, others] = [records.filter(isMissingTable), records.filter((record) => !isMissingTable(record))];
  const folded = problemsOf(inconsistenciesIn(missing, null));
  return [
    ...(folded.length === missing.length ? missing.map(textOf) : folded.map(({ message }) => `table: ${message}`)),
    ...others.map(textOf),
  ];
}

/** Objects whose inconsistencies do not name them in their reason. */
const UNNAMED: ReadonlySet<Json | undefined> = new Set(['source', 'remote_schema']);

function textOf(record: Json): string {
  const [found] = isJsonObject(record) && UNNAMED.has(record['type']) ? inconsistenciesIn([record], null) : [];
  if (found !== undefined) return `${titleOf(found)}: ${found.reason}`;
  return isJsonObject(record) ? `${String(record['type'] ?? 'objects')}: ${String(record['reason'])}` : '';
}

/** Objects that may use fields and types of any source without naming it. */
const OF_ANY_SOURCE: ReadonlySet<Json | undefined> = new Set(['rest_endpoint', 'query_collections', 'action', 'custom_types']);

function mayNeed(record: JsonObject, added: ReadonlySet<string>): boolean {
  const { type, definition, objects } = record;
  if (OF_ANY_SOURCE.has(type)) return true;
  if (isJsonArray(objects)) return objects.some((object) => isJsonObject(object) && mayNeed(object, added));
  return mentions(definition ?? null, added);
}

const REFERENCE_KEYS: ReadonlySet<string> = new Set(['source', 'remote_schema', 'remote_schema_name']);

function mentions(value: Json, added: ReadonlySet<string>): boolean {
  if (isJsonArray(value)) return value.some((item) => mentions(item, added));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, item]) =>
    typeof item === 'string' ? REFERENCE_KEYS.has(key) && added.has(item) : mentions(item, added),
  );
}
