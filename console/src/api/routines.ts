/** Functions of a database. */
import { KINDS } from '../model/kinds.generated.ts';
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import { runSql } from './metadata.ts';

export interface Routine {
  readonly schema: string;
  readonly name: string;
  /** The table, or another type, whose values it returns: `public.album`. */
  readonly returns: string;
  readonly parameters: readonly { readonly name: string; readonly type: string }[];
}

export interface Routines {
  readonly list: readonly Routine[];
  /** There are more, which are not in the list. */
  readonly isCut: boolean;
}

/** A row is a parameter, or a function without any. */
const MOST_ROWS = 5000;

/** @throws Failure where the service runs no SQL, say */
export async function readRoutines(source: string, kind: string, signal?: AbortSignal): Promise<Routines> {
  const sql = KINDS[kind]?.functionsSql;
  if (sql === undefined) return { list: [], isCut: false };
  const answer = await runSql(kind, { source, sql, read_only: true, max_rows: MOST_ROWS }, signal);
  const result = isObject(answer) && isList(answer['result']) ? answer['result'].filter(isList).slice(1) : [];
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
  const isCut = isObject(answer) && answer['truncated'] === true;
  // Parameters of the last one may be missing.
  return { list: isCut ? list.slice(0, -1) : list, isCut };
}

/** Of SQL's null an empty text, or `NULL` as it is printed. */
function textOf(json: Json): string {
  return json === null || json === 'NULL' ? '' : String(json);
}

/** As metadata names it. */
export function routineJson({ schema, name }: Pick<Routine, 'schema' | 'name'>): JsonObject {
  return { schema, name };
}

export function routineId({ schema, name }: Pick<Routine, 'schema' | 'name'>): string {
  return `${schema}.${name}`;
}

/** A name as one writes it, `public.album_title`, as metadata has it; without a schema that of `schema`. */
export function routineNamed(text: string, schema: string): JsonObject {
  const at = text.indexOf('.');
  return at < 0 ? { schema, name: text.trim() } : { schema: text.slice(0, at).trim(), name: text.slice(at + 1).trim() };
}
