// Checks that no code outside of src/databases/<kind>/ names a kind of database, its prefix or its product: a difference between kinds is a
// capability or an entry that the kind hands out (docs/architecture.md, section 7). Comments, tests and generated files may name them.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Files that may name any kind: rooms about PostgreSQL or another engine, and published names (options and error codes). */
const FREE = /^src\/(?:databases|metadata-store|embedded-postgres|project-import|config|errors)\//;

/** Other files, with the kinds that they may name and the reason. */
const EXCEPTIONS = [
  ['src/app/', ['postgresql'], 'the composition root opens the metadata store and the default source'],
  ['src/metadata/source.ts', ['pg'], 'sources without a kind have this one'],
  ['src/project/project.ts', ['pg'], 'name of an endpoint'],
  ['src/observability/log-entry.ts', ['pg'], 'published type of log records'],
  ['src/schema-cache/build.ts', ['postgres'], 'published message'],
  ['src/metadata-api/operations/sources.ts', ['postgres', 'bigquery'], 'published message; documentation'],
  ['src/metadata-api/operations/catalog.ts', ['citus', 'postgresql', 'mariadb', 'bigquery'], 'documentation'],
  ['src/admin-api/reference-page.ts', ['postgres', 'postgresql'], 'documentation'],
  ['src/cli/run/new-project.ts', ['postgresql', 'postgres'], 'comments in the files of a project'],
  ['src/cli/run/recorded-sql.ts', ['pg'], 'name of a schema'],
  ['src/cli/verbs/', ['postgresql', 'postgres', 'mariadb', 'citus', 'bigquery'], 'documentation'],
  ['packages/model/console-form.ts', ['mysql'], 'language of the editor, as its library calls it'],
  ['console/src/parts/code-editor-', ['mysql', 'postgresql'], 'languages of the editor, as its library calls them'],
];

/** Names of products in drivers and addresses. */
const FURTHER = ['mysql', 'postgres'];

/** Names of kinds: their folders, and `kind`, `aliases` and `product` of their backends. @param backends map from folder to the text of its index.ts */
export function namesOfKinds(backends) {
  const names = new Set(FURTHER);
  for (const [folder, text] of backends) {
    names.add(folder);
    for (const [, value] of text.matchAll(/^ {2}(?:kind|product): '([^']+)'/gm)) names.add(value);
    for (const [, list] of text.matchAll(/^ {2}aliases: \[([^\]]*)\]/gm))
      for (const [, name] of list.matchAll(/'([^']+)'/g)) names.add(name);
  }
  return names;
}

/** Returns complaints, one line each. @param files map from path to source text @param names of kinds */
export function checkKinds(files, names) {
  const pattern = new RegExp(`(?<![a-z0-9_])(${[...names].sort((a, b) => b.length - a.length).join('|')})(?![a-z0-9])`, 'gi');
  const complaints = [];
  for (const [file, source] of files) {
    if (FREE.test(file)) continue;
    const allowed = EXCEPTIONS.filter(([place]) => file.startsWith(place)).flatMap(([, own]) => own);
    for (const [index, line] of codeOf(source).split('\n').entries()) {
      for (const [, name] of line.matchAll(pattern))
        if (!allowed.includes(name.toLowerCase())) complaints.push(`${file}:${index + 1}: names the kind of database "${name}"`);
    }
  }
  return complaints;
}

/** Removes comments, and module names except those of kinds; keeps line numbers. */
function codeOf(source) {
  return source
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/(^|\s)\/\/.*$/gm, '$1')
    .replace(/(\bfrom |\bimport\(?\s*)'(?!.*\/databases\/)[^']*'/g, '$1');
}

function main() {
  const root = dirname(import.meta.dirname);
  const files = new Map();
  for (const home of ['src', 'console/src', 'packages']) {
    for (const entry of readdirSync(join(root, home), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/(?<!\.test|\.generated)\.tsx?$/.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      files.set(relative(root, path).split(sep).join('/'), readFileSync(path, 'utf8'));
    }
  }
  const backends = [...files].flatMap(([path, text]) => {
    const folder = /^src\/databases\/([^/]+)\/index\.ts$/.exec(path)?.[1];
    return folder === undefined ? [] : [[folder, text]];
  });
  const names = namesOfKinds(backends);
  const complaints = checkKinds(files, names);
  for (const complaint of complaints) console.error(complaint);
  console.log(`${files.size} files, ${names.size} names of kinds, ${complaints.length} complaints`);
  process.exit(complaints.length > 0 ? 1 : 0);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
