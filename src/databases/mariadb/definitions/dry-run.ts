/**
 * Predicts the catalog after SQL from its text. DDL cannot be rolled back, so its effects on the metadata have to be known before it runs.
 * Afterwards, the database does not distinguish a renamed table or column from a new one.
 */
import {
  type Catalog,
  type CatalogColumn,
  type CatalogTable,
  type CatalogType,
  nameKey,
  type QualifiedName,
  sameName,
} from '../../../catalog/catalog.ts';
import { baseType } from '../base-type.ts';
import { TokenReader, statementsOf, tokensOf } from './tokens.ts';
import type { DryRunAnalysis } from '../../../backend/connection.ts';

/** @param database database of the session; its tables have no schema */
export function analyzeDryRun(sql: string, before: Catalog, database: string): DryRunAnalysis {
  const catalog = catalogAfter(sql, before, database);
  return { catalog, recognize: (found) => withIdentities(found, catalog) };
}

/**
 * Recognizes drops and renames of tables, views, columns and foreign keys, and changes of column types. SQL inside prepared statements
 * and routines is not analyzed, nor are new definitions of replaced objects.
 * @param database database of the session; its tables have no schema
 */
export function catalogAfter(sql: string, catalog: Catalog, database: string): Catalog {
  const expected = new SimulatedCatalog(catalog, database);
  for (const statement of statementsOf(tokensOf(sql))) {
    // The body of a routine would look like statements.
    if (isRoutine(new TokenReader(statement))) break;
    expected.run(new TokenReader(statement));
  }
  return expected.catalog();
}

const ROUTINES = ['trigger', 'procedure', 'function', 'event', 'package'];

function isRoutine(reader: TokenReader): boolean {
  if (reader.take('begin', 'not', 'atomic')) return true;
  if (!reader.take('create')) return false;
  // The definer comes first.
  for (let i = 0; i < 12 && !reader.isDone; i++) {
    if (ROUTINES.some((word) => reader.take(word))) return true;
    if (reader.take('table') || reader.take('view') || reader.take('index')) return false;
    if (reader.name() === null && !['=', '@', '(', ')'].some((sign) => reader.take(sign))) return false;
  }
  return false;
}

class SimulatedCatalog {
  readonly #before: Catalog;
  readonly #database: string;
  #schema: string;
  #tables: Map<string, CatalogTable>;
  readonly #dropped = new Map<string, CatalogTable>();
  #isChanged = false;

  constructor(before: Catalog, database: string) {
    this.#before = before;
    this.#database = database;
    this.#schema = database;
    this.#tables = new Map(before.tables);
  }

  /** Returns the same object if nothing changes. */
  catalog(): Catalog {
    return this.#isChanged ? { ...this.#before, tables: this.#tables } : this.#before;
  }

  run(reader: TokenReader): void {
    if (reader.take('use')) this.#schema = reader.name() ?? this.#schema;
    else if (reader.take('create')) this.#create(reader);
    else if (reader.take('drop')) this.#drop(reader);
    else if (reader.take('rename', 'table') || reader.take('rename', 'tables')) this.#renameTables(reader);
    else if (reader.take('alter')) {
      while (reader.take('online') || reader.take('ignore'));
      if (reader.take('table')) this.#alter(reader);
    }
  }

  #drop(reader: TokenReader): void {
    if (reader.take('temporary')) return;
    if (reader.take('database') || reader.take('schema')) {
      reader.take('if', 'exists');
      this.#removeAll(reader.name());
      return;
    }
    if (!reader.take('table') && !reader.take('tables') && !reader.take('view')) return;
    reader.take('if', 'exists');
    while (!reader.isDone) {
      const name = this.#name(reader.upToComma());
      if (name !== null) this.#remove(name);
    }
  }

  /** Assumes that a recreated table equals the dropped one; the new definition is read after the SQL has run. */
  #create(reader: TokenReader): void {
    if (reader.take('or', 'replace', 'database') || reader.take('or', 'replace', 'schema')) {
      this.#removeAll(reader.name());
      return;
    }
    while (!reader.isDone && !reader.take('table') && !reader.take('view')) if (reader.name() === null && !reader.takeSign()) return;
    reader.take('if', 'not', 'exists');
    const name = this.#name(reader);
    const dropped = name === null ? undefined : this.#dropped.get(nameKey(name));
    if (name !== null && dropped !== undefined) this.#tables.set(nameKey(name), dropped);
  }

  #renameTables(reader: TokenReader): void {
    reader.take('if', 'exists');
    while (!reader.isDone) {
      const pair = reader.upToComma();
      const from = this.#name(pair);
      skipWait(pair);
      const to = pair.take('to') ? this.#name(pair) : null;
      if (from !== null && to !== null) this.#rename(from, to);
    }
  }

  #alter(reader: TokenReader): void {
    reader.take('if', 'exists');
    let table = this.#name(reader);
    skipWait(reader);
    while (!reader.isDone && table !== null) {
      const part = reader.upToComma();
      if (part.take('rename')) {
        const to = renameTarget(part);
        if (to === 'column') this.#renameColumn(table, part);
        else if (to === 'table') {
          const name = this.#name(part);
          if (name !== null) {
            this.#rename(table, name);
            table = name;
          }
        }
      } else this.#alterPart(table, part);
    }
  }

  #alterPart(table: QualifiedName, part: TokenReader): void {
    if (part.take('drop')) this.#dropPart(table, part);
    else if (part.take('add')) this.#addPart(table, part);
    else if (part.take('change')) {
      part.take('column');
      part.take('if', 'exists');
      const [from, to] = [part.name(), part.name()];
      if (from === null || to === null) return;
      this.#renameTo(table, from, to);
      this.#retype(table, to, part);
    } else if (part.take('modify')) {
      part.take('column');
      part.take('if', 'exists');
      const column = part.name();
      if (column !== null) this.#retype(table, column, part);
    }
  }

  #dropPart(table: QualifiedName, part: TokenReader): void {
    if (part.take('foreign', 'key') || part.take('constraint')) {
      part.take('if', 'exists');
      const name = part.name();
      this.#edit(table, (found) => ({ ...found, foreignKeys: found.foreignKeys.filter((key) => !same(key.name, name)) }));
      return;
    }
    const others = ['primary', 'index', 'key', 'partition', 'period', 'system', 'check'];
    if (!part.take('column') && others.some((word) => part.take(word))) return;
    part.take('if', 'exists');
    const name = part.name();
    this.#edit(table, (found) => ({
      ...found,
      columns: found.columns.filter((column) => !same(column.name, name)),
      foreignKeys: found.foreignKeys.filter(({ columns }) => !columns.some((each) => same(each, name))),
    }));
  }

  /** Adds columns and keys of the catalog before, which the SQL may have dropped. */
  #addPart(table: QualifiedName, part: TokenReader): void {
    const before = this.#before.tables.get(nameKey(table));
    if (before === undefined) return;
    const isNamed = part.take('constraint');
    if (isNamed && !part.isNext('foreign')) part.name();
    if (part.take('foreign', 'key')) {
      this.#edit(table, (found) => ({
        ...found,
        foreignKeys: [
          ...found.foreignKeys,
          ...before.foreignKeys.filter(({ name }) => !found.foreignKeys.some((key) => key.name === name)),
        ],
      }));
      return;
    }
    if (isNamed) return;
    part.take('column');
    part.take('if', 'not', 'exists');
    const name = part.name();
    const column = before.columns.find((each) => same(each.name, name));
    if (name === null || column === undefined) return;
    this.#edit(table, (found) =>
      found.columns.some((each) => same(each.name, name) || each.position === column.position)
        ? found
        : { ...found, columns: [...found.columns, column] },
    );
    this.#retype(table, name, part);
  }

  #renameColumn(table: QualifiedName, part: TokenReader): void {
    part.take('if', 'exists');
    const from = part.name();
    const to = part.take('to') ? part.name() : null;
    if (from !== null && to !== null) this.#renameTo(table, from, to);
  }

  #renameTo(table: QualifiedName, from: string, to: string): void {
    const renamed = (names: readonly string[]): readonly string[] => names.map((name) => (same(name, from) ? to : name));
    this.#edit(table, (found) => ({
      ...found,
      columns: found.columns.map((column) => (same(column.name, from) ? { ...column, name: to } : column)),
      foreignKeys: found.foreignKeys.map((key) => ({ ...key, columns: renamed(key.columns) })),
    }));
    for (const other of this.#tables.values()) {
      if (!other.foreignKeys.some(({ target }) => sameName(target, table))) continue;
      this.#edit(other.name, (found) => ({
        ...found,
        foreignKeys: found.foreignKeys.map((key) =>
          sameName(key.target, table) ? { ...key, targetColumns: renamed(key.targetColumns) } : key,
        ),
      }));
    }
  }

  #retype(table: QualifiedName, column: string, part: TokenReader): void {
    const written = part.typeText();
    const type = written === null ? null : typeOfWords(written);
    if (type === null) return;
    const retyped = (found: CatalogColumn): CatalogColumn =>
      !same(found.name, column) || found.type.name === type.name ? found : { ...found, type };
    this.#edit(table, (found) => ({ ...found, columns: found.columns.map(retyped) }));
  }

  #removeAll(database: string | null): void {
    const schema = this.#schemaOf(database);
    for (const { name } of [...this.#tables.values()]) if (name.schema === schema) this.#remove(name);
  }

  #remove(name: QualifiedName): void {
    const found = this.#tables.get(nameKey(name));
    if (found === undefined) return;
    this.#tables.delete(nameKey(name));
    this.#dropped.set(nameKey(name), found);
    this.#isChanged = true;
  }

  #rename(from: QualifiedName, to: QualifiedName): void {
    const found = this.#tables.get(nameKey(from));
    if (found === undefined) return;
    this.#isChanged = true;
    // Keeps the position, so that nothing else changes.
    this.#tables = new Map(
      [...this.#tables].map(([key, table]) => (table === found ? [nameKey(to), { ...table, name: to }] : [key, table])),
    );
    for (const [key, table] of this.#tables) {
      const foreignKeys = table.foreignKeys.map((each) => (sameName(each.target, from) ? { ...each, target: to } : each));
      this.#tables.set(key, { ...table, foreignKeys });
    }
  }

  #edit(name: QualifiedName, change: (table: CatalogTable) => CatalogTable): void {
    const found = this.#tables.get(nameKey(name));
    if (found === undefined) return;
    this.#isChanged = true;
    this.#tables.set(nameKey(name), change(found));
  }

  #name(reader: TokenReader): QualifiedName | null {
    const first = reader.name();
    if (first === null) return null;
    const second = reader.take('.') ? reader.name() : null;
    return second === null ? { schema: this.#schemaOf(this.#schema), name: first } : { schema: this.#schemaOf(first), name: second };
  }

  #schemaOf(database: string | null): string {
    return database === this.#database ? '' : (database ?? '');
  }
}

/** Compares names of columns and keys, which are case-insensitive. */
function same(name: string, other: string | null): boolean {
  return name.toLowerCase() === other?.toLowerCase();
}

function skipWait(reader: TokenReader): void {
  if (reader.take('wait')) reader.name();
  else reader.take('nowait');
}

function renameTarget(part: TokenReader): 'table' | 'column' | 'key' {
  if (part.take('column')) return 'column';
  if (part.take('index') || part.take('key')) return 'key';
  void (part.take('to') || part.take('as') || part.take('='));
  return 'table';
}

const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['integer', 'int'],
  ['int4', 'int'],
  ['int8', 'bigint'],
  ['int2', 'smallint'],
  ['dec', 'decimal'],
  ['numeric', 'decimal'],
  ['fixed', 'decimal'],
  ['real', 'double'],
  ['bool', 'boolean'],
]);

/** Returns `null` if the words do not determine the type. */
function typeOfWords({ name, length, isUnsigned }: { name: string; length: string; isUnsigned: boolean }): CatalogType | null {
  const standard = SYNONYMS.get(name) ?? name;
  if ((standard === 'tinyint' || standard === 'bit') && length === '1') return baseType('boolean');
  if (standard === 'boolean' || !STANDARD_TYPES.has(standard)) return standard === 'boolean' ? baseType(standard) : null;
  return baseType(isUnsigned ? `${standard} unsigned` : standard);
}

const STANDARD_TYPES: ReadonlySet<string> = new Set([
  ...['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'decimal', 'float', 'double', 'bit', 'year'],
  ...['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set', 'json', 'uuid', 'inet4', 'inet6'],
  ...['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob', 'date', 'time', 'datetime', 'timestamp'],
]);

/**
 * Gives renamed objects of a catalog the ids of the expected one.
 * @param found catalog after the SQL
 */
export function withIdentities(found: Catalog, expected: Catalog): Catalog {
  const ids = new Set([...expected.tables.values()].map(({ id }) => id));
  const tables = new Map(
    [...found.tables].map(([key, table]): [string, CatalogTable] => {
      const renamed = expected.tables.get(key);
      // A new object with the former name of another one must not have its id.
      if (renamed === undefined) return [key, ids.has(table.id) ? { ...table, id: -table.id } : table];
      const positions = new Map(renamed.columns.map(({ name, position }) => [name.toLowerCase(), position]));
      const taken = new Set(positions.values());
      const columns = table.columns.map((column) => {
        const position = positions.get(column.name.toLowerCase());
        if (position !== undefined) return { ...column, position };
        return taken.has(column.position) ? { ...column, position: -column.position } : column;
      });
      return [key, { ...table, id: renamed.id, columns }];
    }),
  );
  return { ...found, tables };
}
