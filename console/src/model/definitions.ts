/** Builds the SQL that changes the structure of a database, from the templates of its kind. The only place that quotes names and literals. */
import { isExpression } from '../../../packages/model/split-statements.ts';
import type { SqlLexis } from '../../../packages/model/sql-lexis.ts';
import type { DefinitionKind, SqlQuotes, StructureForm } from '../../../packages/model/structure-form.ts';

export interface SqlName {
  /** Empty for the current schema. */
  readonly schema: string;
  readonly name: string;
}

export interface ColumnDefinition {
  readonly name: string;
  /** SQL. */
  readonly type: string;
  readonly isRequired: boolean;
  /** The database generates the values. */
  readonly isGenerated: boolean;
  /** SQL; empty for no default. */
  readonly default: string;
  readonly comment: string;
}

interface OnTable {
  readonly table: SqlName;
}
interface OnColumn extends OnTable {
  readonly column: string;
}
interface OnConstraint extends OnTable {
  readonly constraint: string;
}
interface OnEnum {
  readonly enum: SqlName;
}

/** A change of the structure. Texts without a value are empty. */
export type Definition =
  | (OnTable & {
      readonly kind: 'create-table';
      readonly columns: readonly ColumnDefinition[];
      readonly primaryKey: readonly string[];
      readonly comment: string;
    })
  | (OnTable & { readonly kind: 'rename-table'; readonly to: string })
  | (OnTable & { readonly kind: 'comment-table'; readonly comment: string })
  | (OnTable & { readonly kind: 'drop-table' })
  | (OnTable & { readonly kind: 'add-column'; readonly column: ColumnDefinition })
  | (OnColumn & { readonly kind: 'rename-column'; readonly to: string })
  | (OnColumn & {
      readonly kind: 'set-type';
      readonly type: string;
      readonly using: string;
      /** Rest of the column's definition, for kinds that repeat it: SQL of the database, and the default and the comment that stay. */
      readonly rest: { readonly attributes: string; readonly check: string; readonly default: string; readonly comment: string };
    })
  | (OnColumn & { readonly kind: 'set-required' | 'drop-required' | 'drop-default' | 'drop-column' })
  | (OnColumn & { readonly kind: 'set-default'; readonly default: string })
  | (OnColumn & { readonly kind: 'comment-column'; readonly comment: string })
  | (OnConstraint & { readonly kind: 'add-primary-key' | 'add-unique'; readonly columns: readonly string[] })
  | (OnConstraint & {
      readonly kind: 'add-foreign-key';
      readonly columns: readonly string[];
      readonly target: SqlName;
      readonly targetColumns: readonly string[];
      readonly onDelete: string;
      readonly onUpdate: string;
    })
  | (OnConstraint & { readonly kind: 'add-check'; readonly check: string })
  | (OnConstraint & { readonly kind: 'drop-primary-key' | 'drop-unique' | 'drop-foreign-key' | 'drop-check' })
  | (OnTable & {
      readonly kind: 'create-index';
      readonly index: string;
      readonly columns: readonly string[];
      readonly isUnique: boolean;
      readonly method: string;
      readonly where: string;
    })
  | (OnTable & { readonly kind: 'drop-index'; readonly index: string })
  | (OnEnum & { readonly kind: 'create-enum'; readonly values: readonly string[] })
  | (OnEnum & { readonly kind: 'add-enum-value'; readonly value: string; readonly before: string })
  | (OnEnum & { readonly kind: 'rename-enum-value'; readonly value: string; readonly to: string })
  | (OnEnum & { readonly kind: 'comment-enum'; readonly comment: string })
  | (OnEnum & { readonly kind: 'drop-enum' });

/** Returns true if databases of the kind have the statement. */
export function canDefine(form: StructureForm | undefined, kind: DefinitionKind): form is StructureForm {
  return form?.definitions[kind] !== undefined;
}

/** Quotes a name, whatever it contains. */
export function quotedName(name: string, { name: quote }: SqlQuotes): string {
  return quote + name.replaceAll(quote, quote + quote) + quote;
}

/** Quotes a text, whatever it contains and whether or not the session reads backslashes as escapes. */
export function quotedText(text: string, { escapePrefix }: SqlQuotes): string {
  const doubled = text.replaceAll("'", "''");
  return doubled.includes('\\') ? `${escapePrefix}'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/** Quotes a name with its schema. */
export function qualified({ schema, name }: SqlName, quotes: SqlQuotes): string {
  return schema === '' ? quotedName(name, quotes) : `${quotedName(schema, quotes)}.${quotedName(name, quotes)}`;
}

/** Returns the SQL of the definitions, in order; empty for none. @throws Error if the kind lacks a statement */
export function sqlOf(definitions: readonly Definition[], form: StructureForm): string {
  const statements = definitions.flatMap((definition) => withComments(definition, form)).map((each) => statementOf(each, form));
  return statements.map((statement) => `${statement};\n`).join('');
}

/** Returns a query for the structure of a table. @param read one of the form's `reads` @param more values of further placeholders */
export function readOf(read: string, { schema, name }: SqlName, { quotes }: StructureForm, more: Values = {}): string {
  return fill(read, {
    ...Object.fromEntries(Object.entries(more).map(([key, value]) => [key, quotedText(value, quotes)])),
    schema: schema === '' && quotes.currentSchema !== undefined ? quotes.currentSchema : quotedText(schema, quotes),
    name: quotedText(name, quotes),
  });
}

/** Returns why the definitions cannot be run; undefined if they can. */
export function problemOf(definitions: readonly Definition[], lexis: SqlLexis): string | undefined {
  for (const definition of definitions) {
    const { names, expressions } = partsOf(definition);
    if (names.some((name) => name === '')) return 'Enter all names';
    if (names.some((name) => name.includes('\0'))) return 'A name contains a character that names cannot have';
    for (const [what, sql] of expressions) if (!isExpression(sql, lexis)) return `${what} is not a complete SQL expression`;
  }
  return undefined;
}

/** Adds statements for comments that are not part of `create table` and of columns. */
function withComments(definition: Definition, form: StructureForm): readonly Definition[] {
  const { kind } = definition;
  if (kind !== 'create-table' && kind !== 'add-column') return [definition];
  const { table } = definition;
  const columns = kind === 'create-table' ? definition.columns : [definition.column];
  const hasColumnComments = form.column.includes('{comment}') || !canDefine(form, 'comment-column');
  const tableComment = kind === 'create-table' ? definition.comment : '';
  const hasTableComment = form.definitions['create-table']?.includes('{comment}') === true || !canDefine(form, 'comment-table');
  return [
    definition,
    ...(tableComment === '' || hasTableComment ? [] : [{ kind: 'comment-table', table, comment: tableComment } as const]),
    ...columns
      .filter(({ comment }) => comment !== '' && !hasColumnComments)
      .map(({ name: column, comment }) => ({ kind: 'comment-column', table, column, comment }) as const),
  ];
}

type Values = Readonly<Record<string, string>>;

function statementOf(definition: Definition, form: StructureForm): string {
  const template = form.definitions[definition.kind];
  if (template === undefined) throw new Error(`databases of this kind lack ${definition.kind}`);
  return fill(template, valuesOf(definition, form));
}

/** Replaces the placeholders of a template; a part in brackets is left out if one of its values is empty. */
function fill(template: string, values: Values): string {
  const valueFor = (key: string): string => {
    const value = values[key];
    if (value === undefined) throw new Error(`the template has an unknown placeholder: ${key}`);
    return value;
  };
  const filled = (part: string): string => part.replace(/\{(\w+)\}/g, (_, key: string) => valueFor(key));
  // Brackets without a placeholder are SQL.
  return template
    .split(/(\[[^[\]]*\{\w+\}[^[\]]*\])/)
    .map((part, index) => {
      if (index % 2 === 0) return filled(part);
      const isComplete = [...part.matchAll(/\{(\w+)\}/g)].every(([, key = '']) => valueFor(key) !== '');
      return isComplete ? filled(part.slice(1, -1)) : '';
    })
    .join('');
}

/** Values of the placeholders of a statement, quoted. */
function valuesOf(definition: Definition, form: StructureForm): Values {
  const { quotes } = form;
  const name = (text: string): string => (text === '' ? '' : quotedName(text, quotes));
  const names = (list: readonly string[]): string => list.map(name).join(', ');
  const text = (value: string): string => quotedText(value, quotes);
  const on: Values = 'table' in definition ? { table: qualified(definition.table, quotes) } : { enum: qualified(definition.enum, quotes) };
  switch (definition.kind) {
    case 'create-table': {
      const { columns, primaryKey, comment } = definition;
      const parts = columns.map((column) => columnOf(column, form));
      if (primaryKey.length > 0) parts.push(`primary key (${names(primaryKey)})`);
      return { ...on, parts: parts.join(',\n  '), comment: comment === '' ? '' : text(comment) };
    }
    case 'rename-table':
      return { ...on, to: name(definition.to), toTable: qualified({ ...definition.table, name: definition.to }, quotes) };
    case 'comment-table':
    case 'comment-enum':
      return { ...on, comment: text(definition.comment) };
    case 'add-column':
      return { ...on, definition: columnOf(definition.column, form) };
    case 'rename-column':
      return { ...on, column: name(definition.column), to: name(definition.to) };
    case 'set-type': {
      const { column, type, using, rest } = definition;
      const comment = rest.comment === '' ? '' : text(rest.comment);
      return { ...on, column: name(column), type, using, ...rest, comment };
    }
    case 'set-default':
      return { ...on, column: name(definition.column), default: definition.default };
    case 'comment-column':
      return { ...on, column: name(definition.column), comment: text(definition.comment) };
    case 'set-required':
    case 'drop-required':
    case 'drop-default':
    case 'drop-column':
      return { ...on, column: name(definition.column) };
    case 'add-primary-key':
    case 'add-unique':
      return { ...on, constraint: name(definition.constraint), columns: names(definition.columns) };
    case 'add-foreign-key': {
      const { constraint, columns, target, targetColumns, onDelete, onUpdate } = definition;
      const targets = { target: qualified(target, quotes), targetColumns: names(targetColumns) };
      return { ...on, constraint: name(constraint), columns: names(columns), ...targets, onDelete, onUpdate };
    }
    case 'add-check':
      return { ...on, constraint: name(definition.constraint), check: definition.check };
    case 'drop-primary-key':
    case 'drop-unique':
    case 'drop-foreign-key':
    case 'drop-check':
      return { ...on, constraint: name(definition.constraint) };
    case 'create-index': {
      const { index, columns, isUnique, method, where } = definition;
      return { ...on, index: name(index), columns: names(columns), unique: isUnique ? 'unique' : '', method, where };
    }
    case 'drop-index': {
      const { table, index } = definition;
      return { ...on, index: name(index), qualifiedIndex: qualified({ schema: table.schema, name: index }, quotes) };
    }
    case 'create-enum':
      return { ...on, values: definition.values.map(text).join(', ') };
    case 'add-enum-value':
      return { ...on, value: text(definition.value), before: definition.before === '' ? '' : text(definition.before) };
    case 'rename-enum-value':
      return { ...on, value: text(definition.value), toValue: text(definition.to) };
    case 'drop-table':
    case 'drop-enum':
      return on;
  }
}

function columnOf({ name, type, isRequired, isGenerated, default: value, comment }: ColumnDefinition, form: StructureForm): string {
  return fill(form.column, {
    column: quotedName(name, form.quotes),
    type,
    generated: isGenerated ? form.generated.clause : '',
    default: isGenerated ? '' : value,
    required: isRequired ? 'not null' : '',
    comment: comment === '' ? '' : quotedText(comment, form.quotes),
  });
}

interface Parts {
  /** Names that must not be empty. */
  readonly names: readonly string[];
  /** SQL of the user, with its label. */
  readonly expressions: readonly (readonly [label: string, sql: string])[];
}

function partsOf(definition: Definition): Parts {
  const object = 'table' in definition ? definition.table.name : definition.enum.name;
  const parts = (names: readonly string[], ...expressions: Parts['expressions']): Parts => ({
    names: [object, ...names],
    expressions,
  });
  const optional = (label: string, sql: string): Parts['expressions'] => (sql === '' ? [] : [[label, sql]]);
  const ofColumn = ({ name, type, default: value }: ColumnDefinition): Parts =>
    parts([name], [`The type of ${name}`, type], ...optional(`The default of ${name}`, value));
  switch (definition.kind) {
    case 'create-table': {
      const columns = definition.columns.map(ofColumn);
      return parts(
        columns.flatMap(({ names }) => names),
        ...columns.flatMap(({ expressions }) => expressions),
      );
    }
    case 'add-column':
      return ofColumn(definition.column);
    case 'rename-table':
    case 'rename-column':
      return parts([definition.to]);
    case 'set-type':
      return parts([], ['The type', definition.type], ...optional('The conversion', definition.using));
    case 'set-default':
      return parts([], ['The default', definition.default]);
    case 'add-check':
      return parts([], ['The condition', definition.check]);
    case 'create-index':
      return parts([], ...optional('The condition', definition.where));
    default:
      return parts([]);
  }
}
