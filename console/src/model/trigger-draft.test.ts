import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { missingOfTrigger, type TriggerDraft, triggerDraft, writtenTrigger } from './trigger-draft.ts';

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
  request_transform: { version: 2, template_engine: 'Kriti', method: 'PUT' },
  cleanup_config: { schedule: '0 3 * * *', clear_older_than: 48 },
  max_concurrency: 4,
  ordering: 'row',
};

describe('the form of an event trigger', () => {
  it('writes a trigger as it was read, with what it does not show', () => {
    for (const trigger of [SMALL, FULL, { ...SMALL, retry_conf: { num_retries: 0, interval_sec: 10, timeout_sec: 60 } }])
      expect(writtenTrigger(triggerDraft(trigger), trigger)).toEqual(trigger);
  });

  it('writes what was changed', () => {
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
      documents: { ...draft.documents, request_transform: ' ', response_transform: '{"version": 2, "n": 1.50}' },
    };
    const written = writtenTrigger(changed, FULL);
    expect(written).toMatchObject({
      definition: { enable_manual: true, update: { columns: '*' } },
      webhook: 'http://hooks/a',
      retry_conf: { num_retries: 3, interval_sec: 10, timeout_sec: 5 },
      max_concurrency: 4,
    });
    expect(Object.keys(written)).toEqual(expect.not.arrayContaining(['webhook_from_env', 'headers', 'request_transform']));
    expect(written['definition']).not.toHaveProperty('delete');
    expect(written['definition']).not.toHaveProperty('update.payload');
    expect(String((written['response_transform'] as JsonObject)['n'])).toBe('1.50');
    expect(writtenTrigger({ ...triggerDraft(SMALL), retries: '2' }, SMALL)['retry_conf']).toEqual({ num_retries: 2, interval_sec: 10 });
  });

  it('says what is missing or wrong', () => {
    const draft = triggerDraft(SMALL);
    const { insert } = draft.operations;
    expect(missingOfTrigger(draft)).toBeUndefined();
    expect(missingOfTrigger({ ...draft, operations: { ...draft.operations, insert: { ...insert, isOn: false } } })).toContain('changes');
    expect(missingOfTrigger({ ...draft, operations: { ...draft.operations, insert: { ...insert, payload: [] } } })).toContain(
      'column of insert',
    );
    expect(missingOfTrigger({ ...draft, webhook: ' ' })).toContain('URL');
    expect(missingOfTrigger({ ...draft, documents: { ...draft.documents, cleanup_config: '[]' } })).toBe(
      'Clean-up of old events: this is no JSON object',
    );
    expect(missingOfTrigger({ ...draft, documents: { ...draft.documents, request_transform: '{' } })).toContain('no JSON: line 1');
    expect(() => writtenTrigger({ ...draft, documents: { ...draft.documents, request_transform: '{' } }, SMALL)).toThrow('no JSON');
    expect(() => writtenTrigger({ ...draft, interval: 'x' }, SMALL)).toThrow('whole number');
  });
});
