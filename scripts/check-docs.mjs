// Finds what prose says that is not so: links and anchors that lead nowhere, and options, environment variables and operations that do
// not exist. The pages that are made from code say which there are.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from './ensure-packages.mjs';

const SKIPPED = new Set(['node_modules', 'dist', '.git', '.svc', 'fixtures']);

function* pagesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* pagesBelow(path);
    else if (entry.name.endsWith('.md')) yield path;
  }
}

const read = (path) => readFileSync(path, 'utf8');
const withoutBlocks = (text) => text.replaceAll(/^( *)(```|~~~)[\s\S]*?^\1\2 *$/gm, '').replaceAll(/^(?: {4}|\t).*$/gm, '');

/** As GitHub makes anchors of headings: what is twice gets a number. */
function anchorsOf(text) {
  const anchors = new Set();
  for (const [, heading] of text.replaceAll(/^( *)(```|~~~)[\s\S]*?^\1\2 *$/gm, '').matchAll(/^#{1,6} +(.*)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const slug = plain
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

const complaints = [];
const complain = (page, what) => complaints.push(`${relative(root, page)}: ${what}`);

function checkLinks(page, text) {
  for (const [, target] of text.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [file, anchor] = target.split('#');
    const path = file === '' ? page : resolve(dirname(page), decodeURIComponent(file));
    if (!existsSync(path)) complain(page, `nothing is at ${target}`);
    else if (anchor !== undefined && path.endsWith('.md') && !anchorsOf(read(path)).has(anchor))
      complain(page, `${file} has no #${anchor}`);
  }
}

const known = ['docs/options.md', 'docs/reference/command-line.md', 'docs/reference/metadata-api.md', 'docs/reference/query-api.md']
  .map((page) => read(join(root, page)))
  .join('\n');
const words = new Set(`${known} --help`.match(/--[a-z][a-z0-9-]*|[A-Z][A-Z0-9_]{3,}|[a-z0-9_]{4,}/g));
// Whatever begins with the prefix of a kind is an operation, a table of the database's own, or a setting of it.
const OPERATION = /^(?:pg|dbb|dbc|dwh)_(?:add|create|delete|drop|get|rename|run|set|suggest|track|untrack|update)_[a-z_]+$/;

function checkNames(page, text) {
  for (const [, code] of text.matchAll(/`([^`\n]+)`/g)) {
    const option = /^--[a-z][a-z0-9-]*/.exec(code)?.[0];
    if (option !== undefined && !words.has(option)) complain(page, `there is no option ${option}`);
    for (const [variable] of code.matchAll(/SVC_GRAPHQL_[A-Z0-9_]*[A-Z0-9]/g))
      if (!words.has(variable)) complain(page, `there is no variable ${variable}`);
    if (OPERATION.test(code) && !words.has(code)) complain(page, `there is no operation ${code}`);
  }
}

for (const page of pagesBelow(root)) {
  const text = withoutBlocks(read(page));
  checkLinks(page, text);
  // What is decided and what was changed may name what is no more.
  if (!/CHANGELOG\.md$|docs\/adr\//.test(page)) checkNames(page, text);
}
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;
