/** Finds likely mistakes in valid metadata. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { printedName } from './directory/sections.ts';
import type { DocumentPath, ReadMetadata } from './directory/read-metadata.ts';
import type { Problem } from './failure.ts';

/** Returns warnings with their places. */
export function lintMetadata(read: ReadMetadata): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (code: string, message: string, path: DocumentPath): void => {
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

type Add = (code: string, message: string, path: DocumentPath) => void;

export function eachObject(list: Json | undefined, at: DocumentPath, visit: (item: JsonObject, at: DocumentPath) => void): void {
  if (isJsonArray(list)) for (const [i, item] of list.entries()) if (isJsonObject(item)) visit(item, [...at, i]);
}

function lintTable(table: JsonObject, at: DocumentPath, add: Add): void {
  const name = printedName(table['table'] ?? null);
  const readable = new Map<string, Json>();
  eachObject(table['select_permissions'], [...at, 'select_permissions'], ({ role, permission }) => {
    if (isJsonObject(permission)) readable.set(String(role), permission['columns'] ?? []);
  });
  for (const verb of ['insert', 'update', 'delete'] as const) {
    const key = `${verb}_permissions`;
    eachObject(table[key], [...at, key], ({ role, permission }, entryAt) => {
      if (!isJsonObject(permission)) return;
      const roleName = `role ${String(role)}`;
      const rule = verb === 'insert' ? 'check' : 'filter';
      if (permission['backend_only'] !== true && isEmptyRule(permission[rule]))
        add('always-true', `${roleName} may ${verb} any row of ${name}: the ${rule} is always true`, [...entryAt, 'permission', rule]);
      if (role === 'anonymous' && permission['backend_only'] !== true)
        add('anonymous-write', `anonymous may ${verb} rows of ${name}`, entryAt);
      if (verb === 'update' && !isEmptyRule(permission['filter']) && isEmptyRule(permission['check']))
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

function isEmptyRule(rule: Json | undefined): boolean {
  if (rule === undefined || rule === null) return true;
  if (!isJsonObject(rule)) return false;
  const entries = Object.entries(rule);
  return entries.every(([key, value]) => key === '_and' && isJsonArray(value) && value.every(isEmptyRule));
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

const SECRET_HEADER = /^(?:authorization|x-api-key|x-svc-admin-secret|.*secret.*|.*token.*|.*password.*)$/i;

/** Returns the paths of values that look like secrets in plain text. */
export function plainSecrets(value: Json, at: DocumentPath): readonly DocumentPath[] {
  if (typeof value === 'string')
    return /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^@\s{]+@/i.test(value) || /[?&;]password=[^&;{]+/i.test(value) ? [at] : [];
  if (isJsonArray(value)) return value.flatMap((item, i) => plainSecrets(item, [...at, i]));
  if (!isJsonObject(value)) return [];
  if (
    typeof value['name'] === 'string' &&
    SECRET_HEADER.test(value['name']) &&
    typeof value['value'] === 'string' &&
    value['value'] !== '' &&
    !value['value'].includes('{{')
  )
    return [[...at, 'value']];
  return Object.entries(value).flatMap(([key, item]) =>
    key === 'password' && typeof item === 'string' && item !== '' ? [[...at, key]] : plainSecrets(item, [...at, key]),
  );
}
