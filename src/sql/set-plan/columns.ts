import { SvcError } from '../../errors/svc-error.ts';
import { identifier, join, type Sql, sql } from '../fragment.ts';
import type { Row } from '../row.ts';
import type { SetWriter } from './writer.ts';

/** What a relation shows of its rows, found while what reads it is put together. */
export class Columns {
  private readonly items: Sql[] = [];
  private readonly names = new Map<string, Sql>();
  private readonly inner: Row;

  constructor(inner: Row) {
    this.inner = inner;
  }

  /** The name outside of a column of the row. */
  column(name: string): Sql {
    let outside = this.names.get(name);
    if (outside === undefined) {
      // Names with a colon are ours.
      outside = name.startsWith(':') ? this.add(this.inner.column(name)) : this.put(this.inner.column(name), name);
      this.names.set(name, outside);
    }
    return outside;
  }

  /** The name of a value. */
  add(value: Sql): Sql {
    return this.put(value, `:${this.items.length}`);
  }

  seenAs(alias: Sql): Row {
    return {
      column: (name) => sql`${alias}.${this.column(name)}`,
      whole: () => {
        throw new SvcError('not-supported', 'functions of rows cannot be called by this kind of database');
      },
    };
  }

  /** The select list: to be called last. */
  list(): Sql {
    return this.items.length === 0 ? sql`1 as ${identifier(':any')}` : join(this.items, sql`, `);
  }

  private put(value: Sql, name: string): Sql {
    const outside = identifier(name);
    this.items.push(sql`${value} as ${outside}`);
    return outside;
  }
}

/** A relation that is made when it is first asked for. */
export class Named {
  readonly columns: Columns;
  private readonly writer: SetWriter;
  private readonly select: () => Sql;
  private made: Sql | undefined;

  constructor(writer: SetWriter, columns: Columns, select: () => Sql) {
    this.writer = writer;
    this.columns = columns;
    this.select = select;
  }

  /** Of a from clause, without an alias. */
  item(): Sql {
    this.made ??= this.writer.relation(this.select);
    return this.made;
  }

  /** The same where nothing else needs a name for it. */
  inline(): Sql {
    return this.made ?? sql`(${this.select()})`;
  }

  get isMade(): boolean {
    return this.made !== undefined;
  }
}
