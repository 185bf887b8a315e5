/** The contents of a project, datasets of tables, views and routines, and their registration in the engine. */
import type { Engine, EngineTable, Tree } from './engine.ts';
import { ApiError } from './errors.ts';
import { tablesWithoutPlaces } from './geography.ts';
import { informationSchema } from './information-schema.ts';
import { engineType, type Field, type Mode, type Type, typeOfField } from './types.ts';
import { type Json, jsonValue, sizeOf } from './values.ts';

export interface Column {
  readonly name: string;
  readonly type: Type;
  readonly mode: Mode;
  readonly description?: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly description?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Set for views. */
  readonly view?: string;
  /** Partitioned by ingestion time: `INFORMATION_SCHEMA` lists its pseudo columns, which the engine does not have. */
  readonly byIngestion?: boolean;
  /** Column names. */
  readonly primaryKey: readonly string[];
  readonly created: number;
  rows: readonly (readonly Tree[])[];
}

export interface Routine {
  readonly name: string;
  readonly kind: 'SCALAR_FUNCTION' | 'TABLE_VALUED_FUNCTION';
  /** Undefined type: any. */
  readonly parameters: readonly { readonly name: string; readonly type?: Type }[];
  readonly body: string;
  readonly returnType?: Type;
  /** For table functions, declared or inferred. */
  readonly returnColumns?: readonly { readonly name: string; readonly type: Type }[];
  readonly description?: string;
  readonly created: number;
}

export interface Dataset {
  readonly name: string;
  readonly location: string;
  readonly description?: string;
  readonly created: number;
  readonly tables: Map<string, Table>;
  readonly routines: Map<string, Routine>;
}

/** A table of a fixture. */
export interface TableFixture {
  readonly description?: string;
  readonly primaryKey?: readonly string[];
  readonly byIngestion?: boolean;
  readonly fields: readonly Field[];
  readonly rows?: readonly { readonly [column: string]: Json }[];
}

/** Ids of the registrations in the engine. Geographies are text wherever values are computed. */
export interface Catalogs {
  readonly forTypes: string;
  readonly forValues: string;
}

interface Held {
  readonly catalogs: Promise<Catalogs>;
  readonly version: number;
  users: number;
  isGone?: boolean;
}

/** Tables by name. */
export type DatasetFixture = Readonly<Record<string, TableFixture>>;

export class Storage {
  readonly datasets = new Map<string, Dataset>();
  private version = 0;
  private registered: Held | undefined;

  private readonly engine: Engine;
  readonly project: string;
  readonly location: string;

  constructor(engine: Engine, project: string, location: string) {
    this.engine = engine;
    this.project = project;
    this.location = location;
  }

  /** Invalidates the registrations in the engine. */
  changed(): void {
    this.version += 1;
  }

  addDataset(name: string, description?: string): Dataset {
    if (this.datasets.has(name)) throw new ApiError('duplicate', `Already Exists: Dataset ${this.project}:${name}`);
    const dataset: Dataset = {
      name,
      location: this.location,
      created: Date.now(),
      tables: new Map(),
      routines: new Map(),
      ...(description === undefined ? {} : { description }),
    };
    this.datasets.set(name, dataset);
    this.changed();
    return dataset;
  }

  /** @throws ApiError if it does not exist */
  dataset(name: string): Dataset {
    const found = this.datasets.get(name);
    if (found === undefined) {
      throw new ApiError('notFound', `Not found: Dataset ${this.project}:${name} was not found in location ${this.location}`);
    }
    return found;
  }

  /** @throws ApiError if it does not exist */
  table(dataset: string, name: string): Table {
    const found = this.dataset(dataset).tables.get(name);
    if (found === undefined) {
      throw new ApiError('notFound', `Not found: Table ${this.project}:${dataset}.${name} was not found in location ${this.location}`);
    }
    return found;
  }

  addFixture(dataset: string, name: string, { fields, rows = [], description, primaryKey = [], byIngestion = false }: TableFixture): void {
    const columns = fields.map(
      (field): Column => ({
        name: field.name,
        type: typeOfField(field),
        mode: field.mode ?? 'NULLABLE',
        ...(field.description === undefined ? {} : { description: field.description }),
      }),
    );
    const known = new Set(columns.map((column) => column.name));
    this.dataset(dataset).tables.set(name, {
      name,
      columns,
      primaryKey,
      byIngestion,
      created: Date.now(),
      rows: rows.map((row) => {
        const stranger = Object.keys(row).find((key) => !known.has(key));
        if (stranger !== undefined) throw new Error(`the table ${dataset}.${name} has no column ${stranger}`);
        return columns.map((column) => {
          const value = row[column.name];
          if (column.mode === 'REQUIRED' && (value === undefined || value === null)) {
            throw new Error(`the column ${dataset}.${name}.${column.name} is required`);
          }
          return jsonValue(column.type, value);
        });
      }),
      ...(description === undefined ? {} : { description }),
    });
    this.changed();
  }

  /** Runs `work` with the current catalogs of the engine, which stay registered until it is done. */
  async using<Value>(work: (catalogs: Catalogs) => Promise<Value>): Promise<Value> {
    let held = this.registered;
    if (held === undefined || held.version !== this.version) {
      const before = held;
      held = { catalogs: this.register(), version: this.version, users: 0 };
      this.registered = held;
      if (before !== undefined) await this.release(before);
    }
    held.users += 1;
    try {
      return await work(await held.catalogs);
    } finally {
      held.users -= 1;
      await this.release(held);
    }
  }

  /** Removes all registrations from the engine. */
  async forget(): Promise<void> {
    const held = this.registered;
    this.registered = undefined;
    if (held !== undefined) await this.release(held);
  }

  private async release(held: Held): Promise<void> {
    if (held === this.registered || held.users > 0 || held.isGone === true) return;
    held.isGone = true;
    const { forTypes, forValues } = await held.catalogs;
    await this.engine.unregister(forValues);
    if (forTypes !== forValues) await this.engine.unregister(forTypes);
  }

  private async register(): Promise<Catalogs> {
    const tables = this.engineTables();
    const evaluated = tablesWithoutPlaces(tables);
    const forValues = await this.engine.register(evaluated);
    if (evaluated === tables) return { forTypes: forValues, forValues };
    return { forTypes: await this.engine.register(tables.map((table) => ({ ...table, rows: [] }))), forValues };
  }

  private engineTables(): readonly EngineTable[] {
    return [...this.tablesForEngine(), ...informationSchema(this)];
  }

  /** The tables with their rows, except one. */
  tablesForEngine(except?: string): readonly EngineTable[] {
    return [...this.datasets.values()].flatMap((dataset) =>
      [...dataset.tables.values()]
        .filter(({ name, view }) => view === undefined && `${dataset.name}.${name}` !== except)
        .map((table) => ({
          name: `${dataset.name}.${table.name}`,
          columns: table.columns.map(({ name, type }) => ({ name, type: engineType(type) })),
          rows: table.rows,
        })),
    );
  }
}

/** Bytes that BigQuery counts for columns of a table; all columns if there is no list. */
export function tableBytes(table: Table, columns?: ReadonlySet<number>): number {
  let bytes = 0;
  for (const row of table.rows) {
    for (const [index, column] of table.columns.entries()) {
      if (columns === undefined || columns.has(index)) bytes += sizeOf(column.type, row[index] ?? {});
    }
  }
  return bytes;
}
