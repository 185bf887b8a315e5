// `npm test`: installs missing packages and runs the tests, on the server SVC_TEST_PG_URL or on an embedded PostgreSQL. `--deep`
// (`npm run test:deep`) runs all random cases and sweeps at full length. Further arguments go to vitest. Uses built-ins only until the
// packages are installed.
import { ensurePackages } from './ensure-packages.mjs';

const given = process.argv.slice(2);
const isDeep = given.includes('--deep');

ensurePackages();
const { runVitest } = await import('./run-vitest.mjs');
process.exit(
  await runVitest(
    given.filter((argument) => argument !== '--deep'),
    isDeep ? { SVC_TEST_DEEP: '1' } : {},
  ),
);
