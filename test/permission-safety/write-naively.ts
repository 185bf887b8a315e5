/** Applies a mutation to the rows as plainly as possible. */
import { evaluate, type Scene } from './seen.ts';
import { Undetermined } from './answer.ts';
import { type Data, type Exp, type Row, type Session, type Table, tableOf, type Value, type World } from './world.ts';
import type { Mutation, Preset, WritePermissions, Writes } from './writes.ts';

/** The service rejects the mutation because of a check or a constraint of the database. */
export class Refused extends Error {}

export interface Outcome {
  readonly data: Data;
  /** In the order of the objects of an insert, otherwise in any order. */
  readonly rows: readonly Row[];
}

/** @throws Refused, or `Undetermined` if databases may do either */
export function writeNaively(world: World, writes: Writes, role: string, session: Session, data: Data, mutation: Mutation): Outcome {
  const write = new Write(world, role, session, data, tableOf(world, mutation.table));
  const permissions = writes.get(role)?.get(mutation.table);
  if (permissions === undefined) throw new Error('a role without permissions writes nothing');
  switch (mutation.k) {
    case 'insert':
      return write.insert(mutation, permissions);
    case 'update':
      return write.update(mutation, permissions);
    case 'delete':
      return write.delete(mutation, permissions);
  }
}

class Write {
  private readonly world: World;
  private readonly role: string;
  private readonly scene: Scene;
  private readonly table: Table;
  private readonly before: readonly Row[];

  constructor(world: World, role: string, session: Session, data: Data, table: Table) {
    this.world = world;
    this.role = role;
    this.table = table;
    this.scene = { world, data, session, visible: new Map() };
    this.before = data.get(table.name) ?? [];
  }

  insert({ rows, conflict }: Extract<Mutation, { k: 'insert' }>, { insert, update }: WritePermissions): Outcome {
    if (insert === null) throw new Error('the role may insert');
    const made = rows.map((row) =>
      this.with(Object.fromEntries(this.table.columns.map(({ name }) => [name, row[name] ?? null])), insert.presets),
    );
    if (conflict === null || update === null) {
      const outcome = this.outcome([...this.before, ...made], made);
      this.check(made, insert.check, null);
      return outcome;
    }
    const [row = {}] = made;
    // Databases differ in whether they reject an invalid row that would never be written.
    if (this.table.columns.some(({ name, nullable }) => !nullable && row[name] === null)) throw new Undetermined('a null');
    const found = this.before.find((other) => this.table.primaryKey?.every((column) => other[column] === row[column]));
    if (found === undefined) {
      const outcome = this.outcome([...this.before, row], [row]);
      this.check([row], insert.check, null);
      return outcome;
    }
    const isNamed = conflict.update.length > 0;
    const updates = this.holds(update.filter, found) && (conflict.where === null || this.matches(conflict.where, found));
    if (!isNamed || !updates) return { data: this.scene.data, rows: [] };
    const changed = this.with(
      { ...found, ...Object.fromEntries(conflict.update.map((column) => [column, row[column] ?? null])) },
      update.presets,
    );
    return this.changed(new Map([[found, changed]]), update.check);
  }

  update({ where, set, inc }: Extract<Mutation, { k: 'update' }>, { update }: WritePermissions): Outcome {
    if (update === null) throw new Error('the role may update');
    const changes = new Map<Row, Row>();
    for (const row of this.matching(where, update.filter)) {
      const counted = Object.entries(inc).map(([column, by]): [string, Value] => [
        column,
        row[column] === null ? null : (row[column] as number) + (by as number),
      ]);
      changes.set(row, this.with({ ...row, ...set, ...Object.fromEntries(counted) }, update.presets));
    }
    return this.changed(changes, update.check);
  }

  delete({ where }: Extract<Mutation, { k: 'delete' }>, permissions: WritePermissions): Outcome {
    if (permissions.delete === null) throw new Error('the role may delete');
    const gone = this.matching(where, permissions.delete.filter);
    const references = this.table.columns.filter(({ references: to }) => to === this.table.name);
    // Some databases check every row on its own, and confuse its own reference with that of another row.
    if (gone.some((row) => references.some(({ name }) => gone.some((other) => row[name] === other['id']))))
      throw new Undetermined('rows that refer to each other');
    return this.outcome(
      this.before.filter((row) => !gone.includes(row)),
      gone,
    );
  }

  private changed(changes: ReadonlyMap<Row, Row>, check: Exp | null): Outcome {
    const after = [...changes.values()];
    const ids = new Set(this.before.map((row) => row['id']));
    const moves = [...changes].filter(
      ([row, now]) => this.table.primaryKey?.some((column) => row[column] !== now[column]) || row['id'] !== now['id'],
    );
    if (moves.length > 1) throw new Undetermined('several keys that change');
    for (const column of this.table.columns) {
      if (column.references === this.table.name && after.some((row) => row[column.name] !== null && !ids.has(row[column.name] as number)))
        throw new Undetermined('a reference to what a row becomes');
    }
    for (const [row, now] of moves) {
      if (
        row['id'] !== now['id'] &&
        this.table.columns.some(({ name, references }) => references === this.table.name && row[name] === row['id'])
      )
        throw new Undetermined('a row that refers to itself gets another key');
    }
    const rows = this.before.map((row) => changes.get(row) ?? row);
    const outcome = this.outcome(rows, after);
    if (check !== null) this.check(after, check, outcome.data);
    return outcome;
  }

  private matching(where: Extract<Mutation, { k: 'update' }>['where'], filter: Exp): readonly Row[] {
    return this.before.filter((row) => {
      const isSelected =
        'key' in where ? Object.entries(where.key).every(([column, value]) => row[column] === value) : this.matches(where.exp, row);
      return isSelected && this.holds(filter, row);
    });
  }

  private with(row: Row, presets: readonly Preset[]): Row {
    const { session } = this.scene;
    const preset = ({ column, operand }: Preset): [string, Value] => {
      if ('value' in operand) return [column, operand.value];
      const text = session[operand.session] ?? '';
      const isText = this.table.columns.find(({ name }) => name === column)?.kind === 'text';
      return [column, isText ? text : Number(text)];
    };
    return { ...row, ...Object.fromEntries(presets.map(preset)) };
  }

  private holds(exp: Exp, row: Row, scene = this.scene): boolean {
    return evaluate(exp, { scene, table: this.table, row, role: null, root: row }) === true;
  }

  private matches(exp: Exp, row: Row): boolean {
    return evaluate(exp, { scene: this.scene, table: this.table, row, role: this.role, root: row }) === true;
  }

  /** New rows must satisfy the check with all other rows unchanged; MariaDB checks updated rows once more when they are written. */
  private check(rows: readonly Row[], check: Exp, written: Data | null): void {
    const scenes =
      written === null || this.world.database !== 'dbb' ? [this.scene] : [this.scene, { ...this.scene, data: written, visible: new Map() }];
    if (rows.some((row) => scenes.some((scene) => !this.holds(check, row, scene)))) throw new Refused('a check');
  }

  /** @throws Refused for a violated constraint */
  private outcome(rows: readonly Row[], written: readonly Row[]): Outcome {
    const data = new Map([...this.scene.data, [this.table.name, rows]]);
    for (const row of written) {
      for (const { name, nullable } of this.table.columns)
        if (!nullable && rows.includes(row) && row[name] === null) throw new Refused('a null');
    }
    if (new Set(rows.map((row) => row['id'])).size < rows.length) throw new Refused('a key that is there');
    this.refuseStray(data, rows, written);
    return { data, rows: written };
  }

  private refuseStray(data: Data, rows: readonly Row[], written: readonly Row[]): void {
    const ids = new Set(rows.map((row) => row['id'] as Value));
    const old = new Set(this.before.map((row) => row['id'] as Value));
    for (const { name, columns, view } of this.world.tables) {
      if (view !== null) continue;
      for (const column of columns) {
        if (column.references === null) continue;
        const known = new Set((data.get(column.references) ?? []).map((row) => row['id'] as Value));
        for (const row of data.get(name) ?? []) {
          const value = row[column.name] ?? null;
          if (value === null) continue;
          if (!known.has(value)) throw new Refused('a reference to nothing');
          // Some databases check every row on its own, in order.
          if (column.references === this.table.name && written.includes(row) && ids.has(value) && !old.has(value))
            throw new Undetermined('a new row');
        }
      }
    }
  }
}
