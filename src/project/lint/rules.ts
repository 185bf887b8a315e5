/** Rules that find likely mistakes in valid metadata. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { eachObject } from '../directory/each-object.ts';
import { printedName } from '../directory/sections.ts';
import type { DocumentPath, ReadMetadata } from '../directory/read-metadata.ts';
import type { Problem } from '../failure.ts';
import { sessionVariablesOf } from '../permissions/matrix.ts';
import { plainSecrets } from './secrets.ts';

/** Rules about permissions, in the order of the documentation. */
export const PERMISSION_RULES = ['always-true', 'anonymous-write', 'update-without-check', 'write-only', 'settable-filter'] as const;

/** All rules. Their names are the codes of their warnings. */
export const RULES = [...PERMISSION_RULES, 'plain-secret', 'orphan'] as const;
export type Rule = (typeof RULES)[number];

/** Returns the warnings of all rules about the document, with their places. */
export function warningsOf(read: ReadMetadata): readonly Problem[] {
  const problems: Problem[] = [];
  const add: Add = (code, message, path) => {
    problems.push({ code, message, severity: 'warning', ...(read.placeOf(path) ?? {}) });
  };
  eachObject(read.document['sources'], ['sources'], (source, at) => {
    for (const secret of plainSecrets(source['configuration'] ?? null, [...at, 'configuration']))
      add('plain-secret', 'the file contains a password: use {from_env: NAME}', secret);
    eachObject(source['tables'], [...at, 'tables'], (table, tableAt) => lintTable(table, tableAt, add));
  });
  for (const section of ['remote_schemas', 'actions', 'cron_triggers'])
    eachObject(read.document[section], [section], (entry, at) => {
      for (const secret of plainSecrets(entry, at)) add('plain-secret', 'the file seems to contain a secret: use value_from_env', secret);
    });
  return problems;
}

type Add = (code: Rule, message: string, path: DocumentPath) => void;

function lintTable(table: JsonObject, at: DocumentPath, add: Add): void {
  const name = printedName(table['table'] ?? null);
  const readable = new Map<string, Json>();
  eachObject(table['select_permissions'], [...at, 'select_permissions'], ({ role, permission }) => {
    if (isJsonObject(permission)) readable.set(String(role), permission['columns'] ?? []);
  });
  const related = new Set([...namesIn(table['object_relationships']), ...namesIn(table['array_relationships'])]);
  for (const verb of ['insert', 'update', 'delete'] as const) {
    const key = `${verb}_permissions`;
    eachObject(table[key], [...at, key], ({ role, permission }, entryAt) => {
      if (!isJsonObject(permission)) return;
      const roleName = `role ${String(role)}`;
      const rule = verb === 'insert' ? 'check' : 'filter';
      if (permission['backend_only'] !== true && isEmptyRule(permission[rule]) && !(verb === 'insert' && isRestrictedInsert(permission)))
        add('always-true', `${roleName} may ${verb} any row of ${name}: the ${rule} is always true`, [...entryAt, 'permission', rule]);
      if (role === 'anonymous' && permission['backend_only'] !== true)
        add('anonymous-write', `anonymous may ${verb} rows of ${name}`, entryAt);
      if (verb === 'update' && mayLeaveFilter(permission, related) && isEmptyRule(permission['check']))
        add(
          'update-without-check',
          `${roleName} may update rows of ${name} so that the filter no longer matches them: add a check`,
          entryAt,
        );
      const columns = permission['columns'];
      if (verb === 'delete' || columns === undefined) return;
      for (const column of writtenOnly(columns, readable.get(String(role))))
        add('write-only', `${roleName} may write ${name}.${column}, but not read it`, [...entryAt, 'permission', 'columns']);
      if (verb === 'update')
        for (const column of columnsOf(permission['filter']))
          if (columns === '*' || (isJsonArray(columns) && columns.includes(column)))
            add('settable-filter', `the filter for ${roleName} on ${name} uses ${column}, which the client may set`, [
              ...entryAt,
              'permission',
              'filter',
            ]);
    });
  }
}

/** Returns whether an insert with an empty check is restricted otherwise: a preset ties the row to the session, or a webhook validates it. */
function isRestrictedInsert(permission: JsonObject): boolean {
  return sessionVariablesOf(permission['set'] ?? null).length > 0 || isJsonObject(permission['validate_input']);
}

function isEmptyRule(rule: Json | undefined): boolean {
  if (rule === undefined || rule === null) return true;
  if (!isJsonObject(rule)) return false;
  const entries = Object.entries(rule);
  return entries.every(([key, value]) => key === '_and' && isJsonArray(value) && value.every(isEmptyRule));
}

/** Returns whether an update can change what its filter uses: a column that it writes, or a related row, which depends on such columns. */
function mayLeaveFilter({ filter, columns, set }: JsonObject, related: ReadonlySet<string>): boolean {
  if (isEmptyRule(filter)) return false;
  const written = new Set([...(isJsonArray(columns) ? columns : []), ...(isJsonObject(set) ? Object.keys(set) : [])]);
  return columns === '*' || columnsOf(filter).some((name) => written.has(name) || related.has(name));
}

function namesIn(list: Json | undefined): readonly string[] {
  return isJsonArray(list) ? list.flatMap((item) => (isJsonObject(item) && typeof item['name'] === 'string' ? [item['name']] : [])) : [];
}

function writtenOnly(columns: Json, readable: Json | undefined): readonly string[] {
  if (!isJsonArray(columns) || readable === '*') return [];
  const seen = new Set(isJsonArray(readable) ? readable : []);
  return columns.filter((column): column is string => typeof column === 'string' && !seen.has(column));
}

/** Returns the columns at the top level of a rule. */
function columnsOf(rule: Json | undefined): readonly string[] {
  if (!isJsonObject(rule)) return [];
  return Object.entries(rule).flatMap(([key, value]) => {
    if (key === '_and' || key === '_or') return isJsonArray(value) ? value.flatMap(columnsOf) : [];
    if (key === '_not') return columnsOf(value);
    return key.startsWith('_') ? [] : [key];
  });
}
