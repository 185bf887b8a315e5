// Builds console/ into a folder, each file with its .br and .gz, and fails if the first page or the whole build exceeds its budget.
// `node scripts/build-console.mjs FOLDER`; without a folder it updates dist/console.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { ensurePackages, root } from './ensure-packages.mjs';

const source = join(root, 'console');
const target = join(root, 'dist', 'console');
/** Outside of the folder, which contains only files that are served. */
const STAMP = join(root, 'dist', '.console-built-from');

/** Maximum size of the first page and of the whole build, in bytes; JS and CSS of the first page are compressed. */
const BUDGET = { firstScript: 60_000, firstStyle: 12_000, firstRequests: 6, whole: 1_200_000 };

/** Updates dist/console. @throws Error if the build fails or exceeds its budget */
export async function buildConsole({ force = false } = {}) {
  const stamp = fingerprint();
  if (!force && existsSync(target) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return;
  console.error('building the console ...');
  mkdirSync(join(root, 'dist'), { recursive: true });
  const draft = mkdtempSync(join(root, 'dist.new-'));
  try {
    await buildInto(draft);
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
    writeFileSync(STAMP, stamp);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/** @returns the sizes of the build */
export async function buildInto(folder) {
  const { build } = await import('vite');
  // With another value, as in tests, Vite adds debug information, which makes the pages half as long again.
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    await build(configuration(folder));
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
  const sizes = measure(folder);
  const beyond = Object.keys(BUDGET).filter((key) => sizes[key] > BUDGET[key]);
  if (beyond.length > 0) {
    throw new Error(`the console exceeds its budget: ${beyond.map((key) => `${key} ${sizes[key]} of ${BUDGET[key]}`).join(', ')}`);
  }
  for (const file of filesOf(folder)) compress(file);
  return sizes;
}

/** Configuration of Vite. */
function configuration(folder) {
  return {
    configFile: false,
    root: source,
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      // Chunks do not contain the hashes of others, so that a change of one page does not change the files of others.
      rolldownOptions: {
        checks: { pluginTimings: false },
        output: {
          entryFileNames: 'assets/[name]-[hash].js',
          chunkFileNames: 'assets/[name]-[hash].js',
          // Code that several pages share is one file, so that a page needs two requests instead of one per small file.
          codeSplitting: {
            groups: [
              { name: 'shell', tags: ['$initial'], priority: 2 },
              { name: 'shared', minShareCount: 2, priority: 1 },
            ],
          },
        },
      },
    },
  };
}

/** Sizes of index.html and everything that it references. */
function measure(folder) {
  const index = readFileSync(join(folder, 'index.html'), 'utf8');
  const named = [...new Set([...index.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => name))];
  const compressed = (suffix) =>
    named.filter((name) => name.endsWith(suffix)).reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);
  return {
    firstScript: compressed('.js'),
    firstStyle: compressed('.css'),
    firstRequests: 1 + named.length,
    whole: filesOf(folder).reduce((sum, file) => sum + statSync(file).size, 0),
  };
}

function compress(file) {
  const bytes = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function fingerprint() {
  const hash = createHash('sha256');
  const folders = [join(source, 'src'), join(root, 'packages', 'model')];
  const files = [...folders.flatMap(filesOf), join(source, 'index.html'), import.meta.filename, join(root, 'package-lock.json')];
  for (const file of files) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensurePackages();
  const [folder] = process.argv.slice(2);
  try {
    if (folder === undefined) await buildConsole();
    else console.log(JSON.stringify(await buildInto(folder)));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
