// Finds examples that no test runs, and false statements in prose: broken links and anchors; options, environment variables, operations,
// metrics, error codes and other names that do not exist; outdated defaults, endpoints and messages. Generated pages list the options and
// operations; everything else is looked up in the code.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const { tsImport } = await import('tsx/esm/api');
const { blocksOf } = await tsImport('../test/docs/blocks.ts', import.meta.url);
const { Anchors } = await tsImport('../site/anchors.ts', import.meta.url);

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

function anchorsOf(text) {
  const anchors = new Anchors();
  for (const [, heading] of text.replaceAll(/^( *)(```|~~~)[\s\S]*?^\1\2 *$/gm, '').matchAll(/^#{1,6} +(.*)$/gm)) anchors.add(heading);
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
// A name with the prefix of a kind is an operation, a system table of the database, or a setting of it.
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

/** Yields the code in a folder, without tests. */
function* codeBelow(folder, isCode = (name) => /\.tsx?$/.test(name) && !name.includes('.test.')) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* SKIPPED.has(entry.name) ? [] : codeBelow(path, isCode);
    else if (isCode(entry.name)) yield `${entry.name}\n${read(path)}`;
  }
}
const code = [...codeBelow(join(root, 'src'))].join('\n');
/** Prose also names files of tests, deployments and examples. */
const beside = ['test', 'bench', 'deploy', 'scripts', 'examples'].flatMap((folder) => [
  ...codeBelow(join(root, folder), (name) => !/\.(?:md|png)$|^package-lock\.json$/.test(name)),
]);
const codeWords = new Set([code, ...beside].join('\n').match(/[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+/g));
const metrics = new Set(read(join(root, 'docs', 'reference', 'metrics.md')).match(/(?:svc|nodejs|process)_[a-z0-9_]+/g));
/** Names that the code assembles from parts. */
const OTHERS = new Set(['scheduled-trigger-process']);

/** Checks metrics, error codes, log types, and other names with hyphens. */
function checkWords(page, text) {
  for (const [, span] of text.matchAll(/`([^`\n]+)`/g)) {
    if (/^(?:svc|nodejs)_[a-z0-9_]*[a-z0-9]$/.test(span)) {
      const metric = span.replace(/_(?:bucket|sum|count)$/, '');
      if (!metrics.has(span) && !metrics.has(metric) && !codeWords.has(span) && !OTHERS.has(span))
        complain(page, `there is no metric, and nothing else, called ${span}`);
    } else if (/^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/.test(span) && !codeWords.has(span) && !OTHERS.has(span)) {
      complain(page, `there is no ${span}: no code of an error, no type of the log, and nothing else`);
    } else if (/tracing\.md$/.test(page) && /^[a-z]+(?:\.[a-z_]+)+$/.test(span) && !code.includes(`'${span}'`)) {
      complain(page, `no span has ${span}`);
    }
  }
}

/** Checks that examples say whether and how a test runs them (test/README.md); examples of generated pages have other tests. */
function checkExamples(page, text) {
  if (/^<!-- (?:generated|Made) by/m.test(text)) return;
  try {
    blocksOf(text);
  } catch (thrown) {
    complain(page, thrown.message);
  }
}

/** Checks the defaults on the page of limits. */
function checkLimits() {
  const page = join(root, 'docs', 'reference', 'limits.md');
  const defaults = new Map();
  for (const [, flag, value] of read(join(root, 'docs', 'options.md')).matchAll(/^\| `(--[a-z-]+)[^|]*\|[^|]*\|[^|]*\| `?([^|`]*)`? \|/gm))
    defaults.set(flag, value.trim());
  for (const [, flag, value] of read(page).matchAll(/\| `(--[a-z-]+)` \| (\S+) \|/g))
    if (defaults.get(flag) !== value) complain(page, `the default of ${flag} is ${defaults.get(flag)}, not ${value}`);
}

/** Checks that the table of endpoints has exactly the fixed paths of the server. */
function checkEndpoints() {
  const page = join(root, 'docs', 'reference', 'endpoints.md');
  const routes = [...codeBelow(join(root, 'src', 'server', 'routes'))].join('\n');
  const there = new Set(routes.match(/(?<=')\/(?:[a-z0-9]+\/)*[a-z0-9]+(?=')/g));
  const told = new Set(read(page).match(/(?<=`)\/(?:[a-z0-9]+\/)*[a-z0-9]+(?=`)/g));
  for (const path of there) if (!told.has(path)) complain(page, `${path} is missing`);
  for (const path of told) if (!there.has(path)) complain(page, `there is no ${path}`);
}

/** Checks that the table of log types is complete, and that messages on the troubleshooting page exist in the code. */
function checkTables() {
  const types = join(root, 'docs', 'reference', 'log-types.md');
  for (const [, type] of code.matchAll(/type: '([a-z]+(?:-[a-z]+)+)', detail/g))
    if (!read(types).includes(`\`${type}\``)) complain(types, `${type} is missing`);
  const troubles = join(root, 'docs', 'how-to', 'troubleshoot.md');
  for (const [, cell] of read(troubles)
    .split('## Error messages')[1]
    .matchAll(/^\| (`.*?) \| /gm))
    for (const [, message] of cell.matchAll(/`([^`]+)`/g))
      for (const part of message.split('…').map((piece) => piece.trim().replace(/^[:"]+|[:"]+$/g, '')))
        if (!code.includes(part)) complain(troubles, `no message says "${part}"`);
}

/** Checks that the list of ADRs is complete, and that the map of the code has all rooms in order and no missing file. */
function checkMap() {
  const decisions = join(root, 'docs', 'adr', 'README.md');
  for (const name of readdirSync(dirname(decisions)))
    if (/^\d/.test(name) && !read(decisions).includes(`](${name})`)) complain(decisions, `${name} is missing`);
  const map = join(root, 'docs', 'architecture.md');
  const rooms = read(map)
    .split('\nsrc/\n')[1]
    .split('\ntest/')[0]
    .match(/^ {2}[a-z-]+(?=\/)/gm)
    .map((room) => room.trim());
  const { order } = JSON.parse(read(join(root, 'layers.json')));
  if (rooms.join(' ') !== order.join(' ')) complain(map, `the rooms of layers.json are ${order.join(', ')}`);
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  for (const [, file] of read(map).matchAll(/`(?:src\/)?([a-z-]+(?:\/[a-z-]+)*\.ts)`/g))
    if (!files.some((path) => `/${path}`.endsWith(`/${file}`))) complain(map, `there is no ${file}`);
}

// An argument is the folder of other pages to check.
const [, , folder = root] = process.argv;
if (folder === root) {
  checkLimits();
  checkEndpoints();
  checkTables();
  checkMap();
}
for (const page of pagesBelow(folder)) {
  const whole = read(page);
  const text = withoutBlocks(whole);
  checkLinks(page, text);
  if (folder !== root || /^(?:README\.md$|docs\/(?!adr\/))/.test(relative(root, page))) checkExamples(page, whole);
  // ADRs and the changelog may name things that no longer exist.
  if (!/CHANGELOG\.md$|docs\/adr\//.test(page)) {
    checkNames(page, text);
    checkWords(page, text);
  }
}
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;
