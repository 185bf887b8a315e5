import { expect, it } from 'vitest';
import { isDestructive } from './steps.ts';

it.each([
  ['pg_drop_delete_permission', true],
  ['pg_untrack_tables', true],
  ['delete_cron_trigger', true],
  ['cleanup_event_trigger_logs', true],
  ['replace_metadata', true],
  ['pg_create_delete_permission', false],
  ['create_remote_schema_remote_relationship', false],
  ['pause_event_trigger_cleanups', false],
])('says whether %s drops something', (type, expected) => {
  expect(isDestructive({ type, args: {} })).toBe(expected);
});
