/** Executes statements: the engine checks and evaluates reads, writes change the storage. */
import type { Engine, Parameters, Tree } from './engine.ts';
import { EngineError } from './engine.ts';
import { ApiError, invalidQuery } from './errors.ts';
import { parametersWithoutPlaces, withoutPlacesIn } from './geography.ts';
import { refuseWhatBigQueryRefuses } from './guard.ts';
import { found, withEngineNames, withNamedParameters } from './names.ts';
import { type Catalogs, type Storage, tableBytes } from './storage.ts';
import { type Field, fieldOf, type Type, typeOfEngine } from './types.ts';
import { fieldWithNullElement } from './values.ts';
import { changeStorage } from './definitions.ts';

export interface Result {
  readonly statementType: string;
  /** Undefined for statements without a result set. */
  readonly columns?: readonly { readonly name: string; readonly type: Type }[];
  readonly rows: readonly (readonly Tree[])[];
  readonly affected?: number;
  /** Bytes of the columns that the statement reads. */
  readonly bytes: number;
  readonly tables: readonly { readonly dataset: string; readonly table: string }[];
}

export interface QueryRequest {
  readonly sql: string;
  readonly parameters: Parameters;
  readonly defaultDataset: string | undefined;
  readonly dryRun: boolean;
  readonly isReadOnly: boolean;
  /** Called with the bytes of a statement before it runs. @throws ApiError */
  readonly check: (bytes: number, tables: number) => void;
  readonly signal: AbortSignal;
}

const EMPTY: Result = { statementType: 'SCRIPT', rows: [], bytes: 0, tables: [] };

export class Executor {
  readonly engine: Engine;
  readonly storage: Storage;

  constructor(engine: Engine, storage: Storage) {
    this.engine = engine;
    this.storage = storage;
  }

  /** Runs all statements of a script. @returns the last result set, or else the last result. @throws ApiError */
  async run(request: QueryRequest): Promise<Result> {
    if (request.sql.trim() === '') throw new ApiError('required', 'Required parameter is missing: query', 'query');
    let last: Result | undefined;
    let withRows: Result | undefined;
    let from = 0;
    let bytes = 0;
    let statements = 0;
    const whole = Buffer.from(request.sql);
    while (from < whole.length && whole.subarray(from).toString().trim() !== '') {
      request.signal.throwIfAborted();
      let end = whole.length;
      try {
        const parsed = await this.next(request.sql, from);
        end = parsed.end;
        const text = whole.subarray(from, end).toString();
        // Positions in a tree refer to the whole text.
        const statement = from === 0 ? parsed.statement : (await this.engine.parse(text)).statement;
        last = await this.storage.using((catalogs) => this.one(text, statement, catalogs, request));
      } catch (error) {
        throw translated(error, whole, from);
      }
      bytes += last.bytes;
      statements += 1;
      if (last.columns !== undefined) withRows = last;
      from = end;
    }
    const shown = withRows ?? last ?? EMPTY;
    return { ...shown, ...(statements > 1 ? { statementType: EMPTY.statementType } : {}), bytes };
  }

  /** @throws EngineError with the position in the remaining text */
  private async next(sql: string, from: number): Promise<{ readonly statement: Tree; readonly end: number }> {
    try {
      return await this.engine.parse(sql, from);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      // The parser alone reports no position; the analyzer fails in the same way and does.
      const rest = Buffer.from(sql).subarray(from).toString();
      await this.storage.using(({ forTypes }) => this.engine.analyze(rest, forTypes, { list: [], isPositional: false }));
      throw error;
    }
  }

  private async one(given: string, tree: Tree, catalogs: Catalogs, request: QueryRequest): Promise<Result> {
    const { sql: named, parameters } = withNamedParameters(given, tree, request.parameters);
    const text = named.text;
    const statement = text === given ? tree : (await this.engine.parse(text)).statement;
    const { forTypes: catalog } = catalogs;
    const scope = { storage: this.storage, engine: this.engine, catalog, defaultDataset: request.defaultDataset };
    const sql = await withEngineNames(scope, text, statement);
    try {
      const resolved = await this.engine.analyze(sql.text, catalog, parameters, sql.bodies.length > 0);
      refuseWhatBigQueryRefuses(resolved, sql.bodies);
      return await this.evaluate(text, sql.text, resolved, catalogs, { ...request, parameters });
    } catch (error) {
      throw relocated(error, sql.text, given, (place) => named.origin(sql.origin(place)));
    }
  }

  private async evaluate(text: string, sql: string, resolved: Tree, { forValues }: Catalogs, request: QueryRequest): Promise<Result> {
    const { bytes, tables } = this.cost(resolved);
    const query = resolved['resolvedQueryStmtNode'] as Tree | undefined;
    if (query === undefined && request.isReadOnly) {
      throw new ApiError('accessDenied', `Access Denied: Project ${this.storage.project}: the access token permits reading only`);
    }
    request.check(bytes, tables.length);
    const evaluated = await withoutPlacesIn(this.engine, sql);
    const parameters = parametersWithoutPlaces(request.parameters);
    if (query !== undefined) {
      const columns = ((query['outputColumnList'] ?? []) as readonly Tree[]).map((column) => ({
        name: (column['name'] ?? '') as string,
        type: typeOfEngine((column['column'] as Tree)['type'] as Tree),
      }));
      refuseRepeatedNames(columns);
      const rows = request.dryRun ? [] : await this.engine.evaluate(evaluated, forValues, parameters);
      for (const row of rows) refuseNullElements(columns, row);
      return { statementType: 'SELECT', columns, rows, bytes, tables };
    }
    const change = await changeStorage({
      engine: this.engine,
      storage: this.storage,
      text,
      sql: evaluated,
      resolved,
      catalog: forValues,
      parameters,
      dryRun: request.dryRun,
    });
    return { ...change, rows: [], bytes, tables };
  }

  /** Bytes of the columns that a statement reads, each counted once. */
  private cost(resolved: Tree): { readonly bytes: number; readonly tables: Result['tables'] } {
    const read = new Map<string, Set<number>>();
    for (const { node } of found(resolved, ['resolvedTableScanNode'])) {
      const name = (node['table'] as Tree)['name'] as string;
      const columns = read.get(name) ?? new Set<number>();
      for (const index of (node['columnIndexList'] ?? []) as readonly string[]) columns.add(Number(index));
      read.set(name, columns);
    }
    let bytes = 0;
    const tables: { dataset: string; table: string }[] = [];
    for (const [name, columns] of read) {
      const at = name.indexOf('.');
      const [dataset, table] = [name.slice(0, at), name.slice(at + 1)];
      tables.push({ dataset, table });
      const own = this.storage.datasets.get(dataset)?.tables.get(table);
      // Reading INFORMATION_SCHEMA costs the minimum.
      bytes += own === undefined ? LEAST_BYTES : tableBytes(own, columns);
    }
    return { bytes, tables };
  }
}

type Columns = NonNullable<Result['columns']>;

function refuseRepeatedNames(columns: Columns): void {
  const names = columns.map(({ name }) => name.toLowerCase()).filter((name) => name !== '' && !name.startsWith('$'));
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  if (repeated.length > 0) {
    throw invalidQuery(`Duplicate column names in the result are not supported. Found duplicate(s): ${[...new Set(repeated)].join(', ')}`);
  }
}

/** Rejects NULL elements in result arrays, which are valid only inside expressions. */
function refuseNullElements(columns: Columns, row: readonly Tree[]): void {
  for (const [index, { name, type }] of columns.entries()) {
    const field = fieldWithNullElement(name, type, row[index] ?? {});
    if (field !== undefined) throw invalidQuery(`Array cannot have a null element; error in writing field ${field}`);
  }
}

const LEAST_BYTES = 10 * 1024 * 1024;
const PLACE = / ?\[at (\d+):(\d+)\]$/;

/** An error of the engine with its position in the original text. */
function relocated(error: unknown, ran: string, given: string, origin: (place: number) => number): unknown {
  if (!(error instanceof EngineError)) return error;
  const match = PLACE.exec(error.message);
  if (match === null) return error;
  const offset = offsetOf(Buffer.from(ran), Number(match[1]), Number(match[2]));
  const { line, column } = placeOf(Buffer.from(given), origin(offset));
  return new EngineError(error.message.replace(PLACE, ` [at ${line}:${column}]`));
}

/** The error in BigQuery's format, with its position in the whole text. */
function translated(error: unknown, whole: Buffer, from: number): unknown {
  if (!(error instanceof EngineError)) return error;
  const match = PLACE.exec(error.message);
  if (match === null) return invalidQuery(error.message);
  const start = placeOf(whole, from);
  const line = Number(match[1]) + start.line - 1;
  const column = Number(match[2]) + (match[1] === '1' ? start.column - 1 : 0);
  return invalidQuery(error.message.replace(PLACE, ` at [${line}:${column}]`));
}

function offsetOf(text: Buffer, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at++) {
    const next = text.indexOf(10, start);
    if (next < 0) break;
    start = next + 1;
  }
  const end = text.indexOf(10, start);
  const characters = [...text.subarray(start, end < 0 ? text.length : end).toString()];
  return start + Buffer.byteLength(characters.slice(0, column - 1).join(''));
}

function placeOf(text: Buffer, offset: number): { readonly line: number; readonly column: number } {
  const before = text.subarray(0, offset).toString();
  const lines = before.split('\n');
  return { line: lines.length, column: [...(lines[lines.length - 1] ?? '')].length + 1 };
}

/** The schema of a result set. */
export function schemaOf(columns: Result['columns']): { readonly fields: readonly Field[] } {
  return {
    fields: (columns ?? []).map(({ name, type }, index) => {
      const shown = name === '' || name.startsWith('$') ? `f${index}_` : name;
      return fieldOf(shown, type);
    }),
  };
}
