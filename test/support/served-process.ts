import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

const ownMain = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface ServedProcess {
  /** Resolves with the address once it listens; rejects with its output if it ends first. */
  readonly listening: Promise<string>;
  readonly ended: Promise<void>;
  readonly pid: number | undefined;
  /** Returns what it has printed. */
  output(): string;
  kill(signal: 'SIGKILL' | 'SIGTERM'): void;
}

/**
 * `svc serve` as a separate process, built by `global-setup.ts`. `options` are variables without `SVC_GRAPHQL_`, `flags` are flags of Node,
 * `others` are further variables, `main` is the command of another build.
 */
export function serveInProcess(
  databaseUrl: string,
  options: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
  others: Readonly<Record<string, string>> = {},
  main = ownMain,
): ServedProcess {
  const all = { DATABASE_URL: databaseUrl, SERVER_PORT: '0', SERVER_HOST: '127.0.0.1', ...options };
  const env = { ...Object.fromEntries(Object.entries(all).map(([name, value]) => [`SVC_GRAPHQL_${name}`, value])), ...others };
  const child: ChildProcess = spawn(process.execPath, [...flags, main, 'serve'], { cwd: tmpdir(), env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const listening = new Promise<string>((resolve, reject) => {
    const take = (chunk: unknown): void => {
      output += String(chunk);
      const url = /"kind":"listening","info":\{"url":"([^"]+)"/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    void ended.then(() => reject(new Error(`the service ended before it listened: ${output}`)));
  });
  listening.catch(() => undefined);
  return { listening, ended, pid: child.pid, output: () => output, kill: (signal) => void child.kill(signal) };
}
