/** Runs the examples of one page from top to bottom, as a reader would, and compares their answers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
/**
 * Replacement ports for the servers of pages, which use 4000 and up. They avoid ephemeral ports, those of `free-port.ts`, and those
 * that `fetch` blocks (such as 6000).
 */
const PORT = /\b400(\d)\b/g;

/** The output of an example. */
interface Answer {
  readonly text: string;
  readonly status: number;
  readonly line: number;
}

/** Environment of the service that a page configures. */
export interface Environment {
  /** Names without `SVC_GRAPHQL_`. */
  readonly options: Readonly<Record<string, string>>;
  readonly others: Readonly<Record<string, string>>;
}

const NOTHING: Environment = { options: {}, others: {} };

/** The variables that the block `sh service` of a page exports, if there is one. */
export function environmentOf(blocks: readonly Block[]): Environment | null {
  const block = blocks.find(({ kind }) => kind === 'service');
  if (block === undefined) return null;
  const options: Record<string, string> = {};
  const others: Record<string, string> = {};
  for (const { 1: name = '', 2: quoted, 3: plain = '' } of block.text.matchAll(/^export (\w+)=(?:'([^']*)'|(\S*))/gm)) {
    const value = elsewhere(quoted ?? plain);
    if (name.startsWith('SVC_GRAPHQL_')) options[name.slice('SVC_GRAPHQL_'.length)] = value;
    else others[name] = value;
  }
  return { options, others };
}

function elsewhere(text: string): string {
  return text.replaceAll(PORT, (_, digit: string) => String(12_000 + (process.pid % 300) * 10 + Number(digit)));
}

/**
 * @param environment of the service; shells also receive it, with `SVC`, the service's address
 * @throws AssertionError with the line of an example whose answer differs
 */
export async function runPage(blocks: readonly Block[], service: TestService, { options, others } = NOTHING): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'svc-page-'));
  const running: ChildProcess[] = [];
  /** Output of background commands, by the last word of the command. */
  const told = new Map<string, string>();
  let pending: Answer | null = null;
  let variables: JsonObject | null = null;

  function shell(text: string, name?: string): Promise<string> {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', name === undefined ? text : `exec ${text}`], {
      cwd: place,
      env: { PATH: process.env['PATH'], NODE_PATH: join(REPOSITORY, 'node_modules'), SVC: service.url, ...others, ...prefixed(options) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      if (name !== undefined) told.set(name, output);
    });
    if (name !== undefined) running.push(child);
    return new Promise((resolve) => child.once('close', () => resolve(output)));
  }

  /** For an example without an answer, which must succeed. */
  function settle(): void {
    if (pending === null) return;
    expect({ line: pending.line, status: pending.status, answer: pending.text }).toMatchObject({ status: 200 });
    if (pending.text.startsWith('{"errors"')) expect(pending.text, `line ${pending.line}`).toBe('data');
    pending = null;
  }

  async function run(block: Block): Promise<void> {
    const { language, kind, settings, line } = block;
    const text = elsewhere(block.text);
    const file = settings.get('file');
    if (file !== undefined) return writeFileSync(join(place, file), text);
    if (kind === 'answer') return answered(block, text);
    if (kind === 'shown' || kind === 'service' || kind === '') return;
    settle();
    if (kind === 'sample') await sampleStore(service);
    else if (kind === 'variables') variables = parseJson(text) as JsonObject;
    else if (kind === 'background') await inBackground(text);
    else if (language === 'sh') pending = { text: await shell(text), status: 200, line };
    else if (language === 'sql') await service.sql(text, { source: settings.get('source') ?? 'default', check_metadata_consistency: true });
    else if (language === 'json') {
      const operation = parseJson(text);
      const body = Array.isArray(operation) ? { type: 'bulk', args: operation } : (operation as JsonObject);
      pending = { ...(await ask('/v1/metadata', 'POST', secretHeaders(), printJson(body))), line };
    } else if (language === 'http') pending = { ...(await raw(text)), line };
    else {
      const headers: Record<string, string> = secretHeaders();
      for (const [name, value] of settings) headers[`x-svc-${name}`] = value;
      pending = { ...(await ask('/v1/graphql', 'POST', headers, printJson({ query: text, variables }))), line };
      variables = null;
    }
  }

  function secretHeaders(): Record<string, string> {
    const secret = options['ADMIN_SECRET'];
    return secret === undefined ? {} : { 'x-svc-admin-secret': secret };
  }

  async function ask(
    path: string,
    method: string,
    headers: Record<string, string>,
    body: string | null,
  ): Promise<{ text: string; status: number }> {
    const { text, status } = await service.send(path, { method, headers, ...(body === null ? {} : { body }) });
    return { text, status };
  }

  /** A raw request: request line, headers, and after an empty line the body. */
  function raw(text: string): Promise<{ text: string; status: number }> {
    const [head = '', ...rest] = text.split('\n\n');
    const [first = '', ...lines] = head.split('\n');
    const [method = 'GET', path = '/'] = first.split(' ');
    const body = rest.length === 0 ? null : rest.join('\n\n');
    return ask(
      path,
      method,
      Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])),
      body,
    );
  }

  async function inBackground(text: string): Promise<void> {
    const name = text.split(' ').at(-1) ?? '';
    void shell(text, name);
    const source = blocks.find(({ settings }) => settings.get('file') === name)?.text ?? '';
    const port = /\.listen\((\d+)/.exec(elsewhere(source))?.[1];
    if (port !== undefined) await expect.poll(() => listens(Number(port)), WAIT).toBe(true);
  }

  async function answered(block: Block, text: string): Promise<void> {
    const { language, settings, line } = block;
    const of = settings.get('of');
    if (of !== undefined) return void (await expect.poll(() => told.get(of) ?? '', WAIT).toContain(text));
    if (pending === null) throw new Error(`line ${line}: an answer without a question`);
    const { text: given, status } = pending;
    pending = null;
    if (language === 'json' ? !fits(text, given) : !compact(given).includes(compact(text))) {
      expect(compact(given), `line ${line}`).toBe(compact(text));
    }
    expect(`line ${line}: ${status}`).toBe(`line ${line}: ${settings.get('status') ?? 200}`);
  }

  try {
    for (const block of blocks) await run(block);
    settle();
  } finally {
    await Promise.all(running.map(ended));
    rmSync(place, { recursive: true });
  }
}

function prefixed(options: Environment['options']): Record<string, string> {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [`SVC_GRAPHQL_${name}`, value]));
}

/** The sample data of `npm start`. */
async function sampleStore({ databaseUrl, url, metadata }: TestService): Promise<void> {
  await loadSampleData(databaseUrl);
  await metadata('reload_metadata', {});
  await trackSampleData(url, null);
}

/** Its port is then free for another page. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || !child.kill()) return;
  await new Promise((resolve) => child.once('close', resolve));
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
