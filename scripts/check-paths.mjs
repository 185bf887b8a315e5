// `npm run check paths`: the lists of test files name files that are there. A file that was renamed would else be run nowhere, or too often.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './ensure-packages.mjs';

const LISTS = ['test/long-files.txt', 'vitest.config.ts', '.ci/run'];
/** Paths and patterns of this repository, wherever they stand in a text: not those behind `../`. */
const PATH = /(?<![\w./-])(?:src|test|scripts|console|bench|docs)\/[\w.*!()/-]*[\w*)]/g;

/** @returns what each list names that is not there */
export function missingPaths(folder, lists = LISTS) {
  return lists.flatMap((list) =>
    [...new Set((readFileSync(join(folder, list), 'utf8').match(PATH) ?? []).map(withoutBracket))]
      .filter((path) => !(/[*!]/.test(path) ? matchesAny(folder, path) : exists(join(folder, path))))
      .map((path) => `${list} names ${path}, which is not there`),
  );
}

/** Without the one that closes what a sentence has opened before. */
function withoutBracket(path) {
  return path.includes('(') ? path : path.replace(/\)+$/, '');
}

function exists(path) {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Patterns as test runners take them: `*`, `**`, `!(this).test.ts`. */
function matchesAny(folder, pattern) {
  const [top] = pattern.split('/');
  const source = pattern
    .replace(/[.+^$]/g, '\\$&')
    .replace(/!\(([^)]*)\)/g, '(?!$1\\.)[^/]+')
    .replace(/\*\*\/|\*\*|\*/g, (stars) => (stars === '*' ? '[^/]*' : stars === '**' ? '.+' : '(?:.+/)?'));
  const wanted = new RegExp(`^${source}$`);
  return readdirSync(join(folder, top), { recursive: true })
    .filter((path) => !path.includes('node_modules'))
    .some((path) => wanted.test(`${top}/${path.replaceAll('\\', '/')}`));
}

if (process.argv[1] === import.meta.filename) {
  const missing = missingPaths(root);
  for (const each of missing) console.error(each);
  if (missing.length === 0) console.log('all paths of the lists of tests are there');
  process.exit(missing.length === 0 ? 0 : 1);
}
