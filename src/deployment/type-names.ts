/** Names of the types and fields that a service generates for a table, in both naming conventions. */

const AGGREGATES = ['avg', 'count', 'max', 'min', 'stddev', 'stddev_pop', 'stddev_samp', 'sum', 'var_pop', 'var_samp', 'variance'];

/** Enums that are types of arguments only. */
const INPUT_ENUMS = ['select_column', 'update_column', 'constraint', 'aggregate_time_column'];

/** Object types that a table has beside that of its rows. */
const OBJECT_SUFFIXES = [
  'aggregate',
  'aggregate_fields',
  'aggregate_group',
  'aggregate_group_key',
  'mutation_response',
  ...AGGREGATES.map((name) => `${name}_fields`),
];

/** Suffixes of input types and enums. */
const INPUT_SUFFIXES = [
  ...INPUT_ENUMS,
  ...AGGREGATES.map((name) => `${name}_order_by`),
  'aggregate_order_by',
  'aggregate_bool_exp',
  'aggregate_group_key_order_by',
  'aggregate_group_order_by',
  'aggregate_having',
  ...AGGREGATES.map((name) => `${name}_having`),
  'append_input',
  'arr_rel_insert_input',
  'bool_exp',
  'delete_at_path_input',
  'delete_elem_input',
  'delete_key_input',
  'inc_input',
  'insert_input',
  'obj_rel_insert_input',
  'on_conflict',
  'order_by',
  'pk_columns_input',
  'prepend_input',
  'set_input',
  'stream_cursor_input',
  'stream_cursor_value_input',
  'updates',
];

const FIELD_SUFFIXES = ['aggregate', 'by_pk', 'many', 'one', 'stream'];

/** `_by_pk` and `ByPk` */
function patternOf(suffixes: readonly string[]): string {
  return suffixes
    .flatMap((name) => [`_${name}`, name.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase())])
    .join('|');
}

interface TypePatterns {
  readonly whole: RegExp;
  /** A suffix of all type names of the source follows. */
  readonly within: RegExp;
}

function typePatterns(suffixes: readonly string[]): TypePatterns {
  const pattern = patternOf(suffixes);
  return { whole: new RegExp(`^(.+?)(?:${pattern})$`), within: new RegExp(`^(.+?)(?:${pattern})([A-Z_]\\w*)$`) };
}

const OBJECTS = typePatterns(OBJECT_SUFFIXES);
const INPUTS = typePatterns(INPUT_SUFFIXES);
const FIELD = new RegExp(`^(.+?)(?:${patternOf(FIELD_SUFFIXES)})$`);
const INPUT_ENUM = new RegExp(`(?:${patternOf(INPUT_ENUMS)})(?:[A-Z_]\\w*)?$`);

/** Returns the type of the rows of the table that a type is generated for: `task` for the input type `task_bool_exp`. */
export function rowTypeOf(type: string, kind: 'object' | 'input'): string | undefined {
  const { whole, within } = kind === 'object' ? OBJECTS : INPUTS;
  const [, base] = whole.exec(type) ?? [];
  if (base !== undefined) return base;
  const [, before, after = ''] = within.exec(type) ?? [];
  return before === undefined ? undefined : before + after;
}

/** Returns the field that another one accompanies: `tasks` for `tasks_aggregate`, `insert_task` for `insert_task_one`. */
export function plainFieldOf(field: string): string | undefined {
  return FIELD.exec(field)?.[1];
}

/** Returns whether a type is the enum of a table's columns or constraints. */
export function isGeneratedInputEnum(type: string): boolean {
  return INPUT_ENUM.test(type);
}

/** Returns a name in the form in which both conventions agree: `createdat` for `created_at` and `createdAt`. */
export function foldedCase(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}
