/** The tutorials, walked through by their own words: commands are run as they stand there, and their answers compared. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

interface Block {
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
  readonly line: number;
}

function blocksOf(page: string): readonly Block[] {
  const found = [...page.matchAll(/^```(\S+)([^\n]*)\n([\s\S]*?)^```$/gm)];
  return found.map(({ 1: language = '', 2: words = '', 3: text = '', index }) => ({
    language,
    words: words.trim().split(/\s+/),
    text: text.trimEnd(),
    line: page.slice(0, index).split('\n').length,
  }));
}

/** JSON without the white space between its parts, which a database leaves as it likes. */
function compact(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

const folder = fileURLToPath(new URL('../../docs/tutorials', import.meta.url));

describe.each(readdirSync(folder).filter((name) => name.endsWith('.md')))('docs/tutorials/%s', (name) => {
  const blocks = blocksOf(readFileSync(join(folder, name), 'utf8'));
  let service: TestService;
  let place: string;
  const running: ChildProcess[] = [];
  /** Of what runs in the background, by the command's last word. */
  const told = new Map<string, string>();

  beforeAll(async () => {
    service = await startTestService();
    place = mkdtempSync(join(tmpdir(), 'svc-tutorial-'));
  });
  afterAll(async () => {
    for (const child of running) child.kill();
    await service.stop();
    rmSync(place, { recursive: true });
  });

  function shell(text: string, name?: string): Promise<string> {
    // Whatever listens to its port at home need not here.
    const command = text.replaceAll('4000', String(4000 + (process.pid % 20_000)));
    const child = spawn('bash', ['-euo', 'pipefail', '-c', name === undefined ? command : `exec ${command}`], {
      cwd: place,
      env: { PATH: process.env['PATH'], SVC: service.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (part: Buffer) => {
      output += part.toString();
      if (name !== undefined) told.set(name, output);
    });
    if (name !== undefined) running.push(child);
    return new Promise((resolve) => child.once('close', () => resolve(output)));
  }

  it('says what happens', async () => {
    let output = '';
    let answers = 0;
    for (const { language, words, text, line } of blocks) {
      const file = words.find((word) => word.startsWith('file='))?.slice('file='.length);
      if (file !== undefined) writeFileSync(join(place, file), text.replaceAll('4000', String(4000 + (process.pid % 20_000))));
      else if (language === 'sh' && words.includes('run')) output = await shell(text);
      else if (language === 'sh' && words.includes('background')) void shell(text, text.split(' ').at(-1));
      else if (words.includes('answer')) {
        answers += 1;
        const of = words.find((word) => word.startsWith('of='))?.slice('of='.length);
        if (of !== undefined) await expect.poll(() => told.get(of) ?? '', { timeout: 10_000 }).toContain(text);
        else if (language === 'json') expect(compact(output), `line ${line}`).toBe(compact(text));
        else expect(compact(output), `line ${line}`).toContain(compact(text));
      }
    }
    expect(answers).toBe(blocks.filter(({ words }) => words.includes('run')).length + running.length);
  });
});
