/** Decodes responses of `run_sql`. */
import type { Failure } from '../../api/failure.ts';
import { readKindOperation } from '../../api/metadata.ts';
import { hasOperation } from '../../api/operation-names.ts';
import { databaseError } from '../../api/sql-error.ts';
import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { SourceOverview } from '../../model/overview.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';

export interface SqlResult {
  /** Undefined for statements without rows. */
  readonly columns: readonly string[] | undefined;
  readonly rows: readonly (readonly string[])[];
  readonly isTruncated: boolean;
  readonly milliseconds: number;
  /** Objects of the metadata that were dropped or changed with the database. */
  readonly affected: readonly Json[];
}

export function readResult(json: Json, milliseconds: number): SqlResult {
  const response = isObject(json) ? json : {};
  const all = isList(response['result']) ? response['result'].filter(isList).map((row) => row.map(String)) : undefined;
  return {
    columns: all?.[0],
    rows: all?.slice(1) ?? [],
    isTruncated: response['truncated'] === true,
    milliseconds,
    affected: isList(response['affected']) ? response['affected'] : [],
  };
}

/** Tables of the database; empty for kinds that do not list them. @throws Failure */
export async function tablesOf({ name, kind }: Pick<SourceOverview, 'name' | 'kind'>): Promise<readonly JsonObject[]> {
  if (!hasOperation(kind, 'get_source_tables')) return [];
  const json = await readKindOperation(kind, 'get_source_tables', { source: name });
  return isList(json) ? json.filter(isObject) : [];
}

/** Marks the position of the database's error. @param from start of the text that was sent, within the whole of `length` */
export function markOf(failure: Failure, from: number, length: number): readonly CodeMark[] {
  const { internal } = failure;
  const error = databaseError(failure);
  const position = (isObject(internal) ? internal['position'] : undefined) ?? error['position'];
  if (typeof position !== 'number') return [];
  const at = Math.min(length, from + position - 1);
  return [{ from: at, to: at + 1, message: String(error['message'] ?? 'here') }];
}
