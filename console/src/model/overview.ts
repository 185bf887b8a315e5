/** Summary of the whole metadata from `get_overview`, which stays small for any number of tables. */
import { PERMISSION_OPERATIONS, type PermissionOperation } from './table-entry.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';
import { KINDS } from './kinds.generated.ts';

export interface Overview {
  /** Identifies the content, for `if_not`. */
  readonly tag: string;
  readonly version: number;
  readonly roles: readonly string[];
  readonly inheritedRoles: readonly InheritedRole[];
  readonly sources: readonly SourceOverview[];
  readonly remoteSchemas: readonly string[];
  readonly actions: readonly string[];
  readonly triggers: readonly string[];
  readonly inconsistent: number;
}

export interface InheritedRole {
  readonly name: string;
  readonly parents: readonly string[];
}

export interface SourceOverview {
  readonly name: string;
  readonly kind: string;
  /** Reason why the source cannot be used. */
  readonly unavailable: string | undefined;
  readonly defaultSchema: string;
  readonly tables: readonly TableOverview[];
  readonly functions: readonly { readonly schema: string; readonly name: string }[];
}

export interface TableOverview {
  readonly source: string;
  readonly kind: string;
  readonly schema: string;
  readonly name: string;

  readonly problem: 'unusable' | 'inconsistent' | undefined;
  readonly isView: boolean;
  readonly isEnum: boolean;
  readonly relationships: number;
  readonly triggers: number;
  /** One hexadecimal digit per role of `Overview.roles`: 1 select, 2 insert, 4 update, 8 delete. */
  readonly granted: string;
  /** Digits like `granted`, for permissions without any restriction. */
  readonly unrestricted: string;
}

/** Extent of a role's permission for an operation. */
export type Access = 'none' | 'part' | 'all';

export function accessOf(overview: Overview, table: TableOverview, role: string, operation: PermissionOperation): Access {
  const at = overview.roles.indexOf(role);
  const bit = 1 << PERMISSION_OPERATIONS.indexOf(operation);
  const has = (digits: string): boolean => at >= 0 && (Number.parseInt(digits[at] ?? '0', 16) & bit) !== 0;
  return !has(table.granted) ? 'none' : has(table.unrestricted) ? 'all' : 'part';
}

/** Table name in addresses of the console: `public.album`. */
export function tableId({ schema, name }: Pick<TableOverview, 'schema' | 'name'>): string {
  return schema === '' ? name : `${schema}.${name}`;
}

/** Table name in metadata. */
export function tableJson({ kind, schema, name }: Pick<TableOverview, 'kind' | 'schema' | 'name'>): Json {
  return schema === '' ? { name } : { [KINDS[kind]?.schemaKey ?? 'schema']: schema, name };
}

export function findTable(overview: Overview, source: string, id: string): TableOverview | undefined {
  return overview.sources.find(({ name }) => name === source)?.tables.find((table) => tableId(table) === id);
}

export function allTables(overview: Overview): readonly TableOverview[] {
  return overview.sources.flatMap(({ tables }) => tables);
}

/** Decodes the response of `get_overview`; undefined if nothing has changed. */
export function decodeOverview(json: Json): Overview | undefined {
  if (!isObject(json) || json['unchanged'] === true) return undefined;
  const inherited = json['inherited_roles'];
  return {
    tag: String(json['tag']),
    version: Number(json['resource_version']),
    roles: listOf(json['roles']).map(String),
    inheritedRoles: isObject(inherited)
      ? Object.entries(inherited).map(([name, parents]) => ({ name, parents: listOf(parents).map(String) }))
      : [],
    sources: listOf(json['sources']).filter(isObject).map(decodeSource),
    remoteSchemas: namesIn(json['remote_schemas']),
    actions: namesIn(json['actions']),
    triggers: namesIn(json['event_triggers']),
    inconsistent: Number(json['inconsistent'] ?? 0),
  };
}

const VIEW = 1;
const ENUM = 2;
const UNUSABLE = 8;
const INCONSISTENT = 16;

function decodeSource(source: JsonObject): SourceOverview {
  const name = String(source['name']);
  const kind = String(source['kind']);
  const schemas = listOf(source['schemas']).map(String);
  const defaultSchema = typeof source['default_schema'] === 'string' ? source['default_schema'] : '';
  const schemaAt = (place: Json | undefined): string => schemas[Number(place)] ?? '';
  return {
    name,
    kind,
    unavailable: typeof source['unavailable'] === 'string' ? source['unavailable'] : undefined,
    defaultSchema,
    tables: listOf(source['tables'])
      .filter(isList)
      .map(([schema, table, flags, objects, arrays, triggers, granted, unrestricted]): TableOverview => {
        const bits = Number(flags);
        return {
          source: name,
          kind,
          schema: schemaAt(schema),
          name: String(table),
          problem: (bits & UNUSABLE) !== 0 ? 'unusable' : (bits & INCONSISTENT) !== 0 ? 'inconsistent' : undefined,
          isView: (bits & VIEW) !== 0,
          isEnum: (bits & ENUM) !== 0,
          relationships: Number(objects) + Number(arrays),
          triggers: Number(triggers),
          granted: String(granted),
          unrestricted: String(unrestricted),
        };
      }),
    functions: listOf(source['functions'])
      .filter(isList)
      .map(([schema, identifier]) => ({ schema: schemaAt(schema), name: String(identifier) })),
  };
}

function namesIn(json: Json | undefined): string[] {
  return listOf(json).map((each) => String(isList(each) ? each[0] : each));
}

function listOf(json: Json | undefined): readonly Json[] {
  return isList(json) ? json : [];
}
