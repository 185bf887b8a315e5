/** Fields of tables, of types of remote schemas and of custom types that another source or server answers. */
import type { RemoteJoin } from '../../ir/remote-join.ts';
import type { RemoteRelationshipInfo, SourceTarget } from '../../schema-cache/schema-cache.ts';
import { isUniqueKey } from '../../schema-cache/stages/relationship.ts';
import type { RemoteTypes } from '../remote/remote-types.ts';
import { remoteJoinTarget } from '../remote/remote-join-target.ts';
import type { CollectedField, FieldMeaning, InputField, OutputField, OutputTypeRef } from '../../graphql-engine/types.ts';
import { listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { type RoleTable, roleTypeName } from './role-table.ts';
import { aggregateQuery, listQuery, selectRows, singleRow } from './select.ts';
import type { Read } from '../../ir/bool-exp.ts';
import type { QualifiedName } from '../../catalog/catalog.ts';

/** A joined field, independent of the type that has it. */
interface JoinTarget {
  readonly name: string;
  readonly description: string | null;
  readonly type: OutputTypeRef;
  readonly args: ReadonlyMap<string, InputField>;
  translate(field: CollectedField): RemoteJoin;
}

const NO_ARGS: ReadonlyMap<string, InputField> = new Map();

/** Tables and remote schemas that a role sees; implemented by `RoleView`. */
export interface VisibleTargets {
  /** Returns null if there is no such table, or the role may not select from it. */
  table(source: string, name: QualifiedName): RoleTable | null;
  /** Returns null if there is no such remote schema, or the role sees nothing of it. */
  remote(name: string): RemoteTypes | null;
}

/** Returns the fields of a table whose keys the role may read and whose targets it sees. */
export function fieldsOfTable(
  view: VisibleTargets,
  table: RoleTable,
  relationships: ReadonlyMap<string, RemoteRelationshipInfo>,
): readonly OutputField[] {
  return [...relationships.values()].flatMap((info) => {
    const keys = keysOf(info).map((name) => readOf(table, name));
    if (!keys.every((read) => read !== null)) return [];
    const { source } = table;
    const names = { field: source.field({ literal: info.name }), aggregate: source.field({ literal: info.name }, 'aggregate') };
    return targetsOf(view, info, names, table.name).map((target) =>
      fieldOf(target, {
        kind: 'row-field',
        toField: (field) => ({ kind: 'joined', alias: field.responseKey, join: joinOf(target, field), keys }),
      }),
    );
  });
}

/** Returns the fields of a type of a remote schema. @param type the server's name of the type */
export function fieldsOfRemoteType(
  view: VisibleTargets,
  types: RemoteTypes,
  type: string,
  relationships: ReadonlyMap<string, RemoteRelationshipInfo>,
): readonly OutputField[] {
  return [...relationships.values()].flatMap((info) => {
    const names = keysOf(info);
    if (!names.every((name) => types.isLeaf(type, name))) return [];
    const keys = names.map((name) => types.key(type, name));
    return withoutNameConflicts(targetsOf(view, info, namesOf(info), types.names.type(type)), relationships).map((target) =>
      fieldOf(target, {
        kind: 'remote-field',
        toOutput: (field) => ({ kind: 'joined', responseKey: field.responseKey, join: joinOf(target, field), keys }),
      }),
    );
  });
}

/** Returns the fields of a custom object type: a role that sees the object sees all of its fields. */
export function fieldsOfCustomType(
  view: VisibleTargets,
  type: string,
  relationships: ReadonlyMap<string, RemoteRelationshipInfo>,
): readonly OutputField[] {
  return [...relationships.values()].flatMap((info) => {
    const keys = keysOf(info);
    return withoutNameConflicts(targetsOf(view, info, namesOf(info), type), relationships).map((target) =>
      fieldOf(target, {
        kind: 'action-field',
        toOutput: (field) => ({ kind: 'joined', responseKey: field.responseKey, join: joinOf(target, field), keys }),
      }),
    );
  });
}

/** The arguments are built on demand. */
function fieldOf(target: JoinTarget, meaning: FieldMeaning): OutputField {
  const { name, description, type } = target;
  return {
    name,
    description,
    type,
    get args() {
      return target.args;
    },
    meaning,
  };
}

function joinOf(target: JoinTarget, field: CollectedField): number {
  return field.join(() => target.translate(field));
}

/** Names outside of tables, where no naming convention applies. */
function namesOf({ name }: RemoteRelationshipInfo): FieldNames {
  return { field: name, aggregate: `${name}_aggregate` };
}

/** Returns the targets of one relationship, without an aggregate that has the name of another relationship. */
function withoutNameConflicts(
  targets: readonly JoinTarget[],
  relationships: ReadonlyMap<string, RemoteRelationshipInfo>,
): readonly JoinTarget[] {
  return targets.filter(({ name }, i) => i === 0 || !relationships.has(name));
}

function keysOf({ target }: RemoteRelationshipInfo): readonly string[] {
  return target.kind === 'source' ? target.columns.map(({ local }) => local) : target.keys;
}

/** Returns a column or a scalar computed field without arguments, by its database name; null if the role may not read it. */
function readOf(table: RoleTable, name: string): Read | null {
  for (const column of table.columns.values()) if (column.info.name === name) return column.read;
  for (const field of table.computedFields) {
    if (field.kind === 'scalar' && field.info.name === name && field.arguments.plain !== null) return field.read(field.arguments.plain);
  }
  return null;
}

interface FieldNames {
  readonly field: string;
  readonly aggregate: string;
}

/** @param owner our name of the type that has the relationship */
function targetsOf(view: VisibleTargets, info: RemoteRelationshipInfo, names: FieldNames, owner: string): readonly JoinTarget[] {
  if (info.target.kind === 'source') return tableTargets(view, info.target, names);
  const types = view.remote(info.target.remoteSchema);
  const target = types === null ? null : remoteJoinTarget(types, info.target, names.field, `${owner}${info.name}`);
  return target === null ? [] : [target];
}

function tableTargets(view: VisibleTargets, target: SourceTarget, names: FieldNames): readonly JoinTarget[] {
  const table = view.table(target.source, target.table);
  if (table === null) return [];
  const columns = target.columns.flatMap(({ remote }) => {
    const column = table.info.columns.get(remote);
    return column === undefined ? [] : [{ name: remote, type: column.catalog.type }];
  });
  if (columns.length < target.columns.length || (target.relationship === 'object' && !table.hasRows)) return [];
  const join = {
    kind: 'source',
    source: target.source,
    columns,
    unique: isUniqueKey(
      table.info.catalog,
      columns.map(({ name }) => name),
    ),
  } as const;
  const row = (nonNull: boolean) => typeRef(table.name, () => table.rows().type, nonNull);
  if (target.relationship === 'object') {
    return [
      {
        name: names.field,
        description: 'An object relationship',
        type: row(false),
        args: NO_ARGS,
        translate: (field) => ({
          ...join,
          query: selectRows(table, field, table.relation, singleRow(table), 'single'),
          withoutKey: 'null',
        }),
      },
    ];
  }
  const rows: JoinTarget = {
    name: names.field,
    description: 'An array relationship',
    type: listTypeRef(row(true), true),
    get args() {
      return table.selectArguments().args;
    },
    translate: (field) => ({ ...join, query: listQuery(table, field, table.relation), withoutKey: '[]' }),
  };
  const readable = table.hasRows ? [rows] : [];
  if (!table.access.allowAggregations) return readable;
  const aggregate: JoinTarget = {
    name: names.aggregate,
    description: 'An aggregate relationship',
    type: typeRef(roleTypeName(table, 'aggregate'), () => table.aggregate().type, true),
    get args() {
      return table.selectArguments().args;
    },
    translate: (field) => ({ ...join, query: aggregateQuery(table, field, table.relation), withoutKey: 'ask' }),
  };
  return [...readable, aggregate];
}
