import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

// Built by the global set-up.
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface ServiceProcess {
  /** The output so far, standard output and standard error together. */
  output(): string;
  /** Waits for the first match in the output. @throws Error if the process ends without one */
  find(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends the signal, by default SIGTERM, and waits. */
  stop(signal?: 'SIGINT' | 'SIGTERM'): Promise<void>;
  readonly ended: Promise<number | null>;
}

/** Runs the command `svc` in a separate process. `environment` is its whole environment, without the prefix `SVC_GRAPHQL_`. */
export function runService(args: readonly string[], environment: Readonly<Record<string, string>> = {}): ServiceProcess {
  const env = Object.fromEntries(Object.entries(environment).map(([name, value]) => [`SVC_GRAPHQL_${name}`, value]));
  const child = spawn(process.execPath, [main, ...args], { cwd: tmpdir(), env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  let hasEnded = false;
  const keep = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      hasEnded = true;
      resolve(code);
    });
  });
  return {
    output: () => text,
    async find(pattern) {
      for (;;) {
        const found = pattern.exec(text);
        if (found !== null) return found;
        if (hasEnded) throw new Error(`the process ended: ${text}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await ended;
    },
    ended,
  };
}
