import { describe, expect, it } from 'vitest';
import { NO_SOURCE, sourceArgs } from './source-draft.ts';

const WAREHOUSE = { ...NO_SOURCE.warehouse, project: ' p ', datasets: 'a, b,' };

describe('a source that is connected', () => {
  it('is found by an address, or a variable that holds it', () => {
    expect(sourceArgs({ ...NO_SOURCE, name: ' shop ', variable: ' SHOP ' })).toEqual({
      name: 'shop',
      configuration: { connection_info: { database_url: { from_env: 'SHOP' } } },
    });
    expect(sourceArgs({ ...NO_SOURCE, name: 'shop', kind: 'dbb', isInEnvironment: false, address: 'mysql://x' })).toEqual({
      name: 'shop',
      configuration: { connection_info: { connection_string: 'mysql://x' } },
    });
  });

  it('is a project with a key, its datasets and limits', () => {
    expect(sourceArgs({ ...NO_SOURCE, name: 'w', kind: 'dwh', variable: 'KEY', warehouse: WAREHOUSE })['configuration']).toEqual({
      service_account: { from_env: 'KEY' },
      project_id: 'p',
      datasets: ['a', 'b'],
    });
    const limited = { ...WAREHOUSE, location: 'EU', rows: '10', bytes: '10000000000', endpoint: 'http://x' };
    const written = { ...NO_SOURCE, name: 'w', kind: 'dwh', isInEnvironment: false, warehouse: limited };
    expect(sourceArgs({ ...written, address: '{"client_email": "a"}' })['configuration']).toEqual({
      service_account: { client_email: 'a' },
      project_id: 'p',
      datasets: ['a', 'b'],
      location: 'EU',
      global_select_limit: 10,
      maximum_bytes_billed: 10_000_000_000,
      api_endpoint: 'http://x',
    });
    expect(sourceArgs({ ...written, address: ' {{KEY}} ' })['configuration']).toMatchObject({ service_account: '{{KEY}}' });
    expect(() => sourceArgs({ ...written, warehouse: { ...limited, bytes: 'many' } })).toThrow('The number of bytes');
  });
});
