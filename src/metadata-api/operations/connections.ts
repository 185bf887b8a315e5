/** Use of the connection pools. */
import { noArguments } from '../no-arguments.ts';
import { operation, type OperationGroup } from '../operation.ts';

const getConnections: OperationGroup = () => [
  operation({
    type: 'get_connections',
    args: noArguments,
    changes: 'nothing',
    errors: [],
    documentation: {
      summary:
        'Lists the connections of this instance to each server of each source: in use, idle, maximum, and the number of statements that wait for one. `errors` and `timeouts` count failed connections, and statements that got no connection in time, since the source was opened.',
      details:
        'For kinds without connections, the numbers are those of concurrent statements. The same numbers over time are [metrics](../metrics.md).',
      example: {},
    },
    run: async (_args, { snapshot }) => ({
      connections: [...snapshot.connections].flatMap(([source, connection]) =>
        (connection.measures?.() ?? []).map(({ role, used, idle, pending, maxConnections, counts: { errors, timeouts } }) => ({
          ...{ source, role, used, idle, waiting: pending },
          max_connections: maxConnections,
          errors,
          timeouts,
        })),
      ),
    }),
  }),
];

export const connectionOperations: readonly OperationGroup[] = [getConnections];
