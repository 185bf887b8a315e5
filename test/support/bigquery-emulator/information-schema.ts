/** The INFORMATION_SCHEMA views of each dataset and of the project, as tables. */
import type { EngineTable, Tree } from './engine.ts';
import type { Column, Dataset, Routine, Storage, Table } from './storage.ts';
import { engineType, type ScalarKind, type Type, typeName } from './types.ts';
import { jsonValue } from './values.ts';

type Cells = Readonly<Record<string, string | number | null>>;

interface View {
  readonly columns: Readonly<Record<string, ScalarKind>>;
  rows(dataset: Dataset, project: string): readonly Cells[];
}

const stamp = (ms: number): string => new Date(ms).toISOString();

function tablesOf({ tables }: Dataset): readonly Table[] {
  return [...tables.values()];
}

function routinesOf({ routines }: Dataset): readonly Routine[] {
  return [...routines.values()];
}

function ofTable(project: string, dataset: Dataset, table: Table): Cells {
  return { table_catalog: project, table_schema: dataset.name, table_name: table.name };
}

function ofRoutine(project: string, dataset: Dataset, routine: Routine): Cells {
  return { specific_catalog: project, specific_schema: dataset.name, specific_name: routine.name };
}

const TABLE: Readonly<Record<string, ScalarKind>> = { table_catalog: 'STRING', table_schema: 'STRING', table_name: 'STRING' };
const SPECIFIC: Readonly<Record<string, ScalarKind>> = {
  specific_catalog: 'STRING',
  specific_schema: 'STRING',
  specific_name: 'STRING',
};

/** Quotes a text as an SQL literal. */
export function literal(text: string): string {
  return JSON.stringify(text);
}

const OF_COLUMN: Cells = {
  is_generated: 'NEVER',
  is_hidden: 'NO',
  is_system_defined: 'NO',
  is_partitioning_column: 'NO',
  collation_name: 'NULL',
  column_default: 'NULL',
};

const PSEUDO_COLUMNS = [
  ['_PARTITIONTIME', 'TIMESTAMP'],
  ['_PARTITIONDATE', 'DATE'],
].map(([column_name = '', data_type = '']): Cells => {
  const pseudo = { is_hidden: 'YES', is_system_defined: 'YES', is_partitioning_column: 'YES' };
  return { ...OF_COLUMN, ...pseudo, column_name, data_type, ordinal_position: null, is_nullable: 'YES' };
});

const VIEWS: Readonly<Record<string, View>> = {
  SCHEMATA: {
    columns: {
      catalog_name: 'STRING',
      schema_name: 'STRING',
      schema_owner: 'STRING',
      creation_time: 'TIMESTAMP',
      last_modified_time: 'TIMESTAMP',
      location: 'STRING',
      ddl: 'STRING',
    },
    rows: (dataset, project) => [
      {
        catalog_name: project,
        schema_name: dataset.name,
        schema_owner: null,
        creation_time: stamp(dataset.created),
        last_modified_time: stamp(dataset.created),
        location: dataset.location,
        ddl: `CREATE SCHEMA \`${project}.${dataset.name}\``,
      },
    ],
  },
  TABLES: {
    columns: {
      ...TABLE,
      table_type: 'STRING',
      managed_table_type: 'STRING',
      is_insertable_into: 'STRING',
      is_typed: 'STRING',
      is_change_history_enabled: 'STRING',
      creation_time: 'TIMESTAMP',
      base_table_catalog: 'STRING',
      base_table_schema: 'STRING',
      base_table_name: 'STRING',
      default_collation_name: 'STRING',
      ddl: 'STRING',
    },
    rows: (dataset, project) =>
      tablesOf(dataset).map((table) => ({
        ...ofTable(project, dataset, table),
        table_type: table.view === undefined ? 'BASE TABLE' : 'VIEW',
        is_insertable_into: table.view === undefined ? 'YES' : 'NO',
        is_typed: 'NO',
        is_change_history_enabled: 'NO',
        creation_time: stamp(table.created),
        default_collation_name: 'NULL',
      })),
  },
  VIEWS: {
    columns: { ...TABLE, view_definition: 'STRING', check_option: 'STRING', use_standard_sql: 'STRING' },
    rows: (dataset, project) =>
      tablesOf(dataset)
        .filter(({ view }) => view !== undefined)
        .map((table) => ({ ...ofTable(project, dataset, table), view_definition: table.view ?? null, use_standard_sql: 'YES' })),
  },
  COLUMNS: {
    columns: {
      ...TABLE,
      column_name: 'STRING',
      ordinal_position: 'INT64',
      is_nullable: 'STRING',
      data_type: 'STRING',
      is_generated: 'STRING',
      generation_expression: 'STRING',
      is_stored: 'STRING',
      is_hidden: 'STRING',
      is_updatable: 'STRING',
      is_system_defined: 'STRING',
      is_partitioning_column: 'STRING',
      clustering_ordinal_position: 'INT64',
      collation_name: 'STRING',
      column_default: 'STRING',
      rounding_mode: 'STRING',
    },
    rows: (dataset, project) =>
      tablesOf(dataset).flatMap((table) => [
        ...table.columns.map((column, index) => ({
          ...ofTable(project, dataset, table),
          ...OF_COLUMN,
          column_name: column.name,
          ordinal_position: index + 1,
          is_nullable: column.mode === 'NULLABLE' ? 'YES' : 'NO',
          data_type: typeName(column.type),
        })),
        ...(table.byIngestion === true ? PSEUDO_COLUMNS : []).map((column) => ({ ...ofTable(project, dataset, table), ...column })),
      ]),
  },
  COLUMN_FIELD_PATHS: {
    columns: {
      ...TABLE,
      column_name: 'STRING',
      field_path: 'STRING',
      data_type: 'STRING',
      description: 'STRING',
      collation_name: 'STRING',
      rounding_mode: 'STRING',
    },
    rows: (dataset, project) =>
      tablesOf(dataset).flatMap((table) =>
        table.columns.flatMap((column) =>
          fieldPaths(column).map(([path, type, description]) => ({
            ...ofTable(project, dataset, table),
            column_name: column.name,
            field_path: path,
            data_type: typeName(type),
            description: description ?? null,
            collation_name: 'NULL',
          })),
        ),
      ),
  },
  TABLE_OPTIONS: {
    columns: { ...TABLE, option_name: 'STRING', option_type: 'STRING', option_value: 'STRING' },
    rows: (dataset, project) =>
      tablesOf(dataset)
        .filter(({ description }) => description !== undefined)
        .map((table) => ({
          ...ofTable(project, dataset, table),
          option_name: 'description',
          option_type: 'STRING',
          option_value: literal(table.description ?? ''),
        })),
  },
  TABLE_CONSTRAINTS: {
    columns: {
      constraint_catalog: 'STRING',
      constraint_schema: 'STRING',
      constraint_name: 'STRING',
      ...TABLE,
      constraint_type: 'STRING',
      is_deferrable: 'STRING',
      initially_deferred: 'STRING',
      enforced: 'STRING',
    },
    rows: (dataset, project) =>
      tablesOf(dataset)
        .filter(({ primaryKey }) => primaryKey.length > 0)
        .map((table) => ({
          ...ofTable(project, dataset, table),
          constraint_catalog: project,
          constraint_schema: dataset.name,
          constraint_name: `${table.name}.pk$`,
          constraint_type: 'PRIMARY KEY',
          is_deferrable: 'NO',
          initially_deferred: 'NO',
          enforced: 'NO',
        })),
  },
  KEY_COLUMN_USAGE: {
    columns: {
      constraint_catalog: 'STRING',
      constraint_schema: 'STRING',
      constraint_name: 'STRING',
      ...TABLE,
      column_name: 'STRING',
      ordinal_position: 'INT64',
      position_in_unique_constraint: 'INT64',
    },
    rows: (dataset, project) =>
      tablesOf(dataset).flatMap((table) =>
        table.primaryKey.map((column, index) => ({
          ...ofTable(project, dataset, table),
          constraint_catalog: project,
          constraint_schema: dataset.name,
          constraint_name: `${table.name}.pk$`,
          column_name: column,
          ordinal_position: index + 1,
        })),
      ),
  },
  ROUTINES: {
    columns: {
      ...SPECIFIC,
      routine_catalog: 'STRING',
      routine_schema: 'STRING',
      routine_name: 'STRING',
      routine_type: 'STRING',
      data_type: 'STRING',
      routine_body: 'STRING',
      routine_definition: 'STRING',
      external_language: 'STRING',
      is_deterministic: 'STRING',
      security_type: 'STRING',
      created: 'TIMESTAMP',
      last_altered: 'TIMESTAMP',
      ddl: 'STRING',
    },
    rows: (dataset, project) =>
      routinesOf(dataset).map((routine) => ({
        ...ofRoutine(project, dataset, routine),
        routine_catalog: project,
        routine_schema: dataset.name,
        routine_name: routine.name,
        routine_type: routine.kind === 'SCALAR_FUNCTION' ? 'FUNCTION' : 'TABLE FUNCTION',
        data_type: returnedType(routine),
        routine_body: 'SQL',
        routine_definition: routine.body,
        created: stamp(routine.created),
        last_altered: stamp(routine.created),
        ddl: routineDdl(project, dataset, routine),
      })),
  },
  ROUTINE_OPTIONS: {
    columns: { ...SPECIFIC, option_name: 'STRING', option_type: 'STRING', option_value: 'STRING' },
    rows: (dataset, project) =>
      routinesOf(dataset)
        .filter(({ description }) => description !== undefined)
        .map((routine) => ({
          ...ofRoutine(project, dataset, routine),
          option_name: 'description',
          option_type: 'STRING',
          option_value: literal(routine.description ?? ''),
        })),
  },
  PARAMETERS: {
    columns: {
      ...SPECIFIC,
      ordinal_position: 'INT64',
      parameter_mode: 'STRING',
      is_result: 'STRING',
      parameter_name: 'STRING',
      data_type: 'STRING',
      parameter_default: 'STRING',
      is_aggregate: 'STRING',
    },
    rows: (dataset, project) =>
      routinesOf(dataset).flatMap((routine) => [
        ...(routine.kind === 'SCALAR_FUNCTION'
          ? [{ ...ofRoutine(project, dataset, routine), ordinal_position: 0, is_result: 'YES', data_type: returnedType(routine) }]
          : []),
        ...routine.parameters.map(({ name, type }, index) => ({
          ...ofRoutine(project, dataset, routine),
          ordinal_position: index + 1,
          is_result: 'NO',
          parameter_name: name,
          data_type: type === undefined ? 'ANY TYPE' : typeName(type),
        })),
      ]),
  },
};

function returnedType({ returnType, returnColumns }: Routine): string | null {
  if (returnType !== undefined) return typeName(returnType);
  return returnColumns === undefined ? null : `TABLE<${returnColumns.map(({ name, type }) => `${name} ${typeName(type)}`).join(', ')}>`;
}

function routineDdl(project: string, dataset: Dataset, { name, kind, parameters, body }: Routine): string {
  const list = parameters.map((parameter) => `${parameter.name} ${parameter.type === undefined ? 'ANY TYPE' : typeName(parameter.type)}`);
  const head = `\`${project}.${dataset.name}.${name}\`(${list.join(', ')})`;
  return kind === 'SCALAR_FUNCTION' ? `CREATE FUNCTION ${head} AS (${body});` : `CREATE TABLE FUNCTION ${head} AS (${body});`;
}

function fieldPaths({ name, type, description }: Column): readonly (readonly [string, Type, string?])[] {
  const below = (path: string, of: Type): readonly (readonly [string, Type, string?])[] => {
    const inner = of.kind === 'ARRAY' ? of.element : of;
    if (inner.kind !== 'STRUCT') return [];
    return inner.fields.flatMap((field) => [[`${path}.${field.name}`, field.type] as const, ...below(`${path}.${field.name}`, field.type)]);
  };
  return [description === undefined ? [name, type] : [name, type, description], ...below(name, type)];
}

/** Views that need no dataset qualifier. */
export function hasView(name: string): boolean {
  return Object.hasOwn(VIEWS, name.toUpperCase());
}

/** Name under which the engine has a view; without a dataset, the view of the whole project. */
export function viewName(view: string, dataset?: string): string {
  return `${dataset === undefined ? '' : `${dataset}.`}INFORMATION_SCHEMA.${view.toUpperCase()}`;
}

export function informationSchema({ datasets, project }: Storage): readonly EngineTable[] {
  const all = [...datasets.values()];
  return Object.entries(VIEWS).flatMap(([name, view]) => {
    const table = (engineName: string, of: readonly Dataset[]): EngineTable => ({
      name: engineName,
      columns: Object.entries(view.columns).map(([column, kind]) => ({ name: column, type: engineType({ kind }) })),
      rows: of.flatMap((dataset) => view.rows(dataset, project)).map((cells) => row(view, cells)),
    });
    return [table(viewName(name), all), ...all.map((dataset) => table(viewName(name, dataset.name), [dataset]))];
  });
}

function row({ columns }: View, cells: Cells): readonly Tree[] {
  return Object.entries(columns).map(([column, kind]) => jsonValue({ kind }, cells[column] ?? null));
}
