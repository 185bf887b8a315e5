import type { Backend } from '../../backend/backend.ts';
import { isContained } from '../../catalog/catalog.ts';
import { and } from '../../ir/bool-exp.ts';
import { type Codec, list, nonEmptyText, object, optional, required } from '../../metadata/codec.ts';
import { rawBoolExpCodec, type RawBoolExp } from '../../metadata/permission.ts';
import { at } from '../../util/path.ts';
import { legacyArguments } from './arguments.ts';
import { dataOperation, type Target, targetFields } from './data-operation.ts';
import { readableOrUnseen } from './table-access.ts';
import { whereCondition } from './where.ts';
import { writeAccess, writeOutput } from './write-access.ts';
import { validated, writtenArguments, writtenWhere } from './written-input.ts';
import { WRITE_ERRORS } from './data-errors.ts';

interface DeleteArguments extends Target {
  readonly where: RawBoolExp;
  readonly returning?: readonly string[] | undefined;
}

const deleteArguments = (backend: Backend): Codec<DeleteArguments> =>
  legacyArguments(
    ['table', 'where'],
    object('DeleteQuery', { ...targetFields(backend), where: required(rawBoolExpCodec), returning: optional(list(nonEmptyText)) }),
  );

export const deleteOperation = dataOperation<DeleteArguments>({
  type: 'delete',
  args: deleteArguments,
  changes: 'database',
  errors: WRITE_ERRORS,
  documentation: {
    summary: 'Deletes rows of a tracked table.',
    example: { table: 'article', where: { id: 2 }, returning: ['id'] },
  },
  root({ where, returning }, context) {
    const { reader, info, path } = context;
    const access = writeAccess(context, 'delete');
    const condition = whereCondition(readableOrUnseen(reader, info), where, at(path, 'where'));
    return {
      alias: 'delete',
      mutation: {
        kind: 'delete',
        table: info.name,
        where: and(access.filter, condition),
        output: writeOutput(context, returning),
        contained: isContained(info.catalog, 'delete'),
        validations: validated(access, () => [writtenArguments(context, { where: writtenWhere(context, where) })]),
      },
    };
  },
});
