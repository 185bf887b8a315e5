import type { Backend } from '../backend/backend.ts';
import { type Codec, object, required } from '../metadata/codec.ts';
import { legacyArguments, type RowsArguments, rowsFields } from './arguments.ts';
import { dataOperation, type Target, targetFields } from './data-operation.ts';
import { rowsQuery, type SelectItem, selectItems } from './rows.ts';
import { selectable } from './data-context.ts';
import { notAllowed } from './data-names.ts';
import { READ_ERRORS } from './data-errors.ts';

interface Select extends Target, RowsArguments {
  readonly columns: readonly SelectItem[];
}

const selectArguments = (backend: Backend): Codec<Select> =>
  legacyArguments(['table', 'columns'], object('SelectQuery', { ...targetFields(backend), columns: required(selectItems), ...rowsFields }));

/** Rows under the select permission of the role, if it has the root field that would show them. */
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
    const { asker, printedTable, path } = context;
    const table = selectable(context);
    const { queryRootFields } = table.access;
    if (queryRootFields?.has('select') === false) throw notAllowed(asker.role, printedTable, 'select', path);
    return { alias: 'rows', query: rowsQuery(asker, table, args, path) };
  },
});
