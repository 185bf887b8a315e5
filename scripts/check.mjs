// `npm run check`: types, lint, layers, wording, paths in lists of tests, format and generated pages. Arguments select single checks.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();

const tool = (name, bin, ...args) => {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return [join(dirname(manifest), bin), ...args];
};
const CHECKS = {
  types: () => tool('typescript', 'bin/tsc', '-p', 'tsconfig.json'),
  'console-types': () => tool('typescript', 'bin/tsc', '-p', 'console/tsconfig.json'),
  'site-types': () => tool('typescript', 'bin/tsc', '-p', 'site/tsconfig.json'),
  'model-types': () => tool('typescript', 'bin/tsc', '-p', 'packages/model/tsconfig.json'),
  lint: () => tool('@biomejs/biome', 'bin/biome', 'lint', '--error-on-warnings', '.'),
  layers: () => [join(root, 'scripts', 'check-layers.mjs')],
  kinds: () => [join(root, 'scripts', 'check-kinds.mjs')],
  words: () => [join(root, 'scripts', 'check-words.mjs')],
  paths: () => [join(root, 'scripts', 'check-paths.mjs')],
  format: () => tool('@biomejs/biome', 'bin/biome', 'format', '.'),
  options: () => [join(root, 'scripts', 'options-page.mjs'), '--check'],
  operations: () => [join(root, 'scripts', 'operations-page.mjs'), '--check'],
  commands: () => [join(root, 'scripts', 'commands-page.mjs'), '--check'],
  docs: () => [join(root, 'scripts', 'check-docs.mjs')],
  operators: () => [join(root, 'scripts', 'operators-page.mjs'), '--check'],
  metrics: () => [join(root, 'scripts', 'metrics-page.mjs'), '--check'],
};

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(CHECKS);
const failed = wanted.filter((name) => {
  if (CHECKS[name] === undefined) {
    console.error(`no check "${name}"; there are ${Object.keys(CHECKS).join(', ')}`);
    return true;
  }
  console.log(`== ${name}`);
  return spawnSync(process.execPath, CHECKS[name](), { cwd: root, stdio: 'inherit' }).status !== 0;
});
console.log(failed.length === 0 ? `checks passed: ${wanted.join(', ')}` : `checks FAILED: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);
