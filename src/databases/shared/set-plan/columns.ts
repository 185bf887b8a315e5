import { SvcError } from '../../../errors/svc-error.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../row.ts';
import type { SetWriter } from './writer.ts';

/** Columns of a relation, which are added while the expressions that read it are compiled. */
export class Columns {
  readonly #items: Sql[] = [];
  readonly #names = new Map<string, Sql>();
  readonly #inner: Row;

  constructor(inner: Row) {
    this.#inner = inner;
  }

  /** Returns the outer name of a column. */
  column(name: string): Sql {
    let outside = this.#names.get(name);
    if (outside === undefined) {
      // Names with a colon are reserved for generated columns.
      outside = name.startsWith(':') ? this.add(this.#inner.column(name)) : this.#put(this.#inner.column(name), name);
      this.#names.set(name, outside);
    }
    return outside;
  }

  /** Adds a value and returns its name. */
  add(value: Sql): Sql {
    return this.#put(value, `:${this.#items.length}`);
  }

  seenAs(alias: Sql): Row {
    return {
      column: (name) => sql`${alias}.${this.column(name)}`,
      whole: () => {
        throw new SvcError('not-supported', 'functions of rows cannot be called by this kind of database');
      },
    };
  }

  /** Returns the select list. Called last. */
  list(): Sql {
    return this.#items.length === 0 ? sql`1 as ${identifier(':any')}` : join(this.#items, sql`, `);
  }

  #put(value: Sql, name: string): Sql {
    const outside = identifier(name);
    this.#items.push(sql`${value} as ${outside}`);
    return outside;
  }
}

/**
 * Returns conditions on values of another row, which hold if a row of the relation has these values in its columns. The conditions repeat
 * the reads of the relation.
 */
export type Keys = (columns: readonly string[], values: readonly Sql[]) => readonly Sql[];

/** A relation that is created when it is first read. */
export class Named {
  readonly columns: Columns;
  /** `null` if reading the relation again may give other keys, or costs more than it saves. */
  readonly keys: Keys | null;
  readonly #writer: SetWriter;
  readonly #select: () => Sql;
  #made: Sql | undefined;

  constructor(writer: SetWriter, columns: Columns, select: () => Sql, keys: Keys | null = null) {
    this.#writer = writer;
    this.keys = keys;
    this.columns = columns;
    this.#select = select;
  }

  /** Returns an item of a from clause, without an alias. */
  item(): Sql {
    this.#made ??= this.#writer.relation(this.#select);
    return this.#made;
  }

  /** Returns an item of a from clause, as a subquery if the relation has no other reader. */
  inline(): Sql {
    return this.#made ?? sql`(${this.#select()})`;
  }
}
