import type { Backend } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { TRUE } from '../ir/bool-exp.ts';
import { type Codec, list, nonEmptyText, object, optional } from '../metadata/codec.ts';
import { rawBoolExpCodec, type RawBoolExp } from '../metadata/permission.ts';
import { narrowedRows, rejectUnsortable } from '../schema/fields/arguments.ts';
import type { RoleColumn, RoleTable } from '../schema/fields/role-table.ts';
import type { JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { dataArguments } from './arguments.ts';
import { selectable } from './data-context.ts';
import { READ_ERRORS } from './data-errors.ts';
import { type Requester, requiredColumn, isAdminRole, notAllowed } from './data-names.ts';
import { dataOperation, type DataTarget, targetFields } from './data-operation.ts';
import { whereCondition } from './where.ts';

interface Count extends DataTarget {
  readonly distinct?: readonly string[] | undefined;
  readonly where?: RawBoolExp | undefined;
}

const countArguments = (backend: Backend): Codec<Count> =>
  dataArguments(
    ['table'],
    object('CountQuery', { ...targetFields(backend), distinct: optional(list(nonEmptyText)), where: optional(rawBoolExpCodec) }),
  );

const BECAUSE = '; "count" is only allowed if the role has "select" permissions on the table';

/** Counts rows, or with `distinct` the distinct combinations of some columns, including NULL. */
export const countOperation = dataOperation<Count>({
  type: 'count',
  action: 'select',
  because: BECAUSE,
  args: countArguments,
  changes: 'nothing',
  errors: READ_ERRORS,
  documentation: {
    summary: 'Counts the rows of a tracked table that the role may select.',
    example: { table: 'article', where: { is_published: true }, distinct: ['author_id'] },
  },
  root({ where, distinct = [] }, context) {
    const { requester, printedTable, path } = context;
    const table = selectable(context, BECAUSE);
    const { queryRootFields } = table.access;
    if (queryRootFields !== null && !queryRootFields.has('select') && !queryRootFields.has('select_aggregate')) {
      throw notAllowed(requester.role, printedTable, 'select', path, BECAUSE);
    }
    requester.size.addNode(1);
    requester.size.addNode(2);
    requester.size.addFields(1 + distinct.length, 3);
    const columns = distinct.map((name, i) => distinctColumn(requester, table, name, at(at(path, 'distinct'), i)));
    const rows = narrowedRows(table, {
      where: where === undefined ? TRUE : whereCondition(requester, table, where, at(path, 'where')),
      distinctOn: columns.map(({ read }) => read),
      orderBy: [],
      limit: null,
      offset: null,
    });
    const count = { kind: 'count', alias: 'count', columns: [], distinct: false } as const;
    return {
      alias: 'count',
      query: {
        kind: 'aggregate',
        from: table.relation,
        rows,
        nodesLimit: null,
        fields: [{ kind: 'aggregate', alias: 'aggregate', fields: [count] }],
      },
    };
  },
  answer: (result) => (result as JsonObject)['aggregate'] ?? null,
});

/** Clients expect `permission-denied` here, even for administrators and a column that does not exist. */
function distinctColumn(requester: Requester, table: RoleTable, name: string, path: Path): RoleColumn {
  if (isAdminRole(requester.role) && !table.columns.has(name)) {
    throw new SvcError('permission-denied', `no such column exists: "${name}"`, { path });
  }
  const column = requiredColumn(requester, table, name, path);
  rejectUnsortable(table, column, path, 'unexpected-payload');
  return column;
}
