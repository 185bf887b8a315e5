/**
 * Writes: what is returned of a row are its columns and nothing else, because it comes from other servers; checks and answers are made
 * of them by relations of their own.
 */
import type { CompilerOptions } from '../../../../backend/backend.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import type { MutationOutput } from '../../../../ir/mutation.ts';
import type { Field } from '../../../../ir/select.ts';
import { EMPTY, identifier, join, string, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../../shared/row.ts';
import { objectOf } from '../../../shared/set-plan/answer.ts';
import { Columns, Named } from '../../../shared/set-plan/columns.ts';
import { asksOf, numbered, Place } from '../../../shared/set-plan/place.ts';
import type { SetWriter } from '../../../shared/set-plan/writer.ts';
import { hasRelated } from '../../../postgresql/compile/fields.ts';
import { countedRows, countRows, keepRows, keptRows, setting } from '../../../postgresql/compile/mutation/kept-rows.ts';
import type {
  Draft as FailureDraft,
  Keeping,
  KeepKeys,
  KeptRows,
  Program,
  Write,
  Writing,
} from '../../../postgresql/compile/mutation/program.ts';
import { checkFailure } from '../../../postgresql/compile/mutation/write.ts';
import { addRelation, asking, type Draft, HERE, IS_HERE, withRelations } from '../context.ts';
import { createDraft } from '../draft.ts';
import { jsonObject } from '../json-object.ts';
import { elsewhereOf, writerOf } from '../writer.ts';

const COMMA = sql`, `;

export function writingOf(options: CompilerOptions): Writing {
  const newDraft = (): Draft => createDraft(options);
  return {
    newContext: () => newDraft().context,
    writeAndAnswer: (program, write, output) => writeAndAnswer(program, newDraft(), write, output),
    writeAndKeep: (program, write, keeping) => writeAndKeep(program, newDraft(), write, keeping),
    answerKept: (program, kept, output) => answerKept(program, newDraft(), kept, output),
    marksRows: false,
  };
}

/** Nothing reads it, so that it is never computed. */
const VOLATILE = sql`with ":apart" as (select random()) `;

/**
 * Stands before an update or a delete. Citus plans a statement as a whole where all of it fits on one server. That fails if the conditions of
 * an update or a delete hold on no server at all, and for a table of the coordinator beside one that is on every server. With a
 * volatile function in a common table expression of its own, the update or delete is planned by itself.
 */
function apart({ kind }: Write): Sql {
  return kind === 'insert' ? EMPTY : VOLATILE;
}

/** The rows that a command writes. */
function writtenRows(draft: Draft, writer: SetWriter, write: Write): Named {
  const alias = draft.context.alias();
  const command = write.command(draft.context, alias);
  const columns = new Columns(aliasRow(alias));
  const select = (): Sql => sql`${apart(write)}${command} returning ${columns.list()}`;
  return new Named({ ...writer, relation: () => addRelation(draft, select, true) }, columns, select);
}

function writeAndAnswer(program: Program, draft: Draft, write: Write, output: MutationOutput): number {
  return program.add(
    write.path,
    1,
    (failures) => {
      const writer = writerOf(draft);
      const rows = writtenRows(draft, writer, write);
      rows.item();
      const checked = checkedSql(draft, writer, rows, write);
      const answer = new Answer(draft, writer, rows, null);
      const json = answer.json(output, () => answer.cell(sql`count(*)`, rows));
      if (checked === null) return withRelations(draft, sql`select ${json} as "json"${answer.from()}`);
      const holds = answer.joined(checked);
      const whole = sql`case when ${holds} then ${json} else ${raised(failures, write, holds)}::text::json end`;
      return withRelations(draft, sql`select ${whole} as "json"${answer.from()}`);
    },
    write.rows,
    draft.context,
  );
}

/**
 * Fails where a check does not hold. What looks at no row the coordinator computes before it sends a statement that writes, branches
 * that are not taken included, so that the failure depends on what it is about.
 */
function raised(failures: FailureDraft, write: Write, holds: Sql): Sql {
  return failures.raiseOneOf([checkFailure(write.path)])(sql`(${holds})::int4`);
}

/** A relation of one row: whether all rows pass the check; null: nothing is checked. */
function checkedSql(draft: Draft, writer: SetWriter, rows: Named, write: Write): Sql | null {
  const place = new Place(writer, rows);
  const check = checkOf(draft, place, write);
  if (check === null) return null;
  const select = sql`select coalesce(bool_and(${check} is true), true) as "cell" from ${place.from(true)}`;
  return addRelation(draft, () => select);
}

function checkOf(draft: Draft, place: Place, write: Write): Sql | null {
  const { context } = draft;
  return asking(context, elsewhereOf(draft, asksOf(place)), () => write.check(context, place.row));
}

/** Cells that an answer is put together of, each a relation of one row. */
class Answer {
  readonly #draft: Draft;
  readonly #writer: SetWriter;
  readonly #rows: Named;
  readonly #position: Sql | null;
  readonly #items: Sql[] = [];

  /** @param position a column that the rows are in the order of; null: that in which they are read */
  constructor(draft: Draft, writer: SetWriter, rows: Named, position: Sql | null) {
    this.#draft = draft;
    this.#writer = writer;
    this.#rows = rows;
    this.#position = position;
  }

  json(output: MutationOutput, count: () => Sql): Sql {
    if (output.kind === 'row') return this.#row(output.fields);
    return jsonObject(
      output.fields.map((field) => {
        const { alias: key } = field;
        if (field.kind === 'typename') return { key, value: sql`${string(field.typeName)}::text` };
        return { key, value: field.kind === 'affected-rows' ? count() : this.#list(field.fields) };
      }),
    );
  }

  /** The cell of a relation of one row with the column `cell`. */
  joined(relation: Sql): Sql {
    const alias = this.#draft.context.alias();
    this.#items.push(sql`${relation} as ${alias}`);
    return sql`${alias}."cell"`;
  }

  /** An aggregate over rows. */
  cell(aggregate: Sql, rows: Named): Sql {
    const alias = this.#draft.context.alias();
    return this.joined(addRelation(this.#draft, () => sql`select ${aggregate} as "cell" from ${rows.item()} as ${alias}`));
  }

  from(): Sql {
    return this.#items.length === 0 ? EMPTY : sql` from ${join(this.#items, sql` cross join `)}`;
  }

  #row(fields: readonly Field[]): Sql {
    const place = new Place(this.#writer, this.#rows);
    const object = objectOf(this.#writer, fields, place);
    return this.#answer(sql`(array_agg(${object}))[1]`, place);
  }

  #list(fields: readonly Field[]): Sql {
    const { rows, position } = this.#ordered(fields);
    const place = new Place(this.#writer, rows);
    const object = objectOf(this.#writer, fields, place);
    const order = position === null ? [] : [sql`${place.alias}.${position}`];
    const array = this.#writer.arrayOrEmpty(this.#writer.array(object, order, null));
    return this.#answer(array, place);
  }

  #answer(aggregate: Sql, place: Place): Sql {
    const select = sql`select ${aggregate} as "cell" from ${place.from(true)}`;
    return this.joined(addRelation(this.#draft, () => select));
  }

  /** What is joined to rows may shuffle them. */
  #ordered(fields: readonly Field[]): { readonly rows: Named; readonly position: Sql | null } {
    if (this.#position !== null || !hasRelated(fields)) return { rows: this.#rows, position: this.#position };
    const place = new Place(this.#writer, this.#rows);
    const columns = new Columns(place.row);
    const position = columns.add(numbered([], []));
    return { rows: new Named(this.#writer, columns, () => sql`select ${columns.list()} from ${place.from(true)}`), position };
  }
}

function writeAndKeep(program: Program, draft: Draft, write: Write, keeping: Keeping): void {
  program.add(
    write.path,
    0,
    (failures) => {
      const writer = writerOf(draft);
      const { slot, count, keys } = keeping;
      const rows = slot === null ? writtenRows(draft, writer, write) : wholeRows(draft, writer, write);
      rows.item();
      const place = new Place(writer, rows);
      const check = checkOf(draft, place, write);
      const items: Sql[] = [];
      if (check !== null) {
        const holds = sql`bool_and(${check} is true)`;
        items.push(sql`case when not ${holds} then ${raised(failures, write, holds)} end`);
      }
      if (keys !== null) items.push(...keepKeys(failures, place.row, keys));
      // A lone `t.*` would be expanded.
      if (slot !== null) items.push(keepRows(slot, sql`${place.alias}.*`));
      if (count !== null) items.push(countRows(count === 'first'));
      if (items.length === 0) items.push(sql`count(*)`);
      return withRelations(draft, sql`select ${join(items, COMMA)} from ${place.from(true)} cross join ${HERE} where ${IS_HERE}`);
    },
    write.rows,
    draft.context,
  );
}

/** All columns of the rows, as the type of the table's rows has them. */
function wholeRows(draft: Draft, writer: SetWriter, write: Write): Named {
  const alias = draft.context.alias();
  const command = write.command(draft.context, alias);
  const row: Row = {
    ...aliasRow(alias),
    column(name) {
      if (name === 'xmax') {
        const message = 'what is returned of an upsert cannot be read from other rows where inserts and updates are checked differently';
        throw new SvcError('not-supported', message, { path: write.path });
      }
      return identifier(name);
    },
  };
  class All extends Columns {
    override column(name: string): Sql {
      return row.column(name);
    }
  }
  const select = (): Sql => sql`${apart(write)}${command} returning ${alias}.*`;
  return new Named({ ...writer, relation: () => addRelation(draft, select, true) }, new All(row), select);
}

/** Columns of the one row of a statement that others refer to, as those of PostgreSQL are kept. */
function keepKeys(failures: FailureDraft, row: Row, { slot, columns, first, absent, marked }: KeepKeys): readonly Sql[] {
  if (marked) throw new Error('invariant: rows that others refer to are written one by one');
  const texts = columns.map((name) => {
    const column = row.column(name);
    return sql`case when ${column} is not null then concat(${column}) end`;
  });
  const aggregate = sql`jsonb_agg(jsonb_build_array(${join(texts, COMMA)}))`;
  const all = first === 0 ? aggregate : sql`current_setting(${setting(slot)})::jsonb || ${aggregate}`;
  return [
    sql`case when count(*) = 0 then ${failures.raiseOneOf(absent)(sql`count(*)::int4`)} end`,
    sql`set_config(${setting(slot)}, (${all})::text, true) is null`,
  ];
}

function answerKept(program: Program, draft: Draft, { path, table, slots }: KeptRows, output: MutationOutput): number {
  return program.add(
    path,
    1,
    () => {
      const writer = writerOf(draft);
      const kept = keptRows(draft.context, table, slots);
      const columns = new Columns(kept.row);
      const position = columns.add(sql`row_number() over ()`);
      const rows = new Named(writer, columns, () => sql`select ${columns.list()} from ${HERE}, ${kept.from} where ${IS_HERE}`);
      const answer = new Answer(draft, writer, rows, position);
      const count = (): Sql =>
        answer.joined(addRelation(draft, () => sql`select ${countedRows()} as "cell" from ${HERE} where ${IS_HERE}`));
      const json = answer.json(output, count);
      return withRelations(draft, sql`select ${json} as "json"${answer.from()}`);
    },
    undefined,
    draft.context,
  );
}
