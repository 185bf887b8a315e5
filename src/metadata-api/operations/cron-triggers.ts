import { SvcError } from '../../errors/svc-error.ts';
import { bool, defaulted, nonEmptyText, object, required } from '../../metadata/codec.ts';
import { type CronTrigger, cronTriggerFields, encodeWithDefaults } from '../../metadata/cron-trigger.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { noArguments } from '../no-arguments.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { INCONSISTENT, refused } from '../operation-error.ts';

const create: OperationGroup = () => [
  operation({
    type: 'create_cron_trigger',
    args: object('CreateCronTrigger', { ...cronTriggerFields, replace: defaulted(bool, () => false) }),
    changes: 'metadata',
    errors: [refused('already-exists', 'a cron trigger with this name exists and `replace` is false'), INCONSISTENT],
    documentation: {
      summary:
        'Adds a trigger that calls a webhook on a schedule. With `replace`, an existing trigger gets the new definition, and its future events are created again.',
      example: {
        name: 'nightly',
        webhook: '{{HOOKS}}/nightly',
        schedule: '0 3 * * *',
        include_in_metadata: true,
        payload: { job: 'report' },
        retry_conf: { num_retries: 3, retry_interval_seconds: 30, timeout_seconds: 60, tolerance_seconds: 3600 },
        headers: [{ name: 'X-Key', value_from_env: 'HOOK_KEY' }],
        comment: 'the report of the day',
      },
    },
    edit(metadata, { replace, ...trigger }) {
      if (!replace && metadata.cronTriggers.has(trigger.name)) {
        throw new SvcError('already-exists', `cron trigger with name: ${trigger.name} already exists`);
      }
      return { ...metadata, cronTriggers: withEntry<string, CronTrigger>(metadata.cronTriggers, trigger.name, trigger) };
    },
    edited: ({ name }) => [objectId.cronTrigger(name)],
  }),
];

const remove: OperationGroup = () => [
  operation({
    type: 'delete_cron_trigger',
    args: object('DeleteCronTrigger', { name: required(nonEmptyText) }),
    changes: 'metadata',
    errors: [refused('not-exists', 'the cron trigger does not exist')],
    documentation: { summary: 'Removes a cron trigger with all of its events and invocations.', example: { name: 'nightly' } },
    edit(metadata, { name }) {
      if (!metadata.cronTriggers.has(name)) throw unknownTrigger(name);
      return { ...metadata, cronTriggers: withoutEntry(metadata.cronTriggers, name) };
    },
  }),
];

export function unknownTrigger(name: string): SvcError {
  return new SvcError('not-exists', `cron trigger with name: ${name} does not exist`);
}

const list: OperationGroup = () => [
  operation({
    type: 'get_cron_triggers',
    args: noArguments,
    changes: 'nothing',
    errors: [],
    documentation: { summary: 'Lists all cron triggers, including those that are not exported.', example: {} },
    run: async (_args, { snapshot }) => ({ cron_triggers: [...snapshot.metadata.cronTriggers.values()].map(encodeWithDefaults) }),
  }),
];

export const cronTriggerOperations: readonly OperationGroup[] = [create, remove, list];
