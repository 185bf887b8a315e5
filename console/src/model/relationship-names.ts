/** Names for relationships that foreign keys suggest. */
import { isObject, type Json, type JsonObject, objectOf, objectsIn } from './json.ts';
import { labelOf, type Step } from './steps.ts';

export interface SuggestedRelationship {
  readonly kind: 'object' | 'array';
  readonly table: Json;
  readonly toTable: Json;
  readonly columns: readonly string[];
  readonly toColumns: readonly string[];
  readonly name: string;
}

function nameOf(table: Json): string {
  return isObject(table) ? String(table['name']) : String(table);
}

/**
 * Reads the response of `suggest_relationships` and gives each suggestion a name that is unique in its table.
 * @param namesOf names that a table already uses
 */
export function readSuggestions(json: Json, namesOf: (table: string) => readonly string[]): SuggestedRelationship[] {
  const list = objectsIn(objectOf(json)['relationships']);
  const used = new Map<string, Set<string>>();
  for (const { from } of list) {
    const { table = null, columns = [] } = from as JsonObject;
    const names = used.get(labelOf(table)) ?? new Set(namesOf(labelOf(table)));
    for (const column of columns as readonly string[]) names.add(column);
    used.set(labelOf(table), names);
  }
  return list.map((each) => {
    const from = each['from'] as JsonObject;
    const to = each['to'] as JsonObject;
    const kind = each['type'] === 'array' ? 'array' : 'object';
    const table = from['table'] ?? null;
    const toTable = to['table'] ?? null;
    const columns = (from['columns'] as readonly string[] | undefined) ?? [];
    const toColumns = (to['columns'] as readonly string[] | undefined) ?? [];
    const label = labelOf(table);
    const names = used.get(label) ?? new Set(namesOf(label));
    used.set(label, names);
    const [column] = columns;
    const byColumn =
      kind === 'object' && columns.length === 1 && column !== undefined && /.(?:_id|Id|_key)$/.test(column)
        ? column.replace(/(?:_id|Id|_key)$/, '')
        : undefined;
    const preferred = byColumn ?? (kind === 'object' ? nameOf(toTable) : plural(nameOf(toTable)));
    const candidates = [preferred, `${preferred}_by_${(kind === 'array' ? toColumns : columns).join('_and_')}`];
    let name = candidates.find((candidate) => !names.has(candidate));
    for (let number = 2; name === undefined; number++) if (!names.has(`${preferred}_${number}`)) name = `${preferred}_${number}`;
    names.add(name);
    return { kind, table, toTable, columns, toColumns, name };
  });
}

export function plural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  if (/(?:s|x|z|ch|sh)$/.test(word)) return /s$/.test(word) && !/(?:ss|us|is)$/.test(word) ? word : `${word}es`;
  return `${word}s`;
}

export function createRelationshipStep(
  source: string,
  kind: string,
  { kind: form, table, toTable, columns, toColumns, name }: SuggestedRelationship,
): Step {
  const [column] = form === 'object' ? columns : toColumns;
  const list = form === 'object' ? columns : toColumns;
  const key = list.length === 1 ? (column ?? null) : [...list];
  const using =
    form === 'object'
      ? { foreign_key_constraint_on: key }
      : { foreign_key_constraint_on: { table: toTable, ...(list.length === 1 ? { column: key } : { columns: key }) } };
  return { type: `${kind}_create_${form}_relationship`, args: { source, table, name, using } };
}
