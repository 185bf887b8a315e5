/** Every metadata operation under `--metadata-read-only`: it is refused exactly if it changes the metadata. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { backends } from '../../src/databases/index.ts';
import { describeOperations } from '../../src/admin-api/describe-operations.ts';
import { printJson } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ METADATA_READ_ONLY: 'true' });
});
afterAll(() => service.stop());

/** Operations that read again what exists, and change nothing that an administrator has written. */
const RELOADS = new Set(['reload_metadata', 'reload_remote_schema']);

// A bulk is refused for the first operation that is.
const OPERATIONS = describeOperations(backends).flatMap((each) => (each.changes === undefined ? [] : [[each.type, each] as const]));

it.each(OPERATIONS)('%s', async (type, { changes, example, version }) => {
  const body = printJson({ type, ...(version === 2 ? { version } : {}), args: example });
  const { status, json } = await service.send('/v1/metadata', { method: 'POST', body });
  const isRefused = status === 403 && printJson(json).includes('--metadata-read-only');
  expect(isRefused).toBe(changes === 'metadata' && !RELOADS.has(type));
});
