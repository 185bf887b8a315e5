/** Statements that write: DML, and DDL for datasets, tables, views and functions. */
import type { Engine, Parameters, Tree } from './engine.ts';
import { ApiError, invalidQuery } from './errors.ts';
import { tablesWithoutPlaces } from './geography.ts';
import type { Column, Dataset, Routine, Storage } from './storage.ts';
import { engineType, type Mode, type Type, typeOfEngine } from './types.ts';
import { fieldWithNullElement, isNull, stored } from './values.ts';

export interface Change {
  readonly engine: Engine;
  readonly storage: Storage;
  /** As in the request. */
  readonly text: string;
  /** SQL for the engine, with geographies as text. */
  readonly sql: string;
  readonly resolved: Tree;
  readonly catalog: string;
  readonly parameters: Parameters;
  readonly dryRun: boolean;
}

export interface Changed {
  readonly statementType: string;
  readonly affected?: number;
}

/** @throws ApiError; EngineError */
export async function changeStorage(change: Change): Promise<Changed> {
  const { resolved } = change;
  const create = resolved['resolvedCreateStatementNode'] as Tree | undefined;
  if (create !== undefined) return createObject(change, create);
  for (const kind of ['Insert', 'Update', 'Delete'] as const) {
    const node = resolved[`resolved${kind}StmtNode`] as Tree | undefined;
    if (node !== undefined) return modify(change, kind, node);
  }
  const drop = resolved['resolvedDropStmtNode'] as Tree | undefined;
  if (drop !== undefined) return dropObject(change, drop, (drop['objectType'] ?? '') as string);
  const dropFunction = resolved['resolvedDropFunctionStmtNode'] as Tree | undefined;
  if (dropFunction !== undefined) return dropObject(change, dropFunction, 'FUNCTION');
  const dropTableFunction = resolved['resolvedDropTableFunctionStmtNode'] as Tree | undefined;
  if (dropTableFunction !== undefined) return dropObject(change, dropTableFunction, 'TABLE FUNCTION');
  throw invalidQuery(`The emulator does not run statements of the kind ${Object.keys(resolved)[0] ?? ''}`);
}

interface Target {
  readonly dataset: Dataset;
  readonly name: string;
}

function target({ storage }: Change, path: readonly string[]): Target {
  const parts = path.flatMap((part) => part.split('.'));
  const own = parts.length === 3 && parts[0] === storage.project ? parts.slice(1) : parts;
  const [dataset, name] = own;
  if (dataset === undefined || name === undefined || own.length !== 2) {
    throw invalidQuery(`Table "${parts.join('.')}" must be qualified with a dataset (e.g. dataset.table).`);
  }
  return { dataset: storage.dataset(dataset), name };
}

/** The node of the statement itself, below the nodes of its base types. */
function leaf(create: Tree): readonly [string, Tree] {
  for (const [name, value] of Object.entries(create)) {
    if (name === 'node' || typeof value !== 'object' || value === null) continue;
    if (name.endsWith('BaseNode') && name !== 'resolvedCreateTableStmtBaseNode') return leaf(value as Tree);
    if (name === 'resolvedCreateTableStmtBaseNode') return leaf(value as Tree);
    if (name.startsWith('resolved') && name.endsWith('Node')) return [name, value as Tree];
  }
  throw invalidQuery('The statement cannot be read');
}

/** A field of a node or of its base nodes. */
function inherited(node: Tree, field: string): Tree[string] {
  for (let at: Tree | undefined = node; at !== undefined; at = at['parent'] as Tree | undefined) {
    if (Object.hasOwn(at, field)) return at[field];
  }
  return undefined;
}

async function createObject(change: Change, create: Tree): Promise<Changed> {
  const [kind, node] = leaf(create);
  const path = (inherited(node, 'namePath') ?? []) as readonly string[];
  const mode = inherited(node, 'createMode') as string | undefined;
  if (kind === 'resolvedCreateSchemaStmtNode') return createDataset(change, node, path, mode);
  const { dataset, name } = target(change, path);
  const isFunction = kind === 'resolvedCreateFunctionStmtNode' || kind === 'resolvedCreateTableFunctionStmtNode';
  const has = isFunction ? dataset.routines.has(name) : dataset.tables.has(name);
  const what = isFunction ? 'Routine' : 'Table';
  const statementType = STATEMENT_TYPES[kind];
  if (statementType === undefined) throw invalidQuery(`The emulator does not run statements of the kind ${kind}`);
  if (has && mode === 'CREATE_IF_NOT_EXISTS') return { statementType };
  if (has && mode !== 'CREATE_OR_REPLACE') {
    throw new ApiError('duplicate', `Already Exists: ${what} ${change.storage.project}:${dataset.name}.${name}`);
  }
  if (change.dryRun) return { statementType };
  if (isFunction) {
    dataset.routines.set(name, routine(node, name, textBehindAs(change.text), kind === 'resolvedCreateFunctionStmtNode'));
  } else {
    const description = option(node, 'description');
    const columns = kind === 'resolvedCreateViewStmtNode' ? viewColumns(node) : tableColumns(node);
    const query = inherited(node, 'query') as Tree | null | undefined;
    const isView = kind === 'resolvedCreateViewStmtNode';
    dataset.tables.set(name, {
      name,
      columns,
      primaryKey: primaryKey(node, columns),
      created: Date.now(),
      rows: !isView && query !== null && query !== undefined ? (await rowsOfQuery(change)).map((row) => rowOf(columns, row)) : [],
      ...(isView ? { view: textBehindAs(change.text) } : {}),
      ...(description === undefined ? {} : { description }),
    });
  }
  change.storage.changed();
  return { statementType };
}

const STATEMENT_TYPES: Readonly<Record<string, string>> = {
  resolvedCreateTableStmtNode: 'CREATE_TABLE',
  resolvedCreateTableAsSelectStmtNode: 'CREATE_TABLE_AS_SELECT',
  resolvedCreateViewStmtNode: 'CREATE_VIEW',
  resolvedCreateFunctionStmtNode: 'CREATE_FUNCTION',
  resolvedCreateTableFunctionStmtNode: 'CREATE_TABLE_FUNCTION',
};

function createDataset({ storage, dryRun }: Change, node: Tree, path: readonly string[], mode: string | undefined): Changed {
  const parts = path.flatMap((part) => part.split('.'));
  const name = parts[parts.length - 1] ?? '';
  const statementType = 'CREATE_SCHEMA';
  if (storage.datasets.has(name) && mode === 'CREATE_IF_NOT_EXISTS') return { statementType };
  if (!dryRun) storage.addDataset(name, option(node, 'description'));
  return { statementType };
}

/** The text after the first AS outside parentheses: views and functions resolve table names on their own. */
function textBehindAs(text: string): string {
  let depth = 0;
  for (const match of text.matchAll(/--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/|`[^`]*`|'[^']*'|"[^"]*"|[()]|\bas\b/gi)) {
    if (match[0] === '(') depth += 1;
    else if (match[0] === ')') depth -= 1;
    else if (depth === 0 && match[0].toLowerCase() === 'as')
      return text
        .slice(match.index + 2)
        .replace(/;\s*$/, '')
        .trim();
  }
  throw invalidQuery('The statement has no AS');
}

function option(node: Tree, name: string): string | undefined {
  return optionIn((inherited(node, 'optionList') ?? []) as readonly Tree[], name);
}

function optionIn(options: readonly Tree[], name: string): string | undefined {
  const found = options.find((one) => one['name'] === name);
  const literal = (found?.['value'] as Tree | undefined)?.['resolvedLiteralNode'] as Tree | undefined;
  return ((literal?.['value'] as Tree | undefined)?.['value'] as Tree | undefined)?.['stringValue'] as string | undefined;
}

function tableColumns(node: Tree): readonly Column[] {
  return ((inherited(node, 'columnDefinitionList') ?? []) as readonly Tree[]).map((definition) => {
    const annotations = (definition['annotations'] ?? {}) as Tree;
    const type = typeOfEngine(definition['type'] as Tree);
    const mode: Mode = type.kind === 'ARRAY' ? 'REPEATED' : annotations['notNull'] === true ? 'REQUIRED' : 'NULLABLE';
    const description = optionIn((annotations['optionList'] ?? []) as readonly Tree[], 'description');
    if (definition['defaultValue'] !== undefined && definition['defaultValue'] !== null) {
      throw invalidQuery(`The emulator has no default values of columns: ${String(definition['name'])}`);
    }
    return {
      name: definition['name'] as string,
      type,
      mode,
      ...(description === undefined ? {} : { description }),
    };
  });
}

function viewColumns(node: Tree): readonly Column[] {
  return ((inherited(node, 'outputColumnList') ?? []) as readonly Tree[]).map((column) => {
    const type = typeOfEngine((column['column'] as Tree)['type'] as Tree);
    return { name: column['name'] as string, type, mode: type.kind === 'ARRAY' ? 'REPEATED' : 'NULLABLE' };
  });
}

function primaryKey(node: Tree, columns: readonly Column[]): readonly string[] {
  const key = inherited(node, 'primaryKey') as Tree | null | undefined;
  return ((key?.['columnOffsetList'] ?? []) as readonly string[]).map((offset) => columns[Number(offset)]?.name ?? '');
}

/** Set for CREATE TABLE AS. */
async function rowsOfQuery({ engine, sql, catalog, parameters }: Change): Promise<readonly (readonly Tree[])[]> {
  return engine.evaluate(textBehindAs(sql), catalog, parameters);
}

function routine(node: Tree, name: string, text: string, isScalar: boolean): Routine {
  const signature = (inherited(node, 'signature') ?? {}) as Tree;
  const names = (inherited(node, 'argumentNameList') ?? []) as readonly string[];
  const args = (signature['argument'] ?? []) as readonly Tree[];
  const description = option(node, 'description');
  const returned = ((signature['returnType'] as Tree | undefined)?.['options'] as Tree | undefined)?.['relationInputSchema'] as
    | Tree
    | undefined;
  const output = (returned?.['column'] ?? inherited(node, 'outputColumnList') ?? []) as readonly Tree[];
  const returnType = inherited(node, 'returnType') as Tree | undefined;
  return {
    name,
    kind: isScalar ? 'SCALAR_FUNCTION' : 'TABLE_VALUED_FUNCTION',
    parameters: names.map((parameter, index) => {
      const type = args[index]?.['type'] as Tree | undefined;
      return type === undefined || args[index]?.['kind'] !== 'ARG_TYPE_FIXED'
        ? { name: parameter }
        : { name: parameter, type: typeOfEngine(type) };
    }),
    body: isScalar ? text.replace(/^\(([\s\S]*)\)$/, '$1').trim() : text,
    created: Date.now(),
    ...(isScalar && returnType !== undefined ? { returnType: typeOfEngine(returnType) } : {}),
    ...(!isScalar && output.length > 0 ? { returnColumns: output.map(outputColumn) } : {}),
    ...(description === undefined ? {} : { description }),
  };
}

function outputColumn(column: Tree): { readonly name: string; readonly type: Type } {
  const type = (column['type'] ?? (column['column'] as Tree)['type']) as Tree;
  return { name: column['name'] as string, type: typeOfEngine(type) };
}

function dropObject(change: Change, node: Tree, objectType: string): Changed {
  const path = (node['namePath'] ?? []) as readonly string[];
  const isOptional = node['isIfExists'] === true;
  const statementType = `DROP_${objectType.replaceAll(' ', '_')}`;
  if (objectType === 'SCHEMA') return dropDataset(change, path, node);
  const { dataset, name } = target(change, path);
  const isFunction = objectType.endsWith('FUNCTION');
  const map: Map<string, unknown> = isFunction ? dataset.routines : dataset.tables;
  if (!map.has(name)) {
    if (isOptional) return { statementType };
    const what = isFunction ? 'Routine' : 'Table';
    throw new ApiError(
      'notFound',
      `Not found: ${what} ${change.storage.project}:${dataset.name}.${name} was not found in location ${change.storage.location}`,
    );
  }
  const isView = !isFunction && dataset.tables.get(name)?.view !== undefined;
  if (!isFunction && isView !== (objectType === 'VIEW')) {
    throw invalidQuery(
      `${change.storage.project}:${dataset.name}.${name} is not allowed for this operation because it is currently a ${isView ? 'VIEW' : 'TABLE'}.`,
    );
  }
  if (!change.dryRun) {
    map.delete(name);
    change.storage.changed();
  }
  return { statementType };
}

function dropDataset({ storage, dryRun }: Change, path: readonly string[], node: Tree): Changed {
  const parts = path.flatMap((part) => part.split('.'));
  const name = parts[parts.length - 1] ?? '';
  const statementType = 'DROP_SCHEMA';
  if (node['isIfExists'] === true && !storage.datasets.has(name)) return { statementType };
  const dataset = storage.dataset(name);
  const isUsed = dataset.tables.size > 0 || dataset.routines.size > 0;
  if (isUsed && node['dropMode'] !== 'CASCADE') {
    throw new ApiError('invalid', `Dataset ${storage.project}:${name} is still in use`);
  }
  if (!dryRun) {
    storage.datasets.delete(name);
    storage.changed();
  }
  return { statementType };
}

type Kind = 'Insert' | 'Update' | 'Delete';

/** The engine returns the rows that a statement leaves. An updated table needs a key for that: the index of each row. */
async function modify(change: Change, kind: Kind, node: Tree): Promise<Changed> {
  const { storage, engine, dryRun, parameters, sql, catalog } = change;
  const name = ((node['tableScan'] as Tree)['table'] as Tree)['name'] as string;
  const at = name.indexOf('.');
  const table = storage.table(name.slice(0, at), name.slice(at + 1));
  const statementType = kind.toUpperCase();
  if (table.view !== undefined) throw invalidQuery(`${name} is a view, which cannot be written`);
  if (kind === 'Insert') {
    const rows = (await engine.modify(sql, catalog, parameters)).map(({ cells }) => rowOf(table.columns, cells));
    if (!dryRun) {
      table.rows = [...table.rows, ...rows];
      storage.changed();
    }
    return { statementType, affected: rows.length };
  }
  const place = table.columns.length;
  const numbered = await engine.register(
    tablesWithoutPlaces([
      ...storage.tablesForEngine(name),
      {
        name,
        columns: [
          ...table.columns.map((column) => ({ name: column.name, type: engineType(column.type) })),
          { name: '__row_of_the_emulator', type: { typeKind: 'TYPE_INT64' } },
        ],
        rows: table.rows.map((row, index) => [...row, { int64Value: String(index) }]),
        key: [place],
      },
    ]),
  );
  try {
    const modified = await engine.modify(sql, numbered, parameters);
    const rows: (readonly Tree[] | undefined)[] = [...table.rows];
    for (const { operation, cells, key } of modified) {
      const index = Number(((key[0] ?? cells[place]) as Tree)['int64Value']);
      if (operation === 'DELETE') rows[index] = undefined;
      else rows[index] = rowOf(table.columns, cells);
    }
    if (!dryRun) {
      table.rows = rows.filter((row) => row !== undefined);
      storage.changed();
    }
    return { statementType, affected: modified.length };
  } finally {
    await engine.unregister(numbered);
  }
}

/** A row as stored in a table. @throws ApiError if a value does not fit */
function rowOf(columns: readonly Column[], row: readonly Tree[]): readonly Tree[] {
  return columns.map(({ name, type, mode }, index) => {
    const value = row[index] ?? {};
    if (mode === 'REQUIRED' && isNull(value)) throw invalidQuery(`Required field ${name} cannot be null`);
    const field = fieldWithNullElement(name, type, value);
    if (field !== undefined) throw invalidQuery(`Array cannot have a null element; error in writing field ${field}`);
    return stored(type, value);
  });
}
