/** Events of an instance that stops, or delivers none. */
import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { startFakeServer } from '../support/fake-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

async function states(
  service: TestService,
): Promise<readonly { readonly status: string; readonly tries: number; readonly lease_holder: string | null }[]> {
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  try {
    return (await client.query('select status, tries, lease_holder from svc_catalog.svc_scheduled_events')).rows;
  } finally {
    await client.end();
  }
}

const DUE = { schedule_at: '2024-01-01T00:00:00Z', retry_conf: { tolerance_seconds: 31_000_000 } };
const now = (): string => new Date(Date.now() - 1000).toISOString();

it('returns unfinished events when it stops, without loss or a counted attempt', async () => {
  const receiver = await startFakeServer();
  receiver.answer = () => null;
  const service = await startTestService({ GRACEFUL_SHUTDOWN_TIMEOUT: '0' });
  await service.metadata('create_scheduled_event', { webhook: receiver.url, schedule_at: now() });
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), WAIT);
  expect(await states(service)).toMatchObject([{ status: 'locked', tries: 0 }]);
  await service.stop({ keepDatabase: true });
  expect(await states(service)).toEqual([{ status: 'scheduled', tries: 0, lease_holder: null }]);
  await service.dropDatabase();
  await receiver.close();
});

it.runIf(DEEP)('waits for deliveries that finish in time', async () => {
  const receiver = await startFakeServer();
  receiver.answer = () => ({ delay: 300 });
  const service = await startTestService();
  await service.metadata('create_scheduled_event', { webhook: receiver.url, schedule_at: now() });
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), WAIT);
  await service.stop({ keepDatabase: true });
  expect(await states(service)).toEqual([{ status: 'delivered', tries: 1, lease_holder: null }]);
  await service.dropDatabase();
  await receiver.close();
});

it('delivers nothing with --disable-eventing', async () => {
  const receiver = await startFakeServer();
  const service = await startTestService({ DISABLE_EVENTING: 'true' });
  await service.metadata('create_scheduled_event', { webhook: receiver.url, ...DUE });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await states(service)).toEqual([{ status: 'scheduled', tries: 0, lease_holder: null }]);
  expect(receiver.requests).toEqual([]);
  await service.stop();
  await receiver.close();
});
