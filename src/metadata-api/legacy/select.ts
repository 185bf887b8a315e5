import type { Backend } from '../../backend/backend.ts';
import { type Codec, object, required } from '../../metadata/codec.ts';
import { legacyArguments, type RowsArguments, rowsFields } from './arguments.ts';
import { dataOperation, type Target, targetFields } from './data-operation.ts';
import { rowsQuery, type SelectItem, selectItems } from './rows.ts';
import { readableTable } from './table-access.ts';
import { READ_ERRORS } from './data-errors.ts';

interface Select extends Target, RowsArguments {
  readonly columns: readonly SelectItem[];
}

const selectArguments = (backend: Backend): Codec<Select> =>
  legacyArguments(['table', 'columns'], object('SelectQuery', { ...targetFields(backend), columns: required(selectItems), ...rowsFields }));

/** Rows under the select permission of the role; which root fields GraphQL shows does not matter here. */
export const selectOperation = dataOperation<Select>({
  type: 'select',
  args: selectArguments,
  changes: 'nothing',
  errors: READ_ERRORS,
  documentation: {
    summary: 'Selects rows of a tracked table, with rows of related tables.',
    example: { table: 'author', columns: ['id', { name: 'articles', columns: ['title'] }], where: { id: { $gt: 1 } }, order_by: '-id' },
  },
  root: (args, { reader, info, path }) => ({
    alias: 'rows',
    query: rowsQuery(readableTable(reader, info, path), args.columns, args, path),
  }),
});
