/** The last GraphQL operations. */
import { noArguments } from '../no-arguments.ts';
import { operation, type OperationGroup } from '../operation.ts';

const getRecentOperations: OperationGroup = () => [
  operation({
    type: 'get_recent_operations',
    args: noArguments,
    changes: 'nothing',
    errors: [],
    documentation: {
      summary:
        'Lists the last 500 GraphQL queries and mutations that this instance has answered, newest first: type, name, role, duration in milliseconds, the code of the error if there was one, and the beginning of the document.',
      details:
        'The record is in memory and ends with the process. It contains no variables; strings and numbers in documents are replaced. Introspection and subscriptions are left out. The code of an operation whose answer has errors only in parts of the data is null.',
      example: {},
    },
    run: async (_args, { services }) => ({
      operations: (services.pipeline.recent?.list() ?? []).map(({ at, requestId, type, name, role, duration, error, document }) => ({
        at: new Date(at).toISOString(),
        request_id: requestId,
        type,
        name,
        role,
        duration: Math.round(duration * 1000) / 1000,
        error,
        document,
      })),
    }),
  }),
];

export const recentOperations: readonly OperationGroup[] = [getRecentOperations];
