import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AT_GATE, type Gate, gateOf } from '../support/gate.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let gate: Gate;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '2', PG_STRIPES: '2' });
  await service.sql(`
    create table item (id int primary key);
    create function slow() returns setof item language plpgsql volatile as 'begin perform ${AT_GATE}; return query select * from item; end'`);
  await service.metadata('pg_track_table', { table: 'item' });
  await service.metadata('pg_track_function', { function: 'slow', configuration: { exposed_as: 'mutation' } });
  gate = await gateOf(service.databaseUrl);
});
afterAll(async () => {
  await gate.end();
  await service.stop();
});

it('multiplies the connections to a source by the number of stripes', async () => {
  await gate.shut();
  const answers = Promise.all(Array.from({ length: 10 }, () => service.graphql('mutation { slow { id } }')));
  await gate.untilWaiting(4);
  // No further connection is opened.
  await sleep(100);
  expect(await gate.waiting()).toBe(4);
  await gate.open();
  expect(await answers).toEqual(Array(10).fill({ data: { slow: [] } }));
});
