/** Rows of an import as the objects that are inserted, with what is wrong with a row. */
import { jsonOfText } from './cell-text.ts';
import { type ImportCell, type ImportTable, plainName, unitOf } from './import-text.ts';
import { type Json, type JsonObject, JsonNumber, printJson } from './json.ts';

/** A column of the table that rows can be imported into. */
export interface ImportColumn {
  readonly name: string;
  /** GraphQL type. */
  readonly type: string;
  /** True if the column allows no null and has no default. */
  readonly isRequired: boolean;
  readonly choices: readonly string[] | undefined;
}

export interface RowProblem {
  /** Index of the row in the import. */
  readonly row: number;
  /** Undefined if the problem concerns the whole row. */
  readonly column: string | undefined;
  readonly reason: string;
}

export interface ImportPlan {
  /** Objects by the index of their row; undefined for a row with a problem. */
  readonly objects: readonly (JsonObject | undefined)[];
  readonly problems: readonly RowProblem[];
}

/**
 * Returns the target column of each column of the import; undefined for columns that are left out. Without names the place counts. Else a
 * column with exactly the same name comes first, then one whose name differs only in case, spaces, `_` and `-`, if there is only one and
 * no other column of the import has it.
 */
export function matchColumns({ columns }: ImportTable, targets: readonly ImportColumn[]): readonly (string | undefined)[] {
  if (columns.every((name) => name === '')) return columns.map((_, index) => targets[index]?.name);
  const exact = new Set(targets.map(({ name }) => name));
  const taken = new Set<string>();
  const take = (name: string | undefined): string | undefined => {
    if (name === undefined || taken.has(name)) return undefined;
    taken.add(name);
    return name;
  };
  const first = columns.map((name) => (exact.has(name) ? take(name) : undefined));
  return columns.map((name, index) => {
    const plain = plainName(name);
    if (first[index] !== undefined || plain === '') return first[index];
    const similar = targets.filter((target) => plainName(target.name) === plain);
    return similar.length === 1 ? take(similar[0]?.name) : undefined;
  });
}

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const UUID = /^\{?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$/i;
const TRUE = /^(?:true|t|yes|y|1)$/i;
const FALSE = /^(?:false|f|no|n|0)$/i;
const INT_LIMIT = 2_147_483_648;

/** Reads a cell as a value of a column. @throws SyntaxError with what is wrong */
function valueOfCell(cell: Json, { type, choices }: ImportColumn): Json {
  const core = type.replaceAll('!', '');
  if (choices !== undefined && !choices.includes(textOf(cell))) throw new SyntaxError(`expected one of: ${choices.join(', ')}`);
  if (typeof cell !== 'string') return core === 'String' && (typeof cell !== 'object' || cell instanceof JsonNumber) ? textOf(cell) : cell;
  const text = cell.trim();
  if (/^(?:Int|smallint|bigint|int[28])$/.test(core)) {
    if (!INTEGER.test(text)) throw new SyntaxError('expected a whole number');
    if (core !== 'Int') return text;
    if (Math.abs(Number(text)) > INT_LIMIT) throw new SyntaxError('the number is too large');
    return jsonOfText(text, type);
  }
  if (core === 'Float') return jsonOfText(text, type);
  if (/^(?:numeric|decimal|float[48]|double|double_precision)$/.test(core)) {
    if (!NUMBER.test(text) && !/^-?(?:nan|infinity)$/i.test(text)) throw new SyntaxError('expected a number');
    return text;
  }
  if (core === 'Boolean') {
    if (!TRUE.test(text) && !FALSE.test(text)) throw new SyntaxError('expected true or false');
    return TRUE.test(text);
  }
  if (core === 'uuid' && !UUID.test(text)) throw new SyntaxError('expected a UUID');
  if (core.startsWith('[') && !text.startsWith('[')) throw new SyntaxError('expected a JSON list such as ["a", "b"]');
  return core.startsWith('[') || /^jsonb?$/.test(core) ? jsonOfText(text, type) : cell;
}

function textOf(cell: Json): string {
  return typeof cell === 'string' ? cell : printJson(cell);
}

/** Returns true for a cell whose column is left out, so that it gets its default. An empty text is a value of texts. */
function isOmitted(cell: ImportCell, { type }: ImportColumn): boolean {
  return cell === undefined || (typeof cell === 'string' && cell.trim() === '' && !(cell === '' && /^String!?$/.test(type)));
}

interface PlanOptions {
  /** Target columns of the columns of the import. */
  readonly mapping: readonly (string | undefined)[];
  readonly targets: readonly ImportColumn[];
  /** Columns of each key of the table. */
  readonly keys: readonly (readonly string[])[];
}

const SLICE = 2000;

/** Plans the rows. @param pause called between slices, so that the page stays responsive */
export async function planImport(table: ImportTable, options: PlanOptions, pause: () => Promise<void>): Promise<ImportPlan> {
  const { mapping, targets, keys } = options;
  const byName = new Map(targets.map((target) => [target.name, target]));
  const columns = mapping.map((name) => (name === undefined ? undefined : byName.get(name)));
  const isText = table.format !== 'JSON';
  const unit = unitOf(table).toLowerCase();
  const seen = keys.filter((key) => key.every((name) => mapping.includes(name))).map((key) => ({ key, rows: new Map<string, number>() }));
  const objects: (JsonObject | undefined)[] = [];
  const problems: RowProblem[] = [];
  for (const [row, cells] of table.rows.entries()) {
    if (row % SLICE === SLICE - 1) await pause();
    const before = problems.length;
    const object: Record<string, Json> = {};
    for (const [index, column] of columns.entries()) {
      if (column === undefined) continue;
      const cell = cells[index];
      if (isOmitted(cell, column) || (isText && cell === null)) {
        if (column.isRequired) problems.push({ row, column: column.name, reason: 'the value is missing' });
        continue;
      }
      try {
        object[column.name] = cell === null ? null : valueOfCell(cell as Json, column);
      } catch (error) {
        problems.push({ row, column: column.name, reason: error instanceof Error ? error.message : String(error) });
      }
    }
    if (isText && cells.length > columns.length) {
      problems.push({ row, column: undefined, reason: `the row has ${cells.length} cells, but there are ${columns.length} columns` });
    }
    for (const { key, rows } of problems.length > before ? [] : seen) {
      if (key.some((name) => object[name] === undefined || object[name] === null)) continue;
      const text = printJson(key.map((name) => object[name] ?? null));
      const first = rows.get(text);
      if (first === undefined) rows.set(text, row);
      else problems.push({ row, column: key.join(', '), reason: `the same value as in ${unit} ${table.lines[first] ?? first + 1}` });
    }
    objects.push(problems.length > before ? undefined : object);
  }
  return { objects, problems };
}
