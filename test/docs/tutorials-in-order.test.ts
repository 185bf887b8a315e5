/**
 * The tutorials as a reader follows them: one after the other in the order of docs/README.md, in one terminal, with the service in a
 * second one. The second round begins with the reset of each page, and has the same answers.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { WAIT } from '../support/wait.ts';
import { type Block, blocksOf } from './blocks.ts';
import { runBlocks, SHELL } from './page.ts';
import { interrupt, openTerminal, type Terminal } from './terminal.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const index = join(root, 'docs', 'README.md');
const [, list = ''] = /^### Tutorials\n(.*?)^#/ms.exec(readFileSync(index, 'utf8')) ?? [];
const tutorials = [...list.matchAll(/\]\((tutorials\/[^)]+)\)/g)]
  .map(([, path = '']) => ({ path, blocks: blocksOf(readFileSync(join(dirname(index), path), 'utf8')) }))
  .filter(({ blocks }) => blocks.some(({ kind }) => kind === 'reset'));

/** The reader's home; also stands for `.svc` in the clone. */
let home: string;
let terminal: Terminal;
let service: ChildProcess | undefined;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-reader-'));
  // PostgreSQL runs as another user if the tests run as root.
  chmodSync(home, 0o755);
  terminal = openTerminal(home, { ...SHELL, HOME: home });
});
afterEach(async () => {
  if (service !== undefined) await interrupt(service);
});
afterAll(async () => {
  await terminal.end();
  rmSync(home, { recursive: true, force: true });
});

it('runs every command of every tutorial', () => {
  expect(tutorials.length).toBeGreaterThanOrEqual(5);
  const shells = tutorials
    .flatMap(({ path, blocks }) => blocks.map((block) => ({ path, ...block })))
    .filter(({ language }) => language === 'sh');
  expect(shells.filter(({ kind }) => kind === '' || kind === 'shown').map(({ path, line }) => `${path}:${line}`)).toEqual([]);
});

describe.each(['the first time', 'again after the reset'])('%s', () => {
  it.each(tutorials)('$path has the answers that it shows', { timeout: 360_000 }, async ({ blocks }) => {
    const url = await start(onlyBlock(blocks, 'service', 'sample'));
    await runBlocks(
      blocks.filter(({ kind }) => kind !== 'sample'),
      { terminal, url },
    );
    if (service !== undefined) await interrupt(service);
    expect(await terminal.run('env | grep -E "^(SVC|ADMIN|HOOK)" || true')).toBe('');
    await reset(onlyBlock(blocks, 'reset'));
  });
});

function onlyBlock(blocks: readonly Block[], ...kinds: readonly string[]): string {
  const found = blocks.filter(({ kind }) => kinds.includes(kind));
  expect(found.length, kinds.join(' or ')).toBe(1);
  return found.map(({ text }) => text.replaceAll('.svc/', `${home}/.svc/`)).join('\n');
}

/** Runs the command of the page in the folder of the repository. Returns the address that the service prints. */
async function start(command: string): Promise<string> {
  expect(command).toContain(`--data-dir ${home}/.svc/`);
  // It would also reach the services that later pages start in the same terminal.
  expect(command).not.toMatch(/^\s*export\b/m);
  const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
    cwd: root,
    env: { ...SHELL, HOME: process.env['HOME'], SVC_GRAPHQL_SERVER_PORT: String(await freePort()) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  service = child;
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (output += part));
  const address = (): string | undefined => /answers at (\S+)\/v1\/graphql/.exec(output)?.[1];
  await expect.poll(() => address() !== undefined || child.exitCode !== null, { ...WAIT, timeout: 240_000 }).toBe(true);
  const url = address();
  if (url === undefined) throw new Error(`the service did not start:\n${output}`);
  return url;
}

/** Deletes the data, in a folder that no other tutorial uses. */
async function reset(command: string): Promise<void> {
  const folder = command.replace('rm -rf ', '');
  expect(existsSync(folder), `${command} finds the data of the service`).toBe(true);
  await terminal.run(command);
  expect(existsSync(folder)).toBe(false);
}
