// Builds the documentation site from docs/ into a folder, each file with its .br and .gz: `npm run docs` updates dist/docs,
// `npm run docs -- FOLDER` fills another folder, which must be empty or absent. Fails with a list of links that lead nowhere.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compressFolder, updateFolder } from './built-folder.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

const BROTLI_QUALITY = 9;
const SOURCES = [
  'docs',
  'site',
  'README.md',
  'CHANGELOG.md',
  'console/src/parts/graphql-language.ts',
  'console/src/styles/tokens.css',
  'console/src/styles/icon.svg',
  'package.json',
  'package-lock.json',
].map((name) => join(root, name));

/** Updates dist/docs. @throws Error if the build fails */
export function buildDocs({ force = false } = {}) {
  return updateFolder({ name: 'docs', title: 'the documentation', sources: [...SOURCES, import.meta.filename], force }, buildInto);
}

/** @returns the number of pages */
async function buildInto(folder) {
  const { tsImport } = await import('tsx/esm/api');
  const { buildSite } = await tsImport('../site/build.ts', import.meta.url);
  const count = await buildSite(root, folder);
  compressFolder(folder, BROTLI_QUALITY);
  return count;
}

async function main(given) {
  const [folder, ...others] = given;
  if (folder === undefined) return buildDocs();
  if (others.length > 0 || folder.startsWith('-')) throw new Error('usage: npm run docs [-- FOLDER]');
  const target = resolve(folder);
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new Error(`the folder ${target} is not empty: name another one, or empty it`);
  mkdirSync(target, { recursive: true });
  console.log(`${await buildInto(target)} pages in ${target}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensurePackages();
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
