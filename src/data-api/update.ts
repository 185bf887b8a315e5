import type { Backend } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Assignment, Update } from '../ir/mutation.ts';
import { anyJson, type Codec, list, mapOf, nonEmptyText, object, optional, required } from '../metadata/codec.ts';
import { rawBoolExpCodec, type RawBoolExp } from '../metadata/permission.ts';
import { presetsOf } from '../schema/fields/update-operators.ts';
import type { WriteTable } from '../schema/fields/write-table.ts';
import { updateRows } from '../schema/fields/write-rows.ts';
import type { Json, JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { dataArguments } from './arguments.ts';
import { type DataContext, requireWritable, writeOutput, writtenColumn } from './data-context.ts';
import { UPDATE_ERRORS } from './data-errors.ts';
import { dataOperation, type DataTarget, targetFields } from './data-operation.ts';
import { columnOperand, literalOperand } from './operand.ts';
import { whereCondition } from './where.ts';
import { writtenArguments, writtenValues, writtenWhere } from './written-input.ts';

type Values = ReadonlyMap<string, Json>;

interface UpdateArguments extends DataTarget {
  readonly where: RawBoolExp;
  readonly $set?: Values | undefined;
  readonly $inc?: Values | undefined;
  readonly $mul?: Values | undefined;
  readonly $default?: readonly string[] | undefined;
  readonly returning?: readonly string[] | undefined;
}

const updateArguments = (backend: Backend): Codec<UpdateArguments> =>
  dataArguments(
    ['table', 'where'],
    object('UpdateQuery', {
      ...targetFields(backend),
      where: required(rawBoolExpCodec),
      $set: optional(mapOf(anyJson), 'values'),
      $inc: optional(mapOf(anyJson)),
      $mul: optional(mapOf(anyJson)),
      $default: optional(list(nonEmptyText)),
      returning: optional(list(nonEmptyText)),
    }),
  );

export const updateOperation = dataOperation<UpdateArguments>({
  type: 'update',
  action: 'update',
  args: updateArguments,
  changes: 'database',
  errors: UPDATE_ERRORS,
  documentation: {
    summary: 'Updates rows of a tracked table.',
    example: { table: 'author', where: { id: 1 }, $set: { name: 'Jane' }, returning: ['id', 'name'] },
  },
  root: (args, context) => ({ alias: 'update', mutation: update(args, context) }),
});

function update(args: UpdateArguments, context: DataContext): Update {
  const { requester, table, path } = context;
  requireWritable(context, 'update');
  const condition = whereCondition(requester, table.conditionTable(), args.where, at(path, 'where'));
  const explicit = [
    ...assigned(args.$set, '$set', context),
    ...assigned(args.$inc, '$inc', context),
    ...assigned(args.$mul, '$mul', context),
  ];
  const defaults = (args.$default ?? []).map((name, i) => writtenColumn(context, 'update', name, at(at(path, '$default'), i)).name);
  requester.size.addFields(defaults.length, 1);
  refuseRepeated([...explicit.map(({ column }) => column), ...defaults], path);
  const assignments = [...explicit, ...presetsOf(table)];
  if (assignments.length + defaults.length === 0) {
    throw new SvcError('unexpected-payload', 'atleast one of $set, $inc, $mul has to be present', { path });
  }
  const written = () => ({ kind: 'json', json: writtenUpdate(args, table) }) as const;
  return updateRows(table, condition, { assignments, defaults }, writeOutput(context, args.returning), written);
}

function writtenUpdate({ where, $set, $inc, $mul, $default }: UpdateArguments, table: WriteTable): JsonObject {
  const values = (some: Values | undefined): JsonObject | undefined => some && writtenValues(table, some);
  const defaults =
    $default &&
    Object.keys(
      writtenValues(
        table,
        $default.map((name) => [name, null] as const),
      ),
    );
  return writtenArguments(table, {
    where: writtenWhere(table, where),
    $set: values($set),
    $inc: values($inc),
    $mul: values($mul),
    $default: defaults,
  });
}

const OPERATORS = { $set: 'set', $inc: 'inc', $mul: 'mul' } as const;

function assigned(values: Values | undefined, key: keyof typeof OPERATORS, context: DataContext): Assignment[] {
  const { types } = context.table.source.shared;
  const { size } = context.requester;
  return [...(values ?? [])].map(([name, json]) => {
    const path = at(at(context.path, key), name);
    const { type } = writtenColumn(context, 'update', name, path);
    size.addJson(json);
    if (key !== '$set' && (type.array || !types.scalar(type).numeric)) {
      const message = `column "${name}" is of type "${type.name}"; this operator works only on columns of numeric types`;
      throw new SvcError('unexpected-payload', message, { path });
    }
    const operand = key === '$set' ? columnOperand(types, type, json, path) : literalOperand(types, type, false, json, path);
    return { column: name, type, operator: OPERATORS[key], operand };
  });
}

function refuseRepeated(columns: readonly string[], path: Path): void {
  const repeated = new Set(columns.filter((column, i) => columns.indexOf(column) !== i));
  if (repeated.size === 0) return;
  const names = [...repeated].map((name) => `'${name}'`).join(', ');
  throw new SvcError('validation-failed', `Column found in multiple operators: [${names}].`, { path });
}
