import type { Backend } from '../../backend/backend.ts';
import { isContained } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { and, TRUE } from '../../ir/bool-exp.ts';
import type { Assignment, Update } from '../../ir/mutation.ts';
import { anyJson, type Codec, list, mapOf, nonEmptyText, object, optional, required } from '../../metadata/codec.ts';
import { rawBoolExpCodec, type RawBoolExp } from '../../metadata/permission.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { legacyArguments } from './arguments.ts';
import { type DataContext, dataOperation, type Target, targetFields } from './data-operation.ts';
import { columnOperand, literalOperand } from './operand.ts';
import { readableOrUnseen } from './table-access.ts';
import { whereCondition } from './where.ts';
import { type WriteAccess, writeAccess, writeOutput, writtenColumn } from './write-access.ts';
import { validated, writtenArguments, writtenValues, writtenWhere } from './written-input.ts';
import { UPDATE_ERRORS } from './data-errors.ts';

type Values = ReadonlyMap<string, Json>;

interface UpdateArguments extends Target {
  readonly where: RawBoolExp;
  readonly $set?: Values | undefined;
  readonly $inc?: Values | undefined;
  readonly $mul?: Values | undefined;
  readonly $default?: readonly string[] | undefined;
  readonly returning?: readonly string[] | undefined;
}

const updateArguments = (backend: Backend): Codec<UpdateArguments> =>
  legacyArguments(
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
  const { reader, info, path } = context;
  const access = writeAccess(context, 'update');
  const condition = whereCondition(readableOrUnseen(reader, info), args.where, at(path, 'where'));
  const assignments = [
    ...assigned(args.$set, '$set', access, context),
    ...assigned(args.$inc, '$inc', access, context),
    ...assigned(args.$mul, '$mul', access, context),
  ];
  const defaults = (args.$default ?? []).map((name, i) => writtenColumn(context, access, 'update', name, at(at(path, '$default'), i)).name);
  refuseRepeated([...assignments.map(({ column }) => column), ...defaults], path);
  for (const [column, operand] of access.presets) assignments.push({ column, type: operand.type, operator: 'set', operand });
  if (assignments.length + defaults.length === 0) {
    throw new SvcError('unexpected-payload', 'atleast one of $set, $inc, $mul has to be present', { path });
  }
  return {
    kind: 'update',
    table: info.name,
    where: and(access.filter, condition),
    assignments,
    defaults,
    check: access.check ?? TRUE,
    output: writeOutput(context, args.returning),
    contained: isContained(info.catalog, 'update'),
    validations: validated(access, () => [writtenUpdate(args, context)]),
  };
}

function writtenUpdate({ where, $set, $inc, $mul, $default }: UpdateArguments, context: DataContext): JsonObject {
  const values = (given: Values | undefined): JsonObject | undefined => given && writtenValues(context, given);
  const defaults =
    $default &&
    Object.keys(
      writtenValues(
        context,
        $default.map((name) => [name, null] as const),
      ),
    );
  return writtenArguments(context, {
    where: writtenWhere(context, where),
    $set: values($set),
    $inc: values($inc),
    $mul: values($mul),
    $default: defaults,
  });
}

const OPERATORS = { $set: 'set', $inc: 'inc', $mul: 'mul' } as const;

function assigned(values: Values | undefined, key: keyof typeof OPERATORS, access: WriteAccess, context: DataContext): Assignment[] {
  const { types } = context.reader.source.backend;
  return [...(values ?? [])].map(([name, json]) => {
    const path = at(at(context.path, key), name);
    const { type } = writtenColumn(context, access, 'update', name, path);
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
