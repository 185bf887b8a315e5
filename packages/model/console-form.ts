import type { SqlLexis } from './sql-lexis.ts';
import type { StructureForm } from './structure-form.ts';

/** Form and labels of a database kind for the console. Data only: `scripts/operations-page.mjs` writes it into the console. */
export interface ConsoleForm {
  /** Name of the product: `PostgreSQL`. */
  readonly title: string;
  /** Language of its SQL in the editor. */
  readonly editor: 'sql' | 'sql-mysql';
  /** Lexical rules of its SQL, which split a text into statements. */
  readonly lexis: SqlLexis;
  /** Key of the schema in names of tables: `schema`. */
  readonly schemaKey: string;
  /** First statements for the SQL page. */
  readonly examples?: readonly { readonly label: string; readonly sql: string }[];
  /**
   * Lists the functions of a source, one row for each parameter, or one without a parameter: schema, unique name, name, schema and name of
   * the returned type, name of the parameter, schema and name of its type. Absent if the functions of the kind cannot be listed.
   */
  readonly functionsSql?: string;
  /** SQL of the pages that show and change the structure of tables. Absent if the kind has none. */
  readonly structure?: StructureForm;
  /** Statements that return the plan of the statement after them as JSON. Absent if the kind has none. */
  readonly explain?: {
    /** Does not run the statement. */
    readonly plan: string;
    /** Runs the statement and measures it. */
    readonly analyze: string;
  };
  readonly secret: ConsoleSecret;
  /** Other values of the configuration. */
  readonly fields: readonly ConsoleField[];
}

/** Value of the configuration that contains a password or key: its text, or an environment variable of the service. */
export interface ConsoleSecret {
  /** Keys from the configuration to the value. */
  readonly path: readonly string[];
  readonly label: string;
  readonly hint: string;
  readonly placeholder: string;
  /** Example name of an environment variable. */
  readonly variable: string;
  /** A text that is a JSON object is sent as this object. */
  readonly json: boolean;
}

export interface ConsoleField {
  /** Key in the configuration. */
  readonly key: string;
  readonly label: string;
  readonly hint: string;
  readonly placeholder: string;
  /** `names` is a list with commas in between. */
  readonly type: 'text' | 'names' | 'number';
  readonly required: boolean;
}
