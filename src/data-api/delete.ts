import type { Backend } from '../backend/backend.ts';
import { type Codec, list, nonEmptyText, object, optional, required } from '../metadata/codec.ts';
import { rawBoolExpCodec, type RawBoolExp } from '../metadata/permission.ts';
import { deleteRows } from '../schema/fields/write-rows.ts';
import { at } from '../util/path.ts';
import { dataArguments } from './arguments.ts';
import { requireWritable, writeOutput } from './data-context.ts';
import { WRITE_ERRORS } from './data-errors.ts';
import { dataOperation, type DataTarget, targetFields } from './data-operation.ts';
import { whereCondition } from './where.ts';
import { writtenArguments, writtenWhere } from './written-input.ts';

interface DeleteArguments extends DataTarget {
  readonly where: RawBoolExp;
  readonly returning?: readonly string[] | undefined;
}

const deleteArguments = (backend: Backend): Codec<DeleteArguments> =>
  dataArguments(
    ['table', 'where'],
    object('DeleteQuery', { ...targetFields(backend), where: required(rawBoolExpCodec), returning: optional(list(nonEmptyText)) }),
  );

export const deleteOperation = dataOperation<DeleteArguments>({
  type: 'delete',
  action: 'delete',
  args: deleteArguments,
  changes: 'database',
  errors: WRITE_ERRORS,
  documentation: {
    summary: 'Deletes rows of a tracked table.',
    example: { table: 'article', where: { id: 2 }, returning: ['id'] },
  },
  root({ where, returning }, context) {
    const { requester, table, path } = context;
    requireWritable(context, 'delete');
    const condition = whereCondition(requester, table.conditionTable(), where, at(path, 'where'));
    const written = () => ({ kind: 'json', json: writtenArguments(table, { where: writtenWhere(table, where) }) }) as const;
    return { alias: 'delete', mutation: deleteRows(table, condition, writeOutput(context, returning), written) };
  },
});
