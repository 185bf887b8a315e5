import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEEP } from './support/deep.ts';
import { freePort } from './support/free-port.ts';

// Built by the global set-up.
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-serve-'));
  chmodSync(folder, 0o755);
});
afterEach(async () => {
  for (const { child, ended } of processes.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; output: string; errors: string }>;
}
const processes: Running[] = [];

/** Runs `svc` with these arguments, in the scratch folder and without any environment. */
function svc(...args: string[]): Running {
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  const ended = new Promise<{ code: number | null; output: string; errors: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, output, errors }));
  });
  const running = { child, ended };
  processes.push(running);
  return running;
}

async function graphql(url: string, query: string): Promise<unknown> {
  const response = await fetch(`${url}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-admin-secret': 'hush' },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

async function untilAnswer(url: string, query: string, service: Running): Promise<unknown> {
  let ended = false;
  void service.ended.then(() => {
    ended = true;
  });
  for (let attempt = 0; attempt < 600; attempt++) {
    if (ended) throw new Error(JSON.stringify(await service.ended));
    try {
      const answer = (await graphql(url, query)) as { data?: unknown };
      if (answer.data !== undefined) return answer;
    } catch {
      // not listening yet
    }
    await sleep(50);
  }
  throw new Error(`${url} does not answer`);
}

const QUERY =
  '{ artist(limit: 1, order_by: { artist_id: asc }) { artist_id albums { album_id } } artist_aggregate { aggregate { count } } }';
const ANSWER = { data: { artist: [{ artist_id: 1, albums: expect.anything() }], artist_aggregate: { aggregate: { count: 275 } } } };

describe('svc serve on the embedded PostgreSQL', () => {
  interface Address {
    readonly url: string;
    readonly args: readonly string[];
  }

  async function address(): Promise<Address> {
    const port = await freePort();
    const args = ['--server-port', String(port), '--server-host', '127.0.0.1', '--admin-secret', 'hush', '--data-dir', folder];
    return { url: `http://127.0.0.1:${port}`, args };
  }

  async function firstRun({ url, args }: Address): Promise<void> {
    const first = svc('serve', ...args, '--sample-data');
    expect(await untilAnswer(url, QUERY, first)).toMatchObject(ANSWER);

    const beside = DEEP ? svc('serve', ...args) : undefined;
    if (beside !== undefined)
      expect(await beside.ended).toMatchObject({ code: 1, errors: expect.stringContaining('is in use by another service') });

    first.child.kill('SIGINT');
    const { code, output } = await first.ended;
    expect(code).toBe(0);
    expect(output).not.toContain('hush');
    expect(readdirSync(join(folder, 'postgres'))).not.toContain('owner.lock');
    expect(readdirSync(join(folder, 'postgres', 'data'))).not.toContain('postmaster.pid');

    expect(output).toContain('"kind":"server_configuration"');
  }

  it('serves sample rows, and stops at SIGINT with its database', async () => {
    await firstRun(await address());
  });

  it.runIf(DEEP)('keeps tracked tables across a restart', async () => {
    const { url, args } = await address();
    await firstRun({ url, args });
    writeFileSync(join(folder, '.env'), 'SVC_GRAPHQL_ADMIN_SECERT=hush\n');
    const second = svc(...args, 'serve', '--log-format', 'text');
    expect(await untilAnswer(url, QUERY, second)).toMatchObject(ANSWER);
    second.child.kill('SIGTERM');
    const text = await second.ended;
    expect(text.code).toBe(0);
    expect(text.output).toMatch(
      /WARN {2}no option has the environment variable SVC_GRAPHQL_ADMIN_SECERT, did you mean SVC_GRAPHQL_ADMIN_SECRET\?/,
    );
    expect(text.output).toMatch(
      /listening at http:\/\/127.*\n {2}databases {2}default \(pg, postgres:.*svc_data.*\): 11 tracked tables\n {2}metadata {3}.*svc_metadata\n {2}open to {4}holders of the admin secret/,
    );
    for (const none of ['server_configuration', 'hush', '\u001b']) expect(text.output).not.toContain(none);
  });
});

describe('the command svc', () => {
  it.runIf(DEEP)('prints help and version', async () => {
    expect(await svc('--help').ended).toMatchObject({ code: 0, output: expect.stringContaining('start the service') });
    expect(await svc('serve', '--help-all').ended).toMatchObject({ code: 0, output: expect.stringContaining('SVC_GRAPHQL_DATABASE_URL') });
    expect(await svc('version').ended).toMatchObject({ code: 0, output: expect.stringMatching(/^svc \d+\.\d+\.\d+\n$/) });
  });

  it('rejects unknown arguments', async () => {
    const usage = 'Usage: svc <serve|export|clean|version|help> [options]; svc serve --help lists the options\n';
    expect(await svc('serve', '--sever-port', '1').ended).toEqual({
      code: 1,
      output: '',
      errors: `Fatal Error: unknown option "--sever-port", did you mean "--server-port"?\n${usage}`,
    });
  });
});
