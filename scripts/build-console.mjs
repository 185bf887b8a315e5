// Builds console/ into a folder, each file with its .br and .gz, and fails if the first page or the whole build exceeds its budget.
// `node scripts/build-console.mjs FOLDER`; without a folder it updates dist/console.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { compressFolder, filesOf, updateFolder } from './built-folder.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

const source = join(root, 'console');

/** Maximum size of the first page and of the whole build, in bytes; JS and CSS of the first page are compressed. */
const BUDGET = { firstScript: 60_000, firstStyle: 12_000, firstRequests: 6, whole: 1_200_000 };

/** Updates dist/console. @throws Error if the build fails or exceeds its budget */
export function buildConsole({ force = false } = {}) {
  const sources = [
    ...[join(source, 'src'), join(root, 'packages', 'model')],
    ...[join(source, 'index.html'), import.meta.filename, join(root, 'package-lock.json')],
  ];
  return updateFolder({ name: 'console', title: 'the console', sources, force }, buildInto);
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
  compressFolder(folder);
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
