import { describe, expect, it } from 'vitest';
import type { ConsoleForm } from '../../../packages/model/console-form.ts';
import { KINDS } from './kinds.generated.ts';
import { NO_SOURCE, sourceArgs } from './source-draft.ts';

const formOf = (kind: string): ConsoleForm => KINDS[kind] as ConsoleForm;

describe('sourceArgs', () => {
  it('writes a URL, or the variable that holds it', () => {
    expect(sourceArgs(formOf('pg'), { ...NO_SOURCE, name: ' shop ', variable: ' SHOP ' })).toEqual({
      name: 'shop',
      configuration: { connection_info: { database_url: { from_env: 'SHOP' } } },
    });
    expect(sourceArgs(formOf('dbb'), { ...NO_SOURCE, name: 'shop', kind: 'dbb', isInEnvironment: false, secret: 'mysql://x' })).toEqual({
      name: 'shop',
      configuration: { connection_info: { connection_string: 'mysql://x' } },
    });
  });

  it('writes a key, the datasets and the limits of a project', () => {
    const draft = {
      ...NO_SOURCE,
      name: 'w',
      kind: 'dwh',
      variable: 'KEY',
      fields: { project_id: ' p ', datasets: 'a, b,', location: ' ' },
    };
    expect(sourceArgs(formOf('dwh'), draft)['configuration']).toEqual({
      service_account: { from_env: 'KEY' },
      project_id: 'p',
      datasets: ['a', 'b'],
    });
    const limits = { location: 'EU', global_select_limit: '10', maximum_bytes_billed: '10000000000', api_endpoint: 'http://x' };
    const edited = { ...draft, isInEnvironment: false, fields: { ...draft.fields, ...limits } };
    expect(sourceArgs(formOf('dwh'), { ...edited, secret: '{"client_email": "a"}' })['configuration']).toEqual({
      service_account: { client_email: 'a' },
      project_id: 'p',
      datasets: ['a', 'b'],
      location: 'EU',
      global_select_limit: 10,
      maximum_bytes_billed: 10_000_000_000,
      api_endpoint: 'http://x',
    });
    expect(sourceArgs(formOf('dwh'), { ...edited, secret: ' {{KEY}} ' })['configuration']).toMatchObject({ service_account: '{{KEY}}' });
    const invalid = { ...edited, fields: { ...edited.fields, maximum_bytes_billed: 'many' } };
    expect(() => sourceArgs(formOf('dwh'), invalid)).toThrow('Maximum bytes billed per query: enter a whole number');
  });
});
