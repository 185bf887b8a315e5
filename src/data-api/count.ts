import type { Backend } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { TRUE } from '../ir/bool-exp.ts';
import { type Codec, list, nonEmptyText, object, optional } from '../metadata/codec.ts';
import { rawBoolExpCodec, type RawBoolExp } from '../metadata/permission.ts';
import { narrowedRows, refuseUnsorted } from '../schema/fields/arguments.ts';
import type { RoleColumn, RoleTable } from '../schema/fields/role-table.ts';
import type { JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { legacyArguments } from './arguments.ts';
import { selectable } from './data-context.ts';
import { READ_ERRORS } from './data-errors.ts';
import { type Asker, columnOf, isAdminRole, notAllowed } from './data-names.ts';
import { dataOperation, type Target, targetFields } from './data-operation.ts';
import { whereCondition } from './where.ts';

interface Count extends Target {
  readonly distinct?: readonly string[] | undefined;
  readonly where?: RawBoolExp | undefined;
}

const countArguments = (backend: Backend): Codec<Count> =>
  legacyArguments(
    ['table'],
    object('CountQuery', { ...targetFields(backend), distinct: optional(list(nonEmptyText)), where: optional(rawBoolExpCodec) }),
  );

const BECAUSE = '; "count" is only allowed if the role has "select" permissions on the table';

/** Counts rows, or with `distinct` the different combinations of some columns, NULL among them. */
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
    const { asker, printedTable, path } = context;
    const table = selectable(context, BECAUSE);
    const { queryRootFields } = table.access;
    if (queryRootFields !== null && !queryRootFields.has('select') && !queryRootFields.has('select_aggregate')) {
      throw notAllowed(asker.role, printedTable, 'select', path, BECAUSE);
    }
    asker.size.addNode(1);
    asker.size.addNode(2);
    asker.size.addFields(1 + distinct.length, 3);
    const columns = distinct.map((name, i) => distinctColumn(asker, table, name, at(at(path, 'distinct'), i)));
    const rows = narrowedRows(table, {
      where: where === undefined ? TRUE : whereCondition(asker, table, where, at(path, 'where')),
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

/** As clients know it, a column that is not there is one that may not be used. */
function distinctColumn(asker: Asker, table: RoleTable, name: string, path: Path): RoleColumn {
  if (isAdminRole(asker.role) && !table.columns.has(name)) {
    throw new SvcError('permission-denied', `no such column exists: "${name}"`, { path });
  }
  const column = columnOf(asker, table, name, path);
  refuseUnsorted(table, column, path, 'unexpected-payload');
  return column;
}
