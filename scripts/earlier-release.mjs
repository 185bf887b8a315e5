// Builds the service of an earlier commit, for tests that run it beside the current one: `node scripts/earlier-release.mjs COMMIT` prints the
// path of its command. The build is kept in node_modules/.cache, by a digest of what it is built from, and uses the installed packages. Exit
// code 3: the history does not have the commit, because it is shallow.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NOT_INSTALLED } from './debian-postgres.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

/** Parts of a commit that a build of the service needs; the first commits lack some of them. */
const PARTS = ['src', 'packages', 'tsconfig.json', 'tsconfig.build.json', 'package.json'];

function git(args, options = {}) {
  return spawnSync('git', args, { cwd: root, maxBuffer: 2 ** 30, ...options });
}

/**
 * Builds the service of a commit, unless the build is kept.
 * @returns the path of the command, or null if the history does not have the commit
 * @throws Error if the build fails
 */
export function earlierRelease(commit) {
  const listed = git(['ls-tree', commit, '--', ...PARTS], { encoding: 'utf8' });
  if (listed.status !== 0) return null;
  const digest = createHash('sha256')
    .update(listed.stdout)
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const cache = join(root, 'node_modules', '.cache', 'svc-earlier');
  const folder = join(cache, digest.slice(0, 16));
  const main = join(folder, 'dist', 'cli', 'main.js');
  if (existsSync(main)) return main;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'svc-earlier-'));
  const draft = mkdtempSync(join(cache, 'draft-'));
  try {
    const names = listed.stdout.split('\n').flatMap((line) => line.split('\t')[1] ?? []);
    const archive = git(['archive', commit, ...names]);
    const unpacked = spawnSync('tar', ['x', '-C', work], { input: archive.stdout });
    if (archive.status !== 0 || unpacked.status !== 0)
      throw new Error(`commit ${commit} cannot be unpacked: ${archive.stderr}${unpacked.stderr}`);
    // Sources below a folder node_modules would count as a library, which the compiler leaves out.
    symlinkSync(join(root, 'node_modules'), join(work, 'node_modules'));
    const compiled = spawnSync(process.execPath, [compiler(), '-p', 'tsconfig.build.json', '--noCheck', '--outDir', join(draft, 'dist')], {
      cwd: work,
      encoding: 'utf8',
    });
    if (!existsSync(join(draft, 'dist', 'cli', 'main.js')))
      throw new Error(`commit ${commit} cannot be built: ${compiled.stdout}${compiled.stderr}`);
    copyOthers(join(work, 'src'), join(draft, 'dist'));
    copyFileSync(join(work, 'package.json'), join(draft, 'package.json'));
    // Another process may have been faster.
    if (!existsSync(main)) renameSync(draft, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
    rmSync(draft, { recursive: true, force: true });
  }
  return main;
}

function compiler() {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.tsc);
}

/** Copies files that are not compiled, such as SQL. */
function copyOthers(from, to) {
  for (const entry of readdirSync(from, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || /\.(?:ts|md|snap)$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const target = join(to, relative(from, path));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(path, target);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensurePackages();
  const [commit] = process.argv.slice(2);
  if (commit === undefined) {
    console.error('usage: node scripts/earlier-release.mjs COMMIT');
    process.exit(2);
  }
  const main = earlierRelease(commit);
  if (main === null) {
    console.error(`the history of this clone does not have the commit ${commit}: fetch it with "git fetch --unshallow"`);
    process.exit(NOT_INSTALLED);
  }
  console.log(main);
}
