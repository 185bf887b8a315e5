/**
 * What a catalog will be after SQL, as far as its text tells. Definitions cannot be taken back, so that what they would break has to be
 * known before; and the database knows no table or column that has a new name from one that is new.
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
import { typeOf } from '../type-of.ts';
import { Reader, statementsOf, tokensOf } from './tokens.ts';
import type { Foresight } from '../../../backend/connection.ts';

/** @param database the one that the session is in: its tables have no schema */
export function foresightOf(sql: string, before: Catalog, database: string): Foresight {
  const catalog = foresee(sql, before, database);
  return { catalog, recognize: (found) => identified(found, catalog) };
}

/**
 * Drops and new names of tables, views, columns and foreign keys, and new types of columns. What the text hides (prepared
 * statements, routines) and new definitions in the place of old ones are not foreseen.
 * @param database the one that the session is in: its tables have no schema
 */
export function foresee(sql: string, catalog: Catalog, database: string): Catalog {
  const foreseen = new Foreseen(catalog, database);
  for (const statement of statementsOf(tokensOf(sql))) {
    // The body of a routine would look like statements.
    if (isRoutine(new Reader(statement))) break;
    foreseen.run(new Reader(statement));
  }
  return foreseen.catalog();
}

const ROUTINES = ['trigger', 'procedure', 'function', 'event', 'package'];

function isRoutine(reader: Reader): boolean {
  if (reader.take('begin', 'not', 'atomic')) return true;
  if (!reader.take('create')) return false;
  // Who defines it comes first.
  for (let i = 0; i < 12 && !reader.isDone; i++) {
    if (ROUTINES.some((word) => reader.take(word))) return true;
    if (reader.take('table') || reader.take('view') || reader.take('index')) return false;
    if (reader.name() === null && !['=', '@', '(', ')'].some((sign) => reader.take(sign))) return false;
  }
  return false;
}

class Foreseen {
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

  /** The same object where nothing is foreseen. */
  catalog(): Catalog {
    return this.#isChanged ? { ...this.#before, tables: this.#tables } : this.#before;
  }

  run(reader: Reader): void {
    if (reader.take('use')) this.#schema = reader.name() ?? this.#schema;
    else if (reader.take('create')) this.#create(reader);
    else if (reader.take('drop')) this.#drop(reader);
    else if (reader.take('rename', 'table') || reader.take('rename', 'tables')) this.#renameTables(reader);
    else if (reader.take('alter')) {
      while (reader.take('online') || reader.take('ignore'));
      if (reader.take('table')) this.#alter(reader);
    }
  }

  #drop(reader: Reader): void {
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

  /** What is made again in the place of something that was dropped is taken to be like it; what it is like is seen afterwards. */
  #create(reader: Reader): void {
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

  #renameTables(reader: Reader): void {
    reader.take('if', 'exists');
    while (!reader.isDone) {
      const pair = reader.upToComma();
      const from = this.#name(pair);
      skipWait(pair);
      const to = pair.take('to') ? this.#name(pair) : null;
      if (from !== null && to !== null) this.#rename(from, to);
    }
  }

  #alter(reader: Reader): void {
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

  #alterPart(table: QualifiedName, part: Reader): void {
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

  #dropPart(table: QualifiedName, part: Reader): void {
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

  /** As what is created anew. */
  #addPart(table: QualifiedName, part: Reader): void {
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

  #renameColumn(table: QualifiedName, part: Reader): void {
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

  #retype(table: QualifiedName, column: string, part: Reader): void {
    const written = part.typeText();
    const type = written === null ? null : typeWritten(written);
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
    // Where it stood, so that nothing else changes its place.
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

  #name(reader: Reader): QualifiedName | null {
    const first = reader.name();
    if (first === null) return null;
    const second = reader.take('.') ? reader.name() : null;
    return second === null ? { schema: this.#schemaOf(this.#schema), name: first } : { schema: this.#schemaOf(first), name: second };
  }

  #schemaOf(database: string | null): string {
    return database === this.#database ? '' : (database ?? '');
  }
}

/** Names of columns and keys are the same in any case. */
function same(name: string, other: string | null): boolean {
  return name.toLowerCase() === other?.toLowerCase();
}

function skipWait(reader: Reader): void {
  if (reader.take('wait')) reader.name();
  else reader.take('nowait');
}

function renameTarget(part: Reader): 'table' | 'column' | 'key' {
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

/** Null: it cannot be told from the words. */
function typeWritten({ name, length, isUnsigned }: { name: string; length: string; isUnsigned: boolean }): CatalogType | null {
  const known = SYNONYMS.get(name) ?? name;
  if ((known === 'tinyint' || known === 'bit') && length === '1') return typeOf('boolean');
  if (known === 'boolean' || !KNOWN.has(known)) return known === 'boolean' ? typeOf(known) : null;
  return typeOf(isUnsigned ? `${known} unsigned` : known);
}

const KNOWN: ReadonlySet<string> = new Set([
  ...['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'decimal', 'float', 'double', 'bit', 'year'],
  ...['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set', 'json', 'uuid', 'inet4', 'inet6'],
  ...['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob', 'date', 'time', 'datetime', 'timestamp'],
]);

/**
 * The catalog that was found, in which what is foreseen to have a new name is known as what it was.
 * @param found after the SQL
 */
export function identified(found: Catalog, foreseen: Catalog): Catalog {
  const ids = new Set([...foreseen.tables.values()].map(({ id }) => id));
  const tables = new Map(
    [...found.tables].map(([key, table]): [string, CatalogTable] => {
      const known = foreseen.tables.get(key);
      // Whatever has an old name now is something else.
      if (known === undefined) return [key, ids.has(table.id) ? { ...table, id: -table.id } : table];
      const positions = new Map(known.columns.map(({ name, position }) => [name.toLowerCase(), position]));
      const taken = new Set(positions.values());
      const columns = table.columns.map((column) => {
        const position = positions.get(column.name.toLowerCase());
        if (position !== undefined) return { ...column, position };
        return taken.has(column.position) ? { ...column, position: -column.position } : column;
      });
      return [key, { ...table, id: known.id, columns }];
    }),
  );
  return { ...found, tables };
}
