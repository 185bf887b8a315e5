/** The tables of a source with what connects them. */
import { isList, isObject, type Json } from '../model/json.ts';
import type { DiagramEdge, DiagramModel, DiagramTable } from '../model/diagram.ts';
import { readOperation } from './metadata.ts';

const PRIMARY_KEY = 1;
const NULLABLE = 2;

/** @param role only what this role can select; undefined for administrators @throws Failure */
export async function readSchemaDiagram(source: string, role: string | undefined, signal?: AbortSignal): Promise<DiagramModel> {
  const json = await readOperation('get_schema_diagram', { source, ...(role === undefined ? {} : { role }) }, { signal });
  const listed = (isObject(json) ? listOf(json['tables']) : []).map(listOf);
  const tables = listed.map(
    ([schema, name, columns]): DiagramTable => ({
      schema: String(schema),
      name: String(name),
      columns: listOf(columns).map((column) => {
        const [columnName, type, flags] = listOf(column);
        const bits = Number(flags);
        return {
          name: String(columnName),
          type: String(type),
          isInPrimaryKey: (bits & PRIMARY_KEY) !== 0,
          isNullable: (bits & NULLABLE) !== 0,
        };
      }),
    }),
  );
  const edges = listed.flatMap(([, , , foreignKeys, relationships], from): DiagramEdge[] => [
    ...listOf(foreignKeys).map((key): DiagramEdge => {
      const [name, to, columns] = listOf(key);
      return { kind: 'foreign-key', name: String(name), from, to: Number(to), columns: pairsOf(columns) };
    }),
    ...listOf(relationships).map((relationship): DiagramEdge => {
      const [name, kind, to, columns] = listOf(relationship);
      return { kind: kind === 'array' ? 'array' : 'object', name: String(name), from, to: Number(to), columns: pairsOf(columns) };
    }),
  ]);
  return { tables, edges };
}

function pairsOf(json: Json | undefined): readonly (readonly [string, string])[] {
  return listOf(json).map((pair) => {
    const [column, target] = listOf(pair);
    return [String(column), String(target)];
  });
}

function listOf(json: Json | undefined): readonly Json[] {
  return isList(json) ? json : [];
}
