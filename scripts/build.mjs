// Compiles src/ to dist/ if it has changed, and copies other files; then builds the console if that has changed, and with `--docs` the
// documentation. `--force` always builds.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildConsole } from './build-console.mjs';
import { stampOf } from './built-folder.mjs';
import { buildDocs } from './docs.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

const src = join(root, 'src');
/** Compiled to dist/model, through the link src/model. */
const model = join(root, 'packages', 'model');
const dist = join(root, 'dist');
const STAMP = '.built-from';
/** Folders of dist/ that have builds of their own. */
const BUILT_SEPARATELY = ['console', 'docs'];

/**
 * Updates dist/; ends the process if that fails.
 * @param docs true builds the documentation too; starts and tests do not wait for it
 */
export async function build({ force = false, docs = false } = {}) {
  buildService(force);
  try {
    await buildConsole({ force });
    if (docs) await buildDocs({ force });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
  openToOthers(dist);
  for (const folder of BUILT_SEPARATELY) if (existsSync(join(dist, folder))) openToOthers(join(dist, folder));
}

/** Temporary folders can be read by their owner only, and an image keeps that; the service may run as another user. */
function openToOthers(folder) {
  if ((statSync(folder).mode & 0o055) !== 0o055) chmodSync(folder, 0o755);
}

function buildService(force) {
  const sources = sourceFiles(src);
  const stamp = fingerprint([
    ...sources,
    ...sourceFiles(model),
    ...['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map((name) => join(root, name)),
  ]);
  const before = join(dist, STAMP);
  if (!force && existsSync(before) && readFileSync(before, 'utf8') === stamp) return;
  console.error('building ...');
  // Compiled into another folder, so that a failed build keeps the last good one, and no file outlives its source.
  const draft = mkdtempSync(join(root, 'dist.new-'));
  try {
    const compiled = spawnSync(process.execPath, [compiler(), '-p', 'tsconfig.build.json', '--outDir', draft], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    });
    if (compiled.status !== 0) {
      console.error(`the build failed${compiled.error ? `: ${compiled.error.message}` : ''}`);
      process.exitCode = 1;
      throw new BuildError();
    }
    for (const file of sources) if (!/\.(?:ts|md)$/.test(file)) copy(file, join(draft, relative(src, file)));
    writeFileSync(join(draft, STAMP), stamp);
    for (const kept of BUILT_SEPARATELY.flatMap((name) => [name, stampOf(name)])) {
      if (existsSync(join(dist, kept))) renameSync(join(dist, kept), join(draft, kept));
    }
    rmSync(dist, { recursive: true, force: true });
    renameSync(draft, dist);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (error instanceof BuildError) process.exit(1);
    throw error;
  }
}

class BuildError extends Error {}

function compiler() {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.tsc);
}

function sourceFiles(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/\.test\.ts(\.snap)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensurePackages();
  await build({ force: process.argv.includes('--force'), docs: process.argv.includes('--docs') });
}
