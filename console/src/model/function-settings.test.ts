import { describe, expect, it } from 'vitest';
import { readFunctionSettings, withFunctionSettings } from './function-settings.ts';

const NONE = { exposed: '', session: '', name: '', field: '', aggregate: '' } as const;

describe('settings of a function', () => {
  it('reads a configuration and writes the same one', () => {
    const configuration = {
      exposed_as: 'mutation',
      session_argument: 'session',
      custom_name: 'search',
      custom_root_fields: { function: 'find', function_aggregate: 'find_all' },
    };
    const settings = readFunctionSettings(configuration);
    expect(settings).toEqual({ exposed: 'mutation', session: 'session', name: 'search', field: 'find', aggregate: 'find_all' });
    expect(withFunctionSettings(configuration, settings)).toEqual(configuration);
  });

  it('reads anything else as defaults', () => {
    expect(readFunctionSettings({ exposed_as: 'subscription', session_argument: 3, custom_root_fields: [] })).toEqual(NONE);
  });

  it('removes defaults, and preserves keys that the form does not have', () => {
    const configuration = { custom_name: 'search', response: { kind: 'rows' }, custom_root_fields: { function: 'find', other: 'x' } };
    expect(withFunctionSettings(configuration, NONE)).toEqual({ response: { kind: 'rows' }, custom_root_fields: { other: 'x' } });
    expect(withFunctionSettings(undefined, { ...NONE, name: ' found ' })).toEqual({ custom_name: 'found' });
  });
});
