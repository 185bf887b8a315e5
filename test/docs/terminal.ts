/** A terminal of a reader: one bash whose variables and folder persist between commands. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { WAIT } from '../support/wait.ts';

export interface Terminal {
  /**
   * Runs commands and returns their output.
   * @throws Error with the output if a command fails, or uses a variable that is not set
   */
  run(commands: string): Promise<string>;
  /** Writes a file in the folder of the shell. */
  write(name: string, text: string): void;
  /** Folder of the shell. */
  folder(): string;
  end(): Promise<void>;
}

export function openTerminal(folder: string, environment: NodeJS.ProcessEnv): Terminal {
  const child = spawn('bash', ['--norc'], { cwd: folder, env: environment, stdio: ['pipe', 'pipe', 'inherit'] });
  /** Printed after each command, with the folder of the shell. */
  const marker = randomUUID();
  const end = new RegExp(`${marker}(.*)\n$`);
  let output = '';
  let current = folder;
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
  let isClosed = false;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  void ended.then(() => (isClosed = true));
  child.stdin.write('set -euo pipefail\n');
  return {
    async run(commands) {
      output = '';
      child.stdin.write(`${commands}\necho "${marker}$PWD"\n`);
      await expect.poll(() => isClosed || end.test(output), WAIT).toBe(true);
      const [whole, place] = end.exec(output) ?? [];
      if (whole === undefined || place === undefined) throw new Error(`a command failed:\n${commands}\n${output}`);
      current = place;
      return output.slice(0, -whole.length);
    },
    write(name, text) {
      mkdirSync(dirname(join(current, name)), { recursive: true });
      writeFileSync(join(current, name), text);
    },
    folder: () => current,
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Sends SIGINT, as Ctrl-C does, to a process that leads its group. */
export async function interrupt(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  process.kill(-child.pid, 'SIGINT');
  await closed;
}
