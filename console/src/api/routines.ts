/** Functions in a database. */
import { KINDS } from '../model/kinds.generated.ts';
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import { runSql } from './metadata.ts';

export interface Routine {
  readonly schema: string;
  readonly name: string;
  /** Table or other type that it returns: `public.album`. */
  readonly returns: string;
  readonly parameters: readonly { readonly name: string; readonly type: string }[];
}

export interface Routines {
  readonly list: readonly Routine[];
  /** True if the database has more than the list. */
  readonly isTruncated: boolean;
}

/** Each row is a parameter, or a function without parameters. */
const MAX_ROWS = 5000;

/** @throws Failure, for example if the service does not run SQL */
export async function readRoutines(source: string, kind: string, signal?: AbortSignal): Promise<Routines> {
  const sql = KINDS[kind]?.functionsSql;
  if (sql === undefined) return { list: [], isTruncated: false };
  const response = await runSql(kind, { source, sql, read_only: true, max_rows: MAX_ROWS }, signal);
  const result = isObject(response) && isList(response['result']) ? response['result'].filter(isList).slice(1) : [];
  const found = new Map<string, Routine>();
  for (const row of result) {
    const [schema, specific, name, returnSchema, returnName, parameter, typeSchema, typeName] = row.map(textOf);
    const key = `${schema} ${specific}`;
    const former = found.get(key) ?? { schema: schema ?? '', name: name ?? '', returns: `${returnSchema}.${returnName}`, parameters: [] };
    const isParameter = typeName !== undefined && typeName !== '';
    found.set(
      key,
      isParameter
        ? {
            ...former,
            parameters: [...former.parameters, { name: parameter ?? '', type: typeSchema === '' ? typeName : `${typeSchema}.${typeName}` }],
          }
        : former,
    );
  }
  const list = [...found.values()];
  const isTruncated = isObject(response) && response['truncated'] === true;
  // The last function may lack parameters.
  return { list: isTruncated ? list.slice(0, -1) : list, isTruncated };
}

/** Returns an empty text for SQL's null, which is printed as `NULL`. */
function textOf(json: Json): string {
  return json === null || json === 'NULL' ? '' : String(json);
}

/** Function name in metadata. */
export function routineJson({ schema, name }: Pick<Routine, 'schema' | 'name'>): JsonObject {
  return { schema, name };
}

export function routineId({ schema, name }: Pick<Routine, 'schema' | 'name'>): string {
  return `${schema}.${name}`;
}

/** Parses `public.album_title` into a name in metadata. @param schema for names without one */
export function routineNamed(text: string, schema: string): JsonObject {
  const at = text.indexOf('.');
  return at < 0 ? { schema, name: text.trim() } : { schema: text.slice(0, at).trim(), name: text.slice(at + 1).trim() };
}
