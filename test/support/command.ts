import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type JsonObject, parseJson } from '../../src/util/json.ts';

/** Built by the global set-up. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Parsed output of `--json`. */
  readonly json: JsonObject;
}

export interface CommandOptions {
  readonly cwd: string;
  /** The whole environment except the path. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the built command in a separate process. */
export function command(args: readonly string[], { cwd, env = {} }: CommandOptions): Promise<Ran> {
  return startCommand(args, { cwd, env }).ended;
}

export interface Started {
  readonly ended: Promise<Ran>;
  /** Standard error so far. */
  messages(): string;
  kill(signal?: NodeJS.Signals): void;
}

/** Starts the built command for tests that interrupt it. */
export function startCommand(args: readonly string[], { cwd, env = {} }: CommandOptions): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code) => {
      let json: JsonObject = {};
      try {
        json = parseJson(stdout) as JsonObject;
      } catch {
        // no `--json`
      }
      resolve({ code, stdout, stderr, json });
    });
  });
  return { ended, messages: () => stderr, kill: (signal = 'SIGKILL') => void child.kill(signal) };
}
