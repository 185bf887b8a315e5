/** Actions and custom types. */
import type { JsonObject } from '../../../src/util/json.ts';
import { BASE } from './base.ts';
import { type Case, failure } from './case.ts';

const HANDLED: JsonObject = { handler: 'http://handlers.example.org', output_type: 'Login' };
const LOGIN: JsonObject = { name: 'Login', fields: [{ name: 'token', type: 'String!' }] };
const WITH_TYPES: JsonObject = { ...BASE, custom_types: { objects: [LOGIN] } };
const WITH_ACTION: JsonObject = { ...WITH_TYPES, actions: [{ name: 'login', definition: HANDLED, permissions: [{ role: 'user' }] }] };

export const ACTIONS: Readonly<Record<string, Case>> = {
  set_custom_types: {
    args: { objects: [LOGIN], scalars: [{ name: 'Moment', description: 'a point in time' }] },
    from: WITH_ACTION,
    fails: [
      failure({ objects: [LOGIN, { name: 'A', fields: [{ name: 'a', type: 'B' }] }] }, 'invalid-configuration', '$.args'),
      // A type that no action uses reserves no name; the action `login` uses this one.
      failure({ objects: [{ ...LOGIN, fields: [{ name: 'by', type: 'author' }] }], scalars: [{ name: 'author' }] }, 'unexpected', '$.args'),
      failure({ scalars: {} }, 'parse-failed', '$.args.scalars'),
    ],
  },
  create_action: {
    args: { name: 'login', definition: HANDLED, comment: 'in' },
    from: WITH_TYPES,
    fails: [
      failure({ name: 'login', definition: { ...HANDLED, output_type: 'No' } }, 'invalid-configuration', '$.args'),
      failure({ name: 'insert_author', definition: HANDLED }, 'unexpected', '$.args'),
      failure({ name: 'login', definition: { output_type: 'Login' } }, 'parse-failed', '$.args.definition'),
    ],
  },
  update_action: {
    args: { name: 'login', definition: { ...HANDLED, timeout: 3 } },
    from: WITH_ACTION,
    fails: [
      failure({ name: 'logout', definition: HANDLED }, 'not-exists', '$.args'),
      failure({ name: 'login', definition: { ...HANDLED, output_type: 'No' } }, 'invalid-configuration', '$.args'),
    ],
  },
  drop_action: {
    args: { name: 'login', clear_data: false },
    from: WITH_ACTION,
    fails: [failure({ name: 'logout' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  create_action_permission: {
    args: { action: 'login', role: 'editor', comment: 'may' },
    from: WITH_ACTION,
    fails: [
      failure({ action: 'login', role: 'user' }, 'already-exists', '$.args'),
      failure({ action: 'logout', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
  drop_action_permission: {
    args: { action: 'login', role: 'user' },
    from: WITH_ACTION,
    fails: [
      failure({ action: 'login', role: 'editor' }, 'not-exists', '$.args'),
      failure({ action: 'logout', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
};
