/** `get_connections`: use of the connection pools. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { AT_GATE, gateOf } from '../support/gate.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '2' });
});
afterAll(() => service.stop());

const connections = async (): Promise<JsonObject | undefined> => {
  const { connections: found } = (await service.metadata('get_connections', {})) as { readonly connections: readonly JsonObject[] };
  expect(found).toHaveLength(1);
  return found[0];
};

describe('the connections of a source', () => {
  it('are counted as in use, idle and waiting, with their maximum', async () => {
    const gate = await gateOf(service.databaseUrl);
    await gate.shut();
    const running = Array.from({ length: 3 }, () => service.sql(`select ${AT_GATE}`, { read_only: true }));
    await gate.untilWaiting(2);
    await expect
      .poll(connections, WAIT)
      .toEqual({ source: 'default', role: 'primary', used: 2, idle: 0, waiting: 1, max_connections: 2, errors: 0, timeouts: 0 });
    await gate.open();
    await Promise.all(running);
    await gate.end();
    await expect.poll(connections, WAIT).toMatchObject({ used: 0, waiting: 0 });
  });
});
