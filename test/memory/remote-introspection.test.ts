/** Large introspections of remote schemas, which are parsed while the service answers other requests. */
import { expect, test } from 'vitest';
import type { RemoteSchema } from '../../src/metadata/remote-schema.ts';
import { openRemote } from '../../src/state/live-remote.ts';
import type { Json } from '../../src/util/json.ts';
import { cpuOf } from '../support/cpu.ts';

const INT: Json = { kind: 'SCALAR', name: 'Int', ofType: null };

function field(name: string): Json {
  const args = [{ name: 'first', description: 'Maximum number of items.', type: INT, defaultValue: '1' }];
  return { name, description: `The items of ${name}.`, args, type: INT, isDeprecated: false, deprecationReason: null };
}

function introspection(types: number, fields: number): Json {
  const list = Array.from({ length: fields }, (_, i) => field(`field_${i}`));
  const made = Array.from(
    { length: types },
    (_, i): Json => ({ kind: 'OBJECT', name: i === 0 ? 'Query' : `T${i}`, fields: list, interfaces: [] }),
  );
  return {
    data: {
      __schema: {
        queryType: { name: 'Query' },
        mutationType: null,
        subscriptionType: null,
        types: [{ kind: 'SCALAR', name: 'Int' }, ...made],
      },
    },
  };
}

/** The largest part of the CPU time of `run` that is spent between two turns of the event loop: 1 if it never yields. */
async function largestPart(run: () => Promise<void>): Promise<number> {
  let longest = 0;
  let total = 0;
  let running = true;
  const watching = (async () => {
    while (running) {
      const turn = await cpuOf(() => new Promise((resolve) => setImmediate(resolve)));
      longest = Math.max(longest, turn);
      total += turn;
    }
  })();
  await run();
  running = false;
  await watching;
  return longest / total;
}

const remote: RemoteSchema = {
  name: 'r',
  definition: {
    address: { kind: 'template', text: 'http://127.0.0.1:9/' },
    timeout: 5,
    headers: [],
    forwardClientHeaders: false,
    customization: undefined,
  },
} as never;

test.each([
  ['many types', 400, 40],
  ['a type with many fields', 1, 16_000],
])('parses an introspection with %s cooperatively', async (_what, types, fields) => {
  const json = introspection(types, fields);
  const parts: number[] = [];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    parts.push(
      await largestPart(async () => {
        const { input } = await openRemote(remote, {
          environment: {},
          introspect: async () => json,
          network: { tlsAllowlist: [] } as never,
          before: null,
          timeoutMs: null,
        });
        expect(input.failure).toBeNull();
      }),
    );
  }
  expect(Math.min(...parts)).toBeLessThan(0.25);
});
