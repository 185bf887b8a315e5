// `npm test`: installs what is missing and runs the tests, on the server of SVC_TEST_PG_URL or else on an embedded
// PostgreSQL that the tests start. Further arguments go to vitest. Built-ins only until the packages are there.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const done = spawnSync(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, NODE_ENV: 'test' },
});
process.exit(done.status ?? 1);
