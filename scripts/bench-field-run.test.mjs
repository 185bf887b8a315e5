// bench/field/run.mjs as a process, without PostGraphile, which needs the network.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../test/support/free-port.ts';

const root = new URL('..', import.meta.url);

function run(...args) {
  return new Promise((resolve) => {
    const script = ['bench/field/run.mjs', ...args];
    execFile(process.execPath, script, { cwd: root, timeout: 170_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

it('measures svc beside the ideal server, and gives no figures to a server with other data', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const other = createServer((_, response) => response.end('{"data":{"album_by_pk":null}}'));
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
  try {
    const json = join(folder, 'result.json');
    const short = ['--servers', 'svc', '--queries', 'by_pk', '--seconds', '1', '--rounds', '1', '--port', String(await freePort())];
    const hasura = `http://127.0.0.1:${other.address().port}/v1/graphql`;
    const { code, stdout, stderr } = await run(...short, '--json', json, '--hasura', hasura, '--header', 'hasura=x-secret: hidden');
    expect(code, stderr).toBe(0);
    const { facts, results } = JSON.parse(readFileSync(json, 'utf8'));
    expect(facts).toMatchObject({ PostgreSQL: expect.stringMatching(/^\d+\./), command: expect.stringContaining('--queries by_pk') });
    expect(facts['command']).not.toContain('hidden');
    expect(stdout).toContain('by_pk  svc');
    expect(results.map(({ server }) => server)).toEqual(['ideal', 'svc', 'hasura']);
    const figures = { rate: expect.any(Number), p50: expect.any(Number), p99: expect.any(Number) };
    for (const { figures: measured, rounds } of results.slice(0, 2)) {
      expect(measured).toMatchObject(figures);
      expect(measured.rate).toBeGreaterThan(0);
      expect(rounds).toHaveLength(1);
    }
    expect(results[2]).toMatchObject({ rounds: [], reason: expect.stringContaining('other data: $.album_by_pk is null') });
  } finally {
    other.close();
    other.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  }
});
