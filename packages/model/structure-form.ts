/**
 * SQL of a database kind for the pages of the console that show and change the structure of tables. Data only, like `ConsoleForm`.
 *
 * A template has placeholders such as `{table}`, which the console replaces by quoted names, literals and expressions. A part in square
 * brackets is left out if one of its placeholders has no value. A kind without a template lacks the ability.
 */
export interface StructureForm {
  readonly quotes: SqlQuotes;
  /** Names of types that the forms suggest. */
  readonly types: readonly string[];
  /** Type of a column whose values the database generates, and what follows the type. */
  readonly generated: { readonly type: string; readonly clause: string };
  /** Columns in `create table` and `add column`: `{column}`, `{type}`, `{generated}`, `{default}`, `{required}`, `{comment}`. */
  readonly column: string;
  readonly definitions: Readonly<Partial<Record<DefinitionKind, string>>>;
  /** Methods of indexes; the first is the default. */
  readonly indexMethods: readonly string[];
  /** Actions of foreign keys when the target row is deleted or its key changes. */
  readonly actions: readonly string[];
  readonly reads: StructureReads;
}

/** Rules for names and literals. */
export interface SqlQuotes {
  /** Character around names; it is doubled within them. */
  readonly name: '"' | '`';
  /** Prefix of a literal with a backslash, in which a backslash is doubled. */
  readonly escapePrefix: string;
  /** Expression for the schema of names without one; absent if all names have one. */
  readonly currentSchema?: string;
}

/** Queries with the placeholders `{schema}` and `{name}` for the names of a table, as literals. All values are text, none is null. */
export interface StructureReads {
  /** One row: size of the table with everything, of its rows and of its indexes, in bytes, and the estimated number of rows. */
  readonly size: string;
  /** Name, definition, size in bytes, `unique` or empty, and the name of the constraint that the index belongs to or empty. */
  readonly indexes: string;
  /** Name, kind (`primary-key`, `unique`, `foreign-key`, `check` or `other`) and definition. */
  readonly constraints: string;
  /** Name, definition, and `enabled` or `disabled`. */
  readonly triggers: string;
  /** One row for each value of an enum type, in order: schema, name and comment of the type, value. Has no placeholders. */
  readonly enums?: string;
  /**
   * One row for a column, if a change of its type has to repeat the definition: the values of `{attributes}` and `{check}` in `set-type`,
   * and the reason why the type cannot be changed, or empty. Has the placeholders `{column}`, and `{type}` for the new type, as literals.
   */
  readonly columnAttributes?: string;
}

/** Statements that change the structure. */
export type DefinitionKind =
  | 'create-table'
  | 'rename-table'
  | 'comment-table'
  | 'drop-table'
  | 'add-column'
  | 'rename-column'
  | 'set-type'
  | 'set-required'
  | 'drop-required'
  | 'set-default'
  | 'drop-default'
  | 'comment-column'
  | 'drop-column'
  | 'add-primary-key'
  | 'add-unique'
  | 'add-foreign-key'
  | 'add-check'
  | 'drop-primary-key'
  | 'drop-unique'
  | 'drop-foreign-key'
  | 'drop-check'
  | 'create-index'
  | 'drop-index'
  | 'create-enum'
  | 'add-enum-value'
  | 'rename-enum-value'
  | 'comment-enum'
  | 'drop-enum';
