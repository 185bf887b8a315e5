import { execFileSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger, type LoggerOptions, logStyle } from './logger.ts';
import type { Observation } from './observation.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const ALL: readonly Observation[] = [
  { kind: 'startup', message: 'server_configuration', info: { server_port: '1' } },
  { kind: 'startup', message: 'listening', info: { url: 'http://127.0.0.1:1' } },
  { kind: 'startup', message: 'open_access', info: { warning: 'open' } },
  { kind: 'source', source: 'far', event: 'unavailable', message: 'refused' },
  { kind: 'webhook', url: 'u', method: 'GET', status: 500, error: null, message: null },
];

async function written(options: Partial<LoggerOptions>): Promise<readonly string[]> {
  const file = join(folder, 'log');
  const destination = openSync(file, 'w');
  const logger = createLogger({ level: 'info', enabledTypes: new Set(['startup', 'webhook-log']), destination, ...options });
  for (const observation of ALL) logger.observe(observation);
  // A write under way would end in the next file that has this descriptor.
  await logger.settle();
  logger.flush();
  closeSync(destination);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

describe('createLogger', () => {
  it('writes JSON with the whole configuration', async () => {
    const lines = (await written({})).map((line) => JSON.parse(line) as { type: string; level: string; detail: object });
    expect(lines.map(({ type, level }) => [type, level])).toEqual([
      ['startup', 'info'],
      ['startup', 'info'],
      ['startup', 'warn'],
      ['pg-client', 'warn'],
      ['webhook-log', 'error'],
    ]);
    expect(lines[0]?.detail).toEqual({ kind: 'server_configuration', info: { server_port: '1' } });
  });

  it('settles if the reader of the log is gone', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, 'r+');
    const destination = openSync(pipe, 'w');
    closeSync(reader);
    const logger = createLogger({ level: 'info', enabledTypes: new Set(['startup']), destination });
    for (const observation of ALL) logger.observe(observation);
    await logger.settle();
    logger.flush();
    closeSync(destination);
  });

  it.each([
    ['json', 5],
    ['text', 4],
  ] as const)('has written all when it has settled: %s', async (format, count) => {
    const file = join(folder, 'settled');
    const destination = openSync(file, 'w');
    const logger = createLogger({ level: 'info', enabledTypes: new Set(['startup', 'webhook-log']), destination, format });
    // The threads that write are busy for a while.
    const work = Array.from({ length: 8 }, () => promisify(pbkdf2)('', '', 20_000, 64, 'sha256'));
    for (const observation of ALL) logger.observe(observation);
    await logger.settle();
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(count);
    await Promise.all(work);
    logger.flush();
    closeSync(destination);
  });

  it('writes text without the configuration', async () => {
    expect((await written({ format: 'text' })).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'INFO  listening at http://127.0.0.1:1',
      'WARN  open',
      'WARN  far unavailable: refused',
      'ERROR webhook-log status_code=500 url=u method=GET',
    ]);
  });

  it.each(['json', 'text'] as const)('keeps to level and types: %s', async (format) => {
    expect(await written({ format, level: 'error' })).toHaveLength(1);
    expect(await written({ format, enabledTypes: new Set() })).toHaveLength(2);
  });
});

describe('logStyle', () => {
  it.each([
    ['auto', true, {}, 'text', true],
    ['auto', false, {}, 'json', false],
    ['text', false, {}, 'text', false],
    ['json', true, {}, 'json', true],
    ['auto', true, { CI: 'true' }, 'json', true],
    ['text', true, { CI: 'true' }, 'text', true],
    ['auto', true, { NO_COLOR: '1' }, 'text', false],
    ['auto', true, { NO_COLOR: '' }, 'text', true],
    ['auto', true, { TERM: 'dumb' }, 'text', false],
  ] as const)('%s on a terminal: %s, with %j', (asked, terminal, environment, format, colour) => {
    expect(logStyle(asked, terminal, environment)).toEqual({ format, colour });
  });
});
