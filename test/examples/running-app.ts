/** The example application as the tutorial starts it: in its own folder, with its own packages, through its npm scripts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAIN } from '../support/command.ts';
import { freePort } from '../support/free-port.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/react-app', import.meta.url));
/** Files that a fresh clone does not have. */
const NOT_COPIED = new Set(['node_modules', 'dist', 'gql', '.svc', '.env']);

/** A process with its children, which npm starts. */
interface Running {
  output(): string;
  /** Waits for a text in the output. @throws Error if the process ends before */
  printed(text: string): Promise<void>;
  stop(): Promise<void>;
}

export interface RunningApp {
  /** Address of the built application. */
  readonly url: string;
  /** Runs a query as administrator. */
  asAdmin(query: string): Promise<unknown>;
  /** Ends the service, and returns a function that starts it again at the same address. */
  stopService(): Promise<() => Promise<void>>;
  /** Starts the sign-in server again with another lifetime of its tokens. */
  setTokenLifetime(lifetime: string): Promise<void>;
  stop(): Promise<void>;
}

/** Installs, starts and builds the application. @throws Error with the output of a command that fails */
export async function startApp(): Promise<RunningApp> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-react-'));
  const database = await testDatabase('ready');
  const running = new Map<string, Running>();
  try {
    return await startIn(folder, database, running);
  } catch (error) {
    await stopAll(folder, database, running);
    throw error;
  }
}

async function startIn(folder: string, database: TestDatabase, running: Map<string, Running>): Promise<RunningApp> {
  cpSync(EXAMPLE, folder, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
  const [servicePort, signInPort, appPort] = [await freePort(), await freePort(), await freePort()];
  const variables = readFileSync(join(folder, 'project/.env.example'), 'utf8');
  writeFileSync(join(folder, 'project/.env'), variables.replace(':8080', `:${servicePort}`).replace(':4001', `:${signInPort}`));
  const secret = /^SVC_GRAPHQL_ADMIN_SECRET=(.*)$/m.exec(variables)?.[1] ?? '';
  const endpoint = `http://localhost:${servicePort}`;
  const env = { ...ownEnvironment(), SVC_GRAPHQL_DATABASE_URL: database.url };

  const npm = (...args: readonly string[]): Promise<void> => finished('npm', args, { folder, env });
  await npm('ci', '--no-audit', '--no-fund').catch((error: unknown) => {
    throw new Error(`The packages of examples/react-app cannot be installed. This test needs a package registry. ${String(error)}`);
  });

  async function startService(): Promise<void> {
    const args = [MAIN, 'dev', '--project', 'project', '--with-seeds'];
    const service = started(process.execPath, args, { folder, env });
    running.set('service', service);
    await service.printed('follows ');
  }
  async function startSignIn(lifetime?: string): Promise<void> {
    const signIn = started('npm', ['run', 'sign-in'], { folder, env: lifetime === undefined ? env : { ...env, TOKEN_LIFETIME: lifetime } });
    running.set('sign-in', signIn);
    await signIn.printed('The sign-in server listens');
  }
  await Promise.all([startService(), startSignIn()]);
  await npm('run', 'codegen');
  await npm('run', 'build');
  const preview = started('npm', ['run', 'preview', '--', '--port', String(appPort), '--strictPort'], { folder, env });
  running.set('preview', preview);
  const url = `http://localhost:${appPort}`;
  await preview.printed(`:${appPort}/`);
  for (const check of ['metadata lint', 'permissions test'])
    await finished(process.execPath, [MAIN, ...check.split(' '), '--project', 'project'], { folder, env });

  return {
    url,
    async asAdmin(query) {
      const headers = { 'content-type': 'application/json', 'x-svc-admin-secret': secret };
      return (await fetch(`${endpoint}/v1/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
    },
    async stopService() {
      await running.get('service')?.stop();
      return startService;
    },
    async setTokenLifetime(lifetime) {
      await running.get('sign-in')?.stop();
      await startSignIn(lifetime);
    },
    stop: () => stopAll(folder, database, running),
  };
}

async function stopAll(folder: string, database: TestDatabase, running: ReadonlyMap<string, Running>): Promise<void> {
  await Promise.all([...running.values()].map((each) => each.stop()));
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
}

/** Without the variables of this test run and of the npm command that started it. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const isForeign = (name: string): boolean => /^(?:SVC_|VITEST|NODE_ENV$|npm_(?:lifecycle|package|command)|INIT_CWD$)/.test(name);
  // Without colours, which would split the addresses that are looked for in the output.
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isForeign(name))), NO_COLOR: '1' };
}

interface Where {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

async function finished(program: string, args: readonly string[], where: Where): Promise<void> {
  const child = spawned(program, args, where);
  const text = collected(child);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${basename(program)} ${args.join(' ')} ended with ${code}: ${text()}`);
}

function started(program: string, args: readonly string[], where: Where): Running {
  const child = spawned(program, args, where);
  const output = collected(child);
  let hasEnded = false;
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => {
      hasEnded = true;
      resolve();
    }),
  );
  return {
    output,
    async printed(text) {
      while (!output().includes(text)) {
        if (hasEnded) throw new Error(`${args.join(' ')} ended: ${output()}`);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    },
    async stop() {
      if (!hasEnded && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await ended;
    },
  };
}

/** In a process group of its own, which a signal reaches as a whole: npm does not pass signals on to all of its children. */
function spawned(program: string, args: readonly string[], { folder, env }: Where): ChildProcess {
  return spawn(program, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
}

function collected(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  return () => text;
}
