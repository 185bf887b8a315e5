// Builds console/ into a folder, each file beside its .br and .gz, and fails beyond the budgets of the first page and of the whole.
// `node scripts/build-console.mjs FOLDER`; without a folder it brings dist/console up to date.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { ensurePackages, root } from './ensure-packages.mjs';

const source = join(root, 'console');
const target = join(root, 'dist', 'console');
/** Beside the folder, so that what is served holds nothing but the console. */
const STAMP = join(root, 'dist', '.console-built-from');

/** What the first page and the whole build may take, in bytes; JS and CSS of the first page compressed. */
const BUDGET = { firstScript: 60_000, firstStyle: 12_000, firstRequests: 6, whole: 1_200_000 };

/** Brings dist/console up to date. @throws Error when the build fails or is beyond its budget */
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

/** @returns what the build takes, compared with its budget */
export async function buildInto(folder) {
  const { build } = await import('vite');
  // Where it says something else, as in tests, Vite puts in what helps those who debug, and the pages are half as long again.
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
    throw new Error(`the console is beyond its budget: ${beyond.map((key) => `${key} ${sizes[key]} of ${BUDGET[key]}`).join(', ')}`);
  }
  for (const file of filesOf(folder)) compress(file);
  return sizes;
}

/** What Vite is told. */
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
      // The page of one chunk names the hashes of others: a change of one page leaves the files of the others as they are.
      rolldownOptions: {
        checks: { pluginTimings: false },
        output: {
          entryFileNames: 'assets/[name]-[hash].js',
          chunkFileNames: 'assets/[name]-[hash].js',
          // What several pages use is one file, so that opening a page asks for two: each small file of its own would be a request.
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

/** The first page is index.html with all that it names. */
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
