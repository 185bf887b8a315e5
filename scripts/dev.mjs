// `npm run dev`: runs the service from its sources, on its embedded PostgreSQL with the sample data, and restarts it on every change.
// Further arguments go to `svc serve`.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { buildConsole } from './build-console.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

/** npm forwards the Ctrl-C that the terminal has sent to all processes. */
const SAME_SIGNAL_MS = 500;

ensurePackages();
await buildConsole();
const tsx = join(dirname(createRequire(import.meta.url).resolve('tsx/package.json')), 'dist', 'cli.mjs');
// The watcher kills the service if it does not end within five seconds, and on a second signal, and the database would keep running. So
// requests have less time to finish, and signals of a terminal, which reach a whole process group, are forwarded from here once each.
const serve = ['serve', '--sample-data', '--enable-console', '--server-host', '127.0.0.1', '--graceful-shutdown-timeout', '2'];
const child = spawn(process.execPath, [tsx, 'watch', '--clear-screen=false', 'src/cli/main.ts', ...serve, ...process.argv.slice(2)], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: true,
});

let signalled;
const stop = () => {
  const now = Date.now();
  if (signalled !== undefined && now - signalled < SAME_SIGNAL_MS) return;
  signalled ??= now;
  child.kill('SIGTERM');
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
child.once('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
child.once('close', (code) => process.exit(signalled === undefined ? (code ?? 1) : 0));
