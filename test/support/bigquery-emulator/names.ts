/**
 * Maps table names to names of the engine. The engine evaluates tables of the root catalog only, so each table is registered as
 * `dataset.table` in one identifier and each path in a statement is rewritten to it. Views and calls of table functions are inlined.
 */
import type { Engine, Parameters, Tree, TreeValue } from './engine.ts';
import { ApiError, invalidQuery } from './errors.ts';
import { hasView, viewName } from './information-schema.ts';
import { inlinedCall, type Inlined } from './inlining.ts';
import type { Storage } from './storage.ts';

/** A byte range to replace. `body` is the byte range of the new text that belongs to a table function. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly body?: readonly [number, number];
}

/** SQL for the engine. */
export interface EngineSql {
  readonly text: string;
  /** Byte ranges of the SQL that are bodies of table functions. */
  readonly bodies: readonly (readonly [number, number])[];
  /** Maps a byte offset in this SQL to one in the original SQL. */
  origin(place: number): number;
}

export interface NameScope {
  readonly storage: Storage;
  readonly engine: Engine;
  /** The engine's catalog with the table types. */
  readonly catalog: string;
  readonly defaultDataset: string | undefined;
}

const MAX_DEPTH = 16;

const nameOfPlace = (place: number): string => `_parameter_${place}`;

/**
 * Replaces positional parameters by named ones, the only kind that the engine evaluates.
 * @throws ApiError for a mixture with named parameters, and for more parameters than values
 */
export function withNamedParameters(
  sql: string,
  statement: Tree,
  parameters: Parameters,
): { readonly sql: EngineSql; readonly parameters: Parameters } {
  if (!parameters.isPositional) return { sql: applied(sql, []), parameters };
  const edits = [...found(statement, ['astParameterExprNode'])].map(({ node }): Edit => {
    if (node['name'] !== undefined && node['name'] !== null)
      throw invalidQuery('Named parameters are not supported with parameters by place');
    const place = Number(node['position']);
    if (place > parameters.list.length) throw invalidQuery('Too few positional parameters provided');
    return { ...rangeOf(node), text: `@${nameOfPlace(place)}` };
  });
  const list = parameters.list.map((parameter, index) => ({ ...parameter, name: nameOfPlace(index + 1) }));
  return { sql: applied(sql, outermost(edits)), parameters: { list, isPositional: false } };
}

/** @throws ApiError for unknown names; EngineError for SQL that cannot be parsed */
export async function withEngineNames(scope: NameScope, sql: string, statement: Tree, depth = 0): Promise<EngineSql> {
  if (depth > MAX_DEPTH) throw invalidQuery('Views and table functions are nested too deeply');
  const nodes = [...found(statement, ['astTablePathExpressionNode', 'astTvfNode'])];
  const targets = [...found(statement, ['astInsertStatementNode', 'astUpdateStatementNode', 'astDeleteStatementNode'])].map(
    ({ node }) => (node['targetPath'] as Tree)['astPathExpressionNode'] as Tree,
  );
  const known = new Set(
    [...found(statement, ['astWithClauseEntryNode'])]
      .map(({ node }) => node)
      .concat([...entriesOfWith(statement)])
      .map((entry) => (((entry['alias'] as Tree | undefined)?.['idString'] ?? '') as string).toLowerCase()),
  );
  const aliases = new Set([...identifiersUnder(statement, 'alias')].map((name) => name.toLowerCase()));
  const edits: Edit[] = [];
  for (const target of targets) {
    const resolved = resolve(scope, pathNames(target), new Set(), new Set());
    if (resolved?.kind !== 'table') throw invalidQuery(`${pathNames(target).join('.')} is not a table`);
    edits.push({ ...rangeOf(target), text: quoted(resolved.name) });
  }
  for (const { kind, node } of nodes) {
    if (kind === 'astTvfNode') {
      edits.push(await tableFunction(scope, sql, node, depth));
      continue;
    }
    const path = node['pathExpr'] as Tree | null | undefined;
    if (path === null || path === undefined) continue;
    const resolved = resolve(scope, pathNames(path), known, aliases);
    if (resolved === undefined) continue;
    const alias = node['alias'] === null || node['alias'] === undefined ? ` AS ${quoted(resolved.alias)}` : '';
    const source = resolved.kind === 'table' ? quoted(resolved.name) : `(${(await textOf(scope, resolved.sql, depth)).text})`;
    edits.push({ ...rangeOf(path), text: `${source}${alias}` });
  }
  return applied(sql, outermost(edits));
}

async function textOf(scope: NameScope, sql: string, depth: number): Promise<EngineSql> {
  const { statement } = await scope.engine.parse(sql);
  return withEngineNames(scope, sql, statement, depth + 1);
}

async function tableFunction(scope: NameScope, sql: string, node: Tree, depth: number): Promise<Edit> {
  const path = node['name'] as Tree;
  const names = pathNames(path);
  const parts = ownParts(scope, names);
  const [dataset, name] = parts.length === 1 ? [scope.defaultDataset, parts[0]] : parts;
  const routine = dataset === undefined || name === undefined ? undefined : scope.storage.dataset(dataset).routines.get(name);
  if (routine?.kind !== 'TABLE_VALUED_FUNCTION') throw invalidQuery(`Table-valued function not found: ${names.join('.')}`);
  const inlined: Inlined = await inlinedCall(scope.engine, scope.catalog, sql, node, routine, async (body) => textOf(scope, body, depth));
  const alias = node['alias'] === null || node['alias'] === undefined ? ` AS ${quoted(routine.name)}` : '';
  const { start, end } = callRange(sql, node);
  return { start, end, text: `(${inlined.text})${alias}`, body: [1, 1 + Buffer.byteLength(inlined.text)] };
}

/** Range from the name to the closing parenthesis, without an alias. */
function callRange(sql: string, node: Tree): { readonly start: number; readonly end: number } {
  const { start, end } = rangeOf(node);
  const alias = node['alias'] as Tree | null | undefined;
  const until = alias === null || alias === undefined ? end : rangeOf(alias).start;
  const bytes = Buffer.from(sql);
  return { start, end: bytes.subarray(0, until).lastIndexOf(')') + 1 };
}

type Resolved =
  | { readonly kind: 'table'; readonly name: string; readonly alias: string }
  | { readonly kind: 'view'; readonly sql: string; readonly alias: string };

/** @returns undefined if it is no table of the project but the name of a subquery or an array of a row */
function resolve(
  scope: NameScope,
  names: readonly string[],
  known: ReadonlySet<string>,
  aliases: ReadonlySet<string>,
): Resolved | undefined {
  const { storage, defaultDataset } = scope;
  const first = (names[0] ?? '').toLowerCase();
  if (names.length === 1 && known.has(first)) return undefined;
  if (names.length > 1 && aliases.has(first) && !storage.datasets.has(names[0] ?? '')) return undefined;
  const schemaView = informationSchemaView(scope, names);
  if (schemaView !== undefined) return schemaView;
  const parts = ownParts(scope, names);
  const alias = parts[parts.length - 1] ?? '';
  const [dataset, table] = parts.length === 1 ? [defaultDataset, parts[0]] : parts;
  if (parts.length > 2) throw invalidQuery(`Invalid table name: \`${names.join('.')}\``);
  if (dataset === undefined || table === undefined) {
    throw invalidQuery(`Table "${names.join('.')}" must be qualified with a dataset (e.g. dataset.table).`);
  }
  const { view } = storage.table(dataset, table);
  return view === undefined ? { kind: 'table', name: `${dataset}.${table}`, alias } : { kind: 'view', sql: view, alias };
}

/** Path without the project. @throws ApiError for another project */
function ownParts({ storage }: NameScope, names: readonly string[]): readonly string[] {
  const parts = names.flatMap((name) => name.split('.'));
  if (parts.length < 3) return parts;
  if (parts[0] !== storage.project) throw foreign(parts);
  return parts.slice(1);
}

function foreign([project, ...rest]: readonly string[]): ApiError {
  const name = `${project ?? ''}:${rest.join('.')}`;
  return new ApiError(
    'accessDenied',
    `Access Denied: Table ${name}: User does not have permission to query table ${name}, or perhaps it does not exist.`,
  );
}

function informationSchemaView({ storage }: NameScope, names: readonly string[]): Resolved | undefined {
  const parts = names.flatMap((name) => name.split('.'));
  const at = parts.findIndex((part) => part.toUpperCase() === 'INFORMATION_SCHEMA');
  if (at < 0) return undefined;
  const view = parts.slice(at + 1).join('.');
  if (!hasView(view)) {
    throw new ApiError(
      'notFound',
      `Not found: Table ${storage.project}:${parts.slice(Math.max(at - 1, 0)).join('.')} was not found in location ${storage.location}`,
    );
  }
  let before = parts.slice(0, at);
  if (before.length === 2 || (before.length === 1 && before[0] === storage.project)) {
    if (before[0] !== storage.project) throw foreign(parts);
    before = before.slice(1);
  }
  const [dataset] = before;
  const alias = view.toUpperCase();
  if (dataset === undefined || dataset.toLowerCase() === `region-${storage.location.toLowerCase()}`) {
    return { kind: 'table', name: viewName(view), alias };
  }
  return { kind: 'table', name: viewName(view, storage.dataset(dataset).name), alias };
}

export function quoted(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

function pathNames(path: Tree): readonly string[] {
  return ((path['names'] ?? []) as readonly Tree[]).map((name) => (name['idString'] ?? '') as string);
}

/** Byte range of a node of the parse tree. */
export function rangeOf(node: Tree): { readonly start: number; readonly end: number } {
  for (let at: Tree | undefined = node; at !== undefined; at = at['parent'] as Tree | undefined) {
    const range = at['parseLocationRange'] as Tree | undefined;
    if (range !== undefined && range !== null) return { start: (range['start'] ?? 0) as number, end: (range['end'] ?? 0) as number };
  }
  throw new Error('a node of the parse tree has no place');
}

/**
 * Nodes of some kinds in document order, nested ones included. Trees are deep: one generator per level would pass each node up through all.
 */
export function* found(value: TreeValue | undefined, kinds: readonly string[]): Generator<{ readonly kind: string; readonly node: Tree }> {
  const kindsLeft: (string | null)[] = [null];
  const left: TreeValue[] = [value ?? null];
  for (;;) {
    const kind = kindsLeft.pop();
    if (kind === undefined) return;
    const node = left.pop() as TreeValue;
    if (kind !== null) yield { kind, node: node as Tree };
    if (Array.isArray(node)) {
      for (let i = node.length - 1; i >= 0; i--) push(null, (node as readonly TreeValue[])[i]);
    } else if (typeof node === 'object' && node !== null && !(node instanceof Uint8Array)) {
      const names = Object.keys(node);
      for (let i = names.length - 1; i >= 0; i--) {
        const name = names[i] as string;
        push(kinds.includes(name) ? name : null, (node as Tree)[name]);
      }
    }
  }

  function push(kind: string | null, below: TreeValue | undefined): void {
    if (typeof below !== 'object' || below === null) return;
    kindsLeft.push(kind);
    left.push(below);
  }
}

/** The entries of `WITH` carry no kind. */
function* entriesOfWith(statement: Tree): Generator<Tree> {
  for (const { node } of found(statement, ['withClause'])) {
    const entries = node['with'];
    if (Array.isArray(entries)) yield* entries as readonly Tree[];
  }
}

function* identifiersUnder(value: Tree, field: string): Generator<string> {
  for (const { node } of found(value, [field])) {
    const name = (node['identifier'] as Tree | undefined)?.['idString'] ?? node['idString'];
    if (typeof name === 'string') yield name;
  }
}

function outermost(edits: readonly Edit[]): readonly Edit[] {
  const sorted = [...edits].sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Edit[] = [];
  for (const edit of sorted) {
    const last = kept[kept.length - 1];
    if (last === undefined || edit.start >= last.end) kept.push(edit);
  }
  return kept;
}

/** The text with the given ranges replaced. The ranges are in order. */
export function applied(sql: string, edits: readonly Edit[]): EngineSql {
  const bytes = Buffer.from(sql);
  const pieces: Buffer[] = [];
  const bodies: (readonly [number, number])[] = [];
  const places: { readonly from: number; readonly to: number; readonly at: number; readonly isOwn: boolean }[] = [];
  let length = 0;
  const add = (piece: Buffer, at: number, isOwn: boolean): void => {
    places.push({ from: length, to: length + piece.length, at, isOwn });
    pieces.push(piece);
    length += piece.length;
  };
  let done = 0;
  for (const { start, end, text, body } of edits) {
    add(bytes.subarray(done, start), done, true);
    if (body !== undefined) bodies.push([length + body[0], length + body[1]]);
    add(Buffer.from(text), start, false);
    done = end;
  }
  add(bytes.subarray(done), done, true);
  return {
    text: Buffer.concat(pieces).toString(),
    bodies,
    origin(place) {
      const piece = places.find(({ from, to }) => place >= from && place < to) ?? places[places.length - 1];
      if (piece === undefined) return place;
      return piece.isOwn ? piece.at + place - piece.from : piece.at;
    },
  };
}
