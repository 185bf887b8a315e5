import { apiLimitsCodec } from '../../metadata/api-limits.ts';
import { noArguments } from '../no-arguments.ts';
import { operation, type OperationGroup } from '../operation.ts';

const setApiLimits: OperationGroup = () => [
  operation({
    type: 'set_api_limits',
    args: apiLimitsCodec,
    changes: 'metadata',
    errors: [],
    documentation: {
      summary: 'Sets limits on the GraphQL requests of roles other than admin. Replaces all limits.',
      example: {
        disabled: false,
        depth_limit: { global: 10, per_role: { anonymous: 5 } },
        rate_limit: { global: { max_reqs_per_min: 600, unique_params: 'IP' } },
      },
    },
    edit: (metadata, apiLimits) => ({ ...metadata, apiLimits }),
  }),
];

const removeApiLimits: OperationGroup = () => [
  operation({
    type: 'remove_api_limits',
    args: noArguments,
    changes: 'metadata',
    errors: [],
    documentation: { summary: 'Removes all limits on GraphQL requests.', example: {} },
    edit: (metadata) => (metadata.apiLimits === null ? metadata : { ...metadata, apiLimits: null }),
  }),
];

export const apiLimitOperations: readonly OperationGroup[] = [setApiLimits, removeApiLimits];
