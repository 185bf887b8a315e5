import type { Backend } from '../backend/backend.ts';
import { type Codec, object, required } from '../metadata/codec.ts';
import { dataArguments, type RowsArguments, rowsFields } from './arguments.ts';
import { dataOperation, type DataTarget, targetFields } from './data-operation.ts';
import { selectedRows, type SelectItem, selectItems } from './rows.ts';
import { selectable } from './data-context.ts';
import { notAllowed } from './data-names.ts';
import { READ_ERRORS } from './data-errors.ts';

interface Select extends DataTarget, RowsArguments {
  readonly columns: readonly SelectItem[];
}

const selectArguments = (backend: Backend): Codec<Select> =>
  dataArguments(['table', 'columns'], object('SelectQuery', { ...targetFields(backend), columns: required(selectItems), ...rowsFields }));

/** Selects rows under the select permission of the role, if that permission has the root field `select`. */
export const selectOperation = dataOperation<Select>({
  type: 'select',
  action: 'select',
  args: selectArguments,
  changes: 'nothing',
  errors: READ_ERRORS,
  documentation: {
    summary: 'Selects rows of a tracked table, with rows of related tables.',
    example: { table: 'author', columns: ['id', { name: 'articles', columns: ['title'] }], where: { id: { $gt: 1 } }, order_by: '-id' },
  },
  root(args, context) {
    const { requester, printedTable, path } = context;
    const table = selectable(context);
    const { queryRootFields } = table.access;
    if (queryRootFields?.has('select') === false) throw notAllowed(requester.role, printedTable, 'select', path);
    return { alias: 'rows', query: selectedRows(requester, table, args, path) };
  },
});
