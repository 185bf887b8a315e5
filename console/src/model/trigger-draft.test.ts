import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { missingInTrigger, type TriggerDraft, triggerDraft, triggerJson } from './trigger-draft.ts';

const SMALL: JsonObject = { name: 'made', definition: { insert: { columns: '*' } }, webhook: '{{HOOKS}}/made' };
const FULL: JsonObject = {
  name: 'changed',
  definition: {
    enable_manual: false,
    insert: { columns: '*', payload: '*' },
    update: { columns: ['state'], payload: ['id', 'state'] },
    delete: { columns: '*' },
  },
  webhook_from_env: 'HOOK',
  retry_conf: { num_retries: 3, interval_sec: 10 },
  headers: [{ name: 'X-Key', value_from_env: 'KEY' }],
  signature: { secret_from_env: 'HOOK_SECRET' },
  request_transform: { version: 2, template_engine: 'Kriti', method: 'PUT' },
  cleanup_config: { schedule: '0 3 * * *', clear_older_than: 48 },
  max_concurrency: 4,
  ordering: 'row',
};

describe('form of an event trigger', () => {
  it('writes an unedited trigger unchanged', () => {
    for (const trigger of [SMALL, FULL, { ...SMALL, retry_conf: { num_retries: 0, interval_sec: 10, timeout_sec: 60 } }])
      expect(triggerJson(triggerDraft(trigger), trigger)).toEqual(trigger);
  });

  it('writes the order, the concurrency limit and the rule for replication', () => {
    const draft: TriggerDraft = {
      ...triggerDraft(SMALL),
      order: 'columns',
      orderColumns: ['customer_id'],
      maxConcurrency: ' 3 ',
      onReplication: 'no',
    };
    const json = { ...SMALL, ordering: ['customer_id'], max_concurrency: 3, trigger_on_replication: false };
    expect(triggerJson(draft, SMALL)).toEqual(json);
    expect(triggerDraft(json)).toEqual({ ...draft, maxConcurrency: '3' });
    expect(triggerJson({ ...triggerDraft(FULL), order: 'any', maxConcurrency: '' }, FULL)).not.toHaveProperty('ordering');
    expect(missingInTrigger({ ...draft, orderColumns: [] })).toBe('Select a column for the order');
    expect(() => triggerJson({ ...draft, maxConcurrency: 'x' }, SMALL)).toThrow('Maximum concurrent deliveries');
  });

  it('writes changed fields', () => {
    const draft = triggerDraft(FULL);
    const changed: TriggerDraft = {
      ...draft,
      operations: {
        ...draft.operations,
        delete: { ...draft.operations.delete, isOn: false },
        update: { isOn: true, columns: null, payload: null },
      },
      isManual: true,
      webhook: ' http://hooks/a ',
      isFromEnvironment: false,
      timeout: '5',
      headers: [],
      secretVariable: ' OTHER ',
      documents: { ...draft.documents, request_transform: ' ', response_transform: '{"version": 2, "n": 1.50}' },
    };
    const json = triggerJson(changed, FULL);
    expect(json).toMatchObject({
      definition: { enable_manual: true, update: { columns: '*' } },
      webhook: 'http://hooks/a',
      retry_conf: { num_retries: 3, interval_sec: 10, timeout_sec: 5 },
      signature: { secret_from_env: 'OTHER' },
      max_concurrency: 4,
    });
    expect(Object.keys(json)).toEqual(expect.not.arrayContaining(['webhook_from_env', 'headers', 'request_transform']));
    expect(json['definition']).not.toHaveProperty('delete');
    expect(json['definition']).not.toHaveProperty('update.payload');
    expect(triggerJson({ ...changed, secretVariable: '' }, FULL)).not.toHaveProperty('signature');
    expect(String((json['response_transform'] as JsonObject)['n'])).toBe('1.50');
    expect(triggerJson({ ...triggerDraft(SMALL), retries: '2' }, SMALL)['retry_conf']).toEqual({ num_retries: 2, interval_sec: 10 });
  });

  it('names missing and invalid fields', () => {
    const draft = triggerDraft(SMALL);
    const { insert } = draft.operations;
    expect(missingInTrigger(draft)).toBeUndefined();
    expect(missingInTrigger({ ...draft, operations: { ...draft.operations, insert: { ...insert, isOn: false } } })).toContain('operation');
    expect(missingInTrigger({ ...draft, operations: { ...draft.operations, insert: { ...insert, payload: [] } } })).toContain(
      'column for insert',
    );
    expect(missingInTrigger({ ...draft, webhook: ' ' })).toContain('URL');
    expect(missingInTrigger({ ...draft, documents: { ...draft.documents, cleanup_config: '[]' } })).toBe(
      'Event cleanup: expected a JSON object',
    );
    expect(missingInTrigger({ ...draft, documents: { ...draft.documents, request_transform: '{' } })).toContain('invalid JSON in line 1');
    expect(() => triggerJson({ ...draft, documents: { ...draft.documents, request_transform: '{' } }, SMALL)).toThrow('invalid JSON');
    expect(() => triggerJson({ ...draft, interval: 'x' }, SMALL)).toThrow('whole number');
  });
});
