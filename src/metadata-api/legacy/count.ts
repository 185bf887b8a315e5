import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { and } from '../../ir/bool-exp.ts';
import { type Codec, list, nonEmptyText, object, optional } from '../../metadata/codec.ts';
import { rawBoolExpCodec, type RawBoolExp } from '../../metadata/permission.ts';
import type { JsonObject } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { legacyArguments } from './arguments.ts';
import { dataOperation, type Target, targetFields } from './data-operation.ts';
import { notAllowed, readableOrUnseen, type ReadableColumn, readableColumn, type ReadableTable } from './table-access.ts';
import { whereCondition } from './where.ts';
import { READ_ERRORS } from './data-errors.ts';

interface Count extends Target {
  readonly distinct?: readonly string[] | undefined;
  readonly where?: RawBoolExp | undefined;
}

const countArguments = (backend: Backend): Codec<Count> =>
  legacyArguments(
    ['table'],
    object('CountQuery', { ...targetFields(backend), distinct: optional(list(nonEmptyText)), where: optional(rawBoolExpCodec) }),
  );

/** Counts rows, or with `distinct` the different combinations of some columns, NULL among them. */
export const countOperation = dataOperation<Count>({
  type: 'count',
  args: countArguments,
  changes: 'nothing',
  errors: READ_ERRORS,
  documentation: {
    summary: 'Counts the rows of a tracked table that the role may select.',
    example: { table: 'article', where: { is_published: true }, distinct: ['author_id'] },
  },
  root({ where, distinct = [] }, { reader, info, path }) {
    const table = readableOrUnseen(reader, info);
    if (!table.selectable) {
      throw notAllowed(reader, info, 'select', path, '; "count" is only allowed if the role has "select" permissions on the table');
    }
    const columns = distinct.map((name, i) => distinctColumn(table, name, at(at(path, 'distinct'), i)));
    const rows = {
      where: where === undefined ? table.filter : and(table.filter, whereCondition(table, where, at(path, 'where'))),
      distinctOn: columns.map(({ read }) => read),
      orderBy: [],
      limit: null,
      offset: null,
    };
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
function distinctColumn(table: ReadableTable, name: string, path: Path): ReadableColumn {
  if (!table.info.catalog.columns.some((column) => column.name === name)) {
    throw new SvcError('permission-denied', `no such column exists: "${name}"`, { path });
  }
  return readableColumn(table, name, path);
}
