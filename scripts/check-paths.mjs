// `npm run check paths`: checks that the lists of test files name existing files. A renamed file would otherwise not run, or run twice.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './ensure-packages.mjs';

const LISTS = ['test/long-files.txt', 'vitest.config.ts', '.ci/run'];
/** Paths and patterns of this repository in a text, except those after `../`. */
const PATH = /(?<![\w./-])(?:src|test|scripts|console|bench|docs)\/[\w.*!()/-]*[\w*)]/g;

/** @returns the missing paths of each list */
export function missingPaths(folder, lists = LISTS) {
  return lists.flatMap((list) =>
    [...new Set((readFileSync(join(folder, list), 'utf8').match(PATH) ?? []).map(withoutBracket))]
      .filter((path) => !(/[*!]/.test(path) ? matchesAny(folder, path) : exists(join(folder, path))))
      .map((path) => `${list} names ${path}, which is not there`),
  );
}

/** Removes a closing parenthesis that belongs to the sentence. */
function withoutBracket(path) {
  return path.includes('(') ? path : path.replace(/\)+$/, '');
}

function exists(path) {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Supports the patterns of test runners: `*`, `**`, `!(this).test.ts`. */
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
  if (missing.length === 0) console.log('all paths in the lists of tests exist');
  process.exit(missing.length === 0 ? 0 : 1);
}
