// `npm run bench`: builds what is missing, then runs bench/run.mjs with the same arguments.
import { build } from './build.mjs';
import { ensurePackages } from './ensure-packages.mjs';

ensurePackages();
build();
await import('../bench/run.mjs');
