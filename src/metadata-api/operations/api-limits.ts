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
      summary: 'Limits what roles other than admin may ask for; replaces all limits set before.',
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
    documentation: { summary: 'Removes all limits of roles.', example: {} },
    edit: (metadata) => (metadata.apiLimits === null ? metadata : { ...metadata, apiLimits: null }),
  }),
];

export const apiLimitOperations: readonly OperationGroup[] = [setApiLimits, removeApiLimits];
