/** Runs the examples of one page from top to bottom, as a reader would, and compares their answers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { loadSampleData, trackSampleData } from '../../src/embedded-postgres/sample-data.ts';
import { type JsonObject, parseJson, printJson } from '../../src/util/json.ts';
import type { TestService } from '../support/service.ts';
import type { Block } from './blocks.ts';
import { WAIT } from '../support/wait.ts';
import { interrupt, openTerminal, type Terminal } from './terminal.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
/**
 * Replacement ports for the servers of pages, which use 4000 and up. They avoid ephemeral ports, those of `free-port.ts`, and those
 * that `fetch` blocks (such as 6000).
 */
const PORT = /\b400(\d)\b/g;
/** Address of the service on all pages. */
const ADDRESS = 'http://localhost:8080';

/** The output of an example. */
interface Answer {
  readonly text: string;
  readonly status: number;
  readonly line: number;
  /** Runs an example anew that has `until=answer`: what it shows is there a moment after what the page showed before. */
  readonly again?: () => Promise<string>;
}

/** Environment of the service that a page configures. */
export interface Environment {
  /** Names without `SVC_GRAPHQL_`. */
  readonly options: Readonly<Record<string, string>>;
  readonly others: Readonly<Record<string, string>>;
}

const NOTHING: Environment = { options: {}, others: {} };

/** The variables that the block `sh service` of a page sets, if it sets any. */
export function environmentOf(blocks: readonly Block[]): Environment | null {
  const block = blocks.find(({ kind }) => kind === 'service');
  const options: Record<string, string> = {};
  const others: Record<string, string> = {};
  for (const { 1: name = '', 2: quoted, 3: plain = '' } of (block?.text ?? '').matchAll(/^(?:export )?([A-Z]\w*)=(?:'([^']*)'|(\S*))/gm)) {
    const value = withOwnPorts(quoted ?? plain);
    if (name.startsWith('SVC_GRAPHQL_')) options[name.slice('SVC_GRAPHQL_'.length)] = value;
    else others[name] = value;
  }
  return Object.keys({ ...options, ...others }).length === 0 ? null : { options, others };
}

function withOwnPorts(text: string): string {
  return text.replaceAll(PORT, (_, digit: string) => String(12_000 + (process.pid % 300) * 10 + Number(digit)));
}

/**
 * @param environment of the service
 * @throws AssertionError with the line of an example whose answer differs
 */
export async function runPage(blocks: readonly Block[], service: TestService, environment = NOTHING): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'svc-page-'));
  const terminal = openTerminal(place, { ...SHELL, HOME: place });
  try {
    await runBlocks(blocks, { terminal, url: service.url, service, environment });
  } finally {
    await terminal.end();
    rmSync(place, { recursive: true });
  }
}

/** The variables of a terminal in which nothing has been set. */
export const SHELL = { PATH: process.env['PATH'], NODE_PATH: join(REPOSITORY, 'node_modules') } as const;

interface Place {
  readonly terminal: Terminal;
  /** Address of the service. */
  readonly url: string;
  /** For examples that no shell runs; a page without this has none. */
  readonly service?: TestService;
  readonly environment?: Environment;
}

/** Runs blocks in a terminal, and programs of the page in a terminal of their own, which has the same folder and no variables. */
export async function runBlocks(blocks: readonly Block[], { terminal, url, service, environment = NOTHING }: Place): Promise<void> {
  const running: ChildProcess[] = [];
  /** Output of background commands, by the last word of the command. */
  const told = new Map<string, string>();
  let pending: Answer | null = null;
  let variables: JsonObject | null = null;

  const elsewhere = (text: string): string => withOwnPorts(text).replaceAll(ADDRESS, url);

  function started(): TestService {
    if (service === undefined) throw new Error('this page may only have examples for a shell');
    return service;
  }

  /** For an example without an answer, which must succeed. */
  function settle(): void {
    if (pending === null) return;
    expect({ line: pending.line, status: pending.status, answer: pending.text }).toMatchObject({ status: 200 });
    if (/^\{"(?:errors|path)":/.test(compact(pending.text))) expect(pending.text, `line ${pending.line}`).toBe('data');
    pending = null;
  }

  async function run(block: Block): Promise<void> {
    const { language, kind, settings, line } = block;
    const text = elsewhere(block.text);
    const file = settings.get('file');
    if (file !== undefined) return terminal.write(file, text);
    if (kind === 'answer') return answered(block, text);
    if (kind === 'shown' || kind === 'service' || kind === 'reset' || kind === '') return;
    settle();
    if (kind === 'sample') await sampleStore(started());
    else if (kind === 'variables') variables = parseJson(text) as JsonObject;
    else if (kind === 'background') await inBackground(text);
    else if (language === 'sh') {
      const repeats = settings.get('until') === 'answer';
      pending = { text: await terminal.run(text), status: 200, line, ...(repeats ? { again: () => terminal.run(text) } : {}) };
    } else if (language === 'sql')
      await started().sql(text, { source: settings.get('source') ?? 'default', check_metadata_consistency: true });
    else if (language === 'json') {
      const operation = parseJson(text);
      const body = Array.isArray(operation) ? { type: 'bulk', args: operation } : (operation as JsonObject);
      pending = { ...(await ask('/v1/metadata', 'POST', secretHeaders(), printJson(body))), line };
    } else if (language === 'http') pending = { ...(await raw(text)), line };
    else {
      const { path, headers } = requestOf(text);
      pending = { ...(await ask(path, 'POST', headers, printJson({ query: text, variables }))), line };
      variables = null;
    }
  }

  function secretHeaders(): Record<string, string> {
    const secret = environment.options['ADMIN_SECRET'];
    return secret === undefined ? {} : { 'x-svc-admin-secret': secret };
  }

  async function ask(
    path: string,
    method: string,
    headers: Record<string, string>,
    body: string | null,
  ): Promise<{ text: string; status: number }> {
    const { text, status } = await started().send(path, { method, headers, ...(body === null ? {} : { body }) });
    return { text, status };
  }

  /** A raw request: request line, headers, and after an empty line the body. */
  function raw(text: string): Promise<{ text: string; status: number }> {
    const [head = '', ...rest] = text.split('\n\n');
    const [first = '', ...lines] = head.split('\n');
    const [method = 'GET', address = '/'] = first.split(' ');
    const path = address.replace(url, '');
    const body = rest.length === 0 ? null : rest.join('\n\n');
    return ask(path, method, headersOf(lines), body);
  }

  async function inBackground(text: string): Promise<void> {
    const name = text.split(' ').at(-1) ?? '';
    const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec env ${text}`], {
      cwd: terminal.folder(),
      env: SHELL,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    child.stdout.setEncoding('utf8').on('data', (part: string) => told.set(name, (told.get(name) ?? '') + part));
    running.push(child);
    const source = blocks.find(({ settings }) => settings.get('file') === name)?.text ?? '';
    const port = /\.listen\((\d+)/.exec(withOwnPorts(source))?.[1];
    if (port !== undefined) await expect.poll(() => listens(Number(port)), WAIT).toBe(true);
  }

  async function answered(block: Block, text: string): Promise<void> {
    const { language, settings, line } = block;
    const of = settings.get('of');
    if (of !== undefined) return void (await expect.poll(() => told.get(of) ?? '', WAIT).toContain(text));
    if (pending === null) throw new Error(`line ${line}: an answer without a question`);
    const { text: first, status, again } = pending;
    pending = null;
    const isAnswer = (given: string): boolean => (language === 'json' ? fits(text, given) : compact(given).includes(compact(text)));
    let given = first;
    for (const end = Date.now() + WAIT.timeout; again !== undefined && !isAnswer(given) && Date.now() < end; ) given = await again();
    if (!isAnswer(given)) expect(compact(given), `line ${line}`).toBe(compact(text));
    expect(`line ${line}: ${status}`).toBe(`line ${line}: ${settings.get('status') ?? 200}`);
  }

  try {
    for (const block of blocks) await run(block);
    settle();
  } finally {
    await Promise.all(running.map(interrupt));
  }
}

/** The request that the comments above a GraphQL operation show: its address, then its headers. */
function requestOf(text: string): { path: string; headers: Record<string, string> } {
  const [whole = ''] = /^(?:# .*\n)*/.exec(text) ?? [];
  const [first = '', ...lines] = whole
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(2));
  return { path: first.replace(/^POST https?:\/\/[^/]+/, ''), headers: headersOf(lines) };
}

function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
}

/** The sample data of `npm start`. */
async function sampleStore({ databaseUrl, url, metadata }: TestService): Promise<void> {
  await loadSampleData(databaseUrl);
  await metadata('reload_metadata', {});
  await trackSampleData(url, null);
}

async function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, 'localhost');
    socket.once('connect', () => resolve(true) ?? socket.destroy());
    socket.once('error', () => resolve(false));
  });
}

/** JSON without insignificant whitespace, which differs between databases. */
function compact(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

/** Returns whether `given` matches `wanted`, in which `"…"` stands for any value and `…` for any part of a text. */
function fits(wanted: string, given: string): boolean {
  const pattern = compact(wanted)
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('"…"', '(?:"(?:[^"\\\\]|\\\\.)*"|[^",{}\\[\\]]+|\\{.*\\}|\\[.*\\])')
    .replaceAll('…', '.*?');
  return new RegExp(`^${pattern}$`, 's').test(compact(given));
}
