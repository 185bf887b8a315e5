import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { anyJson } from '../../metadata/codec.ts';
import { operation, type OperationEntry } from '../operation.ts';
import { insertOperation } from './insert.ts';

/** Data operations that wait for their feature. */
const AWAITED: readonly string[] = ['select', 'update', 'delete', 'count'];

/** Types of `/v1/query` and `/v2/query` that act on rows; the role's permissions hold for them. */
export const DATA_OPERATIONS: ReadonlySet<string> = new Set(['insert', ...AWAITED]);

export function dataOperations(backends: readonly Backend[]): readonly OperationEntry[] {
  return [...insertOperation(backends), ...AWAITED.map(awaited)];
}

function awaited(type: string): OperationEntry {
  return operation({
    type,
    args: anyJson,
    changes: type === 'select' || type === 'count' ? 'nothing' : 'database',
    documentation: { summary: 'Not supported by this version of the service; use GraphQL.', example: {} },
    run: async () => {
      throw new SvcError('not-supported', `the command "${type}" is not supported by this version of the service`);
    },
  });
}
