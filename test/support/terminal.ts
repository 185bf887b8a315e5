import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type CommandOptions, MAIN } from './command.ts';

/** True if the system can give a terminal to a process. */
export const hasTerminal = process.platform === 'linux' && existsSync('/usr/bin/script');

export const CTRL_C = '\u0003';

export interface Terminal {
  /** Returns what the terminal has shown so far. */
  shown(): string;
  /** Types a text. */
  type(text: string): void;
  /** Resolves with what the terminal has shown. */
  readonly ended: Promise<string>;
  kill(): void;
}

/** Starts the built command with a terminal for input and output. @param words of the command, without characters that a shell reads */
export function onTerminal(words: string, { cwd, env = {} }: CommandOptions): Terminal {
  const child = spawn('script', ['-qec', `"${process.execPath}" "${MAIN}" ${words}`, '/dev/null'], {
    cwd,
    env: { PATH: process.env['PATH'], TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const ended = new Promise<string>((done) => child.once('close', () => done(shown)));
  return { shown: () => shown, type: (text) => void child.stdin.write(text), ended, kill: () => void child.kill() };
}
