/** Calls of asynchronous actions in progress when their instance was killed. */
import pg from 'pg';
import { expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { startHandlerServer } from '../support/handler-server.ts';
import { testDatabase } from '../support/postgres.ts';
import { serveInProcess } from '../support/served-process.ts';
import { WAIT } from '../support/wait.ts';

const OPTIONS = { ASYNC_ACTIONS_FETCH_INTERVAL: '50' };

it.runIf(DEEP)(
  'repeats calls of a killed instance once in another one',
  async () => {
    const handler = await startHandlerServer();
    const database = await testDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const first = serveInProcess(database.url, OPTIONS);
    const ask = async (url: string, path: string, body: object): Promise<JsonObject> => {
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as JsonObject;
    };
    const url = await first.listening;
    const definition = { handler: handler.url, output_type: 'String', kind: 'asynchronous' };
    expect(await ask(url, '/v1/metadata', { type: 'create_action', args: { name: 'make', definition } })).toEqual({ message: 'success' });
    handler.answer = () => 'hang';
    const made = await ask(url, '/v1/graphql', { query: 'mutation { a: make b: make }' });
    const ids = Object.values(made['data'] as Record<string, string>).sort();
    await vi.waitFor(() => expect(handler.requests).toHaveLength(2), WAIT);
    first.kill('SIGKILL');
    await first.ended;

    handler.answer = () => ({ body: '"done"' });
    const others = [serveInProcess(database.url, OPTIONS), serveInProcess(database.url, OPTIONS)];
    const [second = ''] = await Promise.all(others.map(({ listening }) => listening));
    const states = async (): Promise<unknown> =>
      (await client.query('select id::text, status, tries, response_payload from svc_catalog.svc_action_log order by id::text')).rows;
    const done = ids.map((id) => ({ id, status: 'completed', tries: 1, response_payload: 'done' }));
    await vi.waitFor(async () => expect(await states()).toEqual(done), { timeout: 240_000, interval: 100 });
    expect(handler.requests).toHaveLength(4);
    const query = `{ make(id: "${ids[0]}") { output errors } }`;
    expect(await ask(second, '/v1/graphql', { query })).toEqual({ data: { make: { output: 'done', errors: null } } });

    for (const other of others) other.kill('SIGTERM');
    await Promise.all(others.map(({ ended }) => ended));
    await client.end();
    await handler.close();
    await database.drop();
  },
  300_000,
);
