/**
 * Writes of Citus. They return only columns of the rows, because other servers execute them. Checks and answers are relations that read
 * these columns.
 */
import type { CompilerOptions } from '../../../../backend/backend.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import type { MutationOutput } from '../../../../ir/mutation.ts';
import type { Field } from '../../../../ir/select.ts';
import { EMPTY, identifier, join, string, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../../shared/row.ts';
import { rowObject } from '../../../shared/set-plan/answer.ts';
import { Columns, Named } from '../../../shared/set-plan/columns.ts';
import { relatedConditionsOf, numbered, JoinBase } from '../../../shared/set-plan/join-base.ts';
import { type SetWriter, withRelatedConditions } from '../../../shared/set-plan/writer.ts';
import { hasRelated } from '../../../postgresql/compile/fields.ts';
import {
  countedRows,
  countRows,
  storeRows,
  transactionLocalRows,
  setting,
} from '../../../postgresql/compile/mutation/transaction-local-rows.ts';
import type {
  MutationDraft,
  StoredResults,
  TransactionLocalKeys,
  TransactionLocalRows,
  Program,
  Write,
  WriteCompiler,
} from '../../../postgresql/compile/mutation/program.ts';
import { checkFailure } from '../../../postgresql/compile/mutation/write.ts';
import { addRelation, type StatementDraft, HERE, IS_HERE, withRelations } from '../context.ts';
import { createStatementDraft } from '../draft.ts';
import { jsonObject } from '../json-object.ts';
import { joinedConditionsOf, writerOf } from '../writer.ts';

const COMMA = sql`, `;

export function writeCompilerOf(options: CompilerOptions): WriteCompiler {
  const newDraft = (): StatementDraft => createStatementDraft(options);
  return {
    newContext: () => newDraft().context,
    writeAndAnswer: (program, write, output) => writeAndAnswer(program, newDraft(), write, output),
    writeAndStore: (program, write, stored) => writeAndStore(program, newDraft(), write, stored),
    answerFromStored: (program, rows, output) => answerFromStored(program, newDraft(), rows, output),
    numbersRows: false,
  };
}

/** A common table expression that is not read and therefore never computed. */
const VOLATILE = sql`with ":apart" as (select random()) `;

/**
 * Returns a prefix with which an update or delete is planned separately: a common table expression with a volatile function. Citus plans a
 * statement as a whole if it fits on one server. That fails if the conditions of an update or delete hold on no server, and for a table of
 * the coordinator together with one that is on every server.
 */
function planningBarrier({ kind }: Write): Sql {
  return kind === 'insert' ? EMPTY : VOLATILE;
}

/** Adds a relation of the rows that a command writes. */
function writtenRows(draft: StatementDraft, writer: SetWriter, write: Write): Named {
  const alias = draft.context.alias();
  const command = write.command(draft.context, alias);
  const columns = new Columns(aliasRow(alias));
  const select = (): Sql => sql`${planningBarrier(write)}${command} returning ${columns.list()}`;
  return new Named({ ...writer, relation: () => addRelation(draft, select, true) }, columns, select);
}

function writeAndAnswer(program: Program, draft: StatementDraft, write: Write, output: MutationOutput): number {
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
 * Compiles the error of a failed check. It depends on the check, because the coordinator evaluates constant expressions before it sends a
 * statement that writes, even in branches that are not taken.
 */
function raised(failures: MutationDraft, write: Write, holds: Sql): Sql {
  return failures.raiseOneOf([checkFailure(write.path)])(sql`(${holds})::int4`);
}

/** Adds a relation of one row: whether all rows pass the check. Returns `null` without a check. */
function checkedSql(draft: StatementDraft, writer: SetWriter, rows: Named, write: Write): Sql | null {
  const base = new JoinBase(writer, rows);
  const check = checkOf(draft, base, write);
  if (check === null) return null;
  const select = sql`select coalesce(bool_and(${check} is true), true) as "cell" from ${base.from(true)}`;
  return addRelation(draft, () => select);
}

function checkOf(draft: StatementDraft, base: JoinBase, write: Write): Sql | null {
  const { context } = draft;
  return withRelatedConditions(context, joinedConditionsOf(draft, relatedConditionsOf(base)), () => write.check(context, base.row));
}

/** The cells of an answer, each of which is a relation of one row. */
class Answer {
  readonly #draft: StatementDraft;
  readonly #writer: SetWriter;
  readonly #rows: Named;
  readonly #position: Sql | null;
  readonly #items: Sql[] = [];

  /** @param position column with the order of the rows; `null` for the order in which they are read */
  constructor(draft: StatementDraft, writer: SetWriter, rows: Named, position: Sql | null) {
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

  /** Joins a relation of one row and returns its column `cell`. */
  joined(relation: Sql): Sql {
    const alias = this.#draft.context.alias();
    this.#items.push(sql`${relation} as ${alias}`);
    return sql`${alias}."cell"`;
  }

  /** Adds a cell with an aggregate over rows. */
  cell(aggregate: Sql, rows: Named): Sql {
    const alias = this.#draft.context.alias();
    return this.joined(addRelation(this.#draft, () => sql`select ${aggregate} as "cell" from ${rows.item()} as ${alias}`));
  }

  from(): Sql {
    return this.#items.length === 0 ? EMPTY : sql` from ${join(this.#items, sql` cross join `)}`;
  }

  #row(fields: readonly Field[]): Sql {
    const base = new JoinBase(this.#writer, this.#rows);
    const object = rowObject(this.#writer, fields, base);
    return this.#answer(sql`(array_agg(${object}))[1]`, base);
  }

  #list(fields: readonly Field[]): Sql {
    const { rows, position } = this.#ordered(fields);
    const base = new JoinBase(this.#writer, rows);
    const object = rowObject(this.#writer, fields, base);
    const order = position === null ? [] : [sql`${base.alias}.${position}`];
    const array = this.#writer.arrayOrEmpty(this.#writer.array(object, order, null));
    return this.#answer(array, base);
  }

  #answer(aggregate: Sql, base: JoinBase): Sql {
    const select = sql`select ${aggregate} as "cell" from ${base.from(true)}`;
    return this.joined(addRelation(this.#draft, () => select));
  }

  /** Numbers the rows if joins may shuffle them. */
  #ordered(fields: readonly Field[]): { readonly rows: Named; readonly position: Sql | null } {
    if (this.#position !== null || !hasRelated(fields)) return { rows: this.#rows, position: this.#position };
    const base = new JoinBase(this.#writer, this.#rows);
    const columns = new Columns(base.row);
    const position = columns.add(numbered([], []));
    return { rows: new Named(this.#writer, columns, () => sql`select ${columns.list()} from ${base.from(true)}`), position };
  }
}

function writeAndStore(program: Program, draft: StatementDraft, write: Write, stored: StoredResults): void {
  program.add(
    write.path,
    0,
    (failures) => {
      const writer = writerOf(draft);
      const { slot, count, keys } = stored;
      const rows = slot === null ? writtenRows(draft, writer, write) : wholeRows(draft, writer, write);
      rows.item();
      const base = new JoinBase(writer, rows);
      const check = checkOf(draft, base, write);
      const items: Sql[] = [];
      if (check !== null) {
        const holds = sql`bool_and(${check} is true)`;
        items.push(sql`case when not ${holds} then ${raised(failures, write, holds)} end`);
      }
      if (keys !== null) items.push(...storeKeys(failures, base.row, keys));
      // `t.*` alone would be expanded.
      if (slot !== null) items.push(storeRows(slot, sql`${base.alias}.*`));
      if (count !== null) items.push(countRows(count === 'first'));
      if (items.length === 0) items.push(sql`count(*)`);
      return withRelations(draft, sql`select ${join(items, COMMA)} from ${base.from(true)} cross join ${HERE} where ${IS_HERE}`);
    },
    write.rows,
    draft.context,
  );
}

/** Adds a relation with all columns of the rows, in the order of the table's row type. */
function wholeRows(draft: StatementDraft, writer: SetWriter, write: Write): Named {
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
  const select = (): Sql => sql`${planningBarrier(write)}${command} returning ${alias}.*`;
  return new Named({ ...writer, relation: () => addRelation(draft, select, true) }, new All(row), select);
}

/** Compiles the storage of the keys of a statement's one row, in the format of PostgreSQL. */
function storeKeys(failures: MutationDraft, row: Row, { slot, columns, first, absent, isNumbered }: TransactionLocalKeys): readonly Sql[] {
  if (isNumbered) throw new Error('invariant: rows that others refer to are written one by one');
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

function answerFromStored(
  program: Program,
  draft: StatementDraft,
  { path, table, slots }: TransactionLocalRows,
  output: MutationOutput,
): number {
  return program.add(
    path,
    1,
    () => {
      const writer = writerOf(draft);
      const stored = transactionLocalRows(draft.context, table, slots);
      const columns = new Columns(stored.row);
      const position = columns.add(sql`row_number() over ()`);
      const rows = new Named(writer, columns, () => sql`select ${columns.list()} from ${HERE}, ${stored.from} where ${IS_HERE}`);
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
