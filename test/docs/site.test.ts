import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { buildSite, type SearchText } from '../../site/build.ts';
import { brokenJson } from '../../site/json-lines.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const FIRST_PAGE = `# Documentation

## By kind

### Reference

| subject | pages |
|---|---|
| access | [permissions](permissions.md) |

### Tutorials

[First API](tutorials/first-api.md)
`;
const PERMISSIONS = '# Permissions: by role\n\n## A `filter`, or "none"\n\nThe operator `_cne`.\n';
const TUTORIAL = `# First API

<!-- Made by a script. -->

See [filters](../permissions.md#a-filter-or-none), [the file](../../src/main.ts), [src/main.ts](../../src/main.ts) and [below](#run-it).
A name is <from>.

| name | rows |
|---|--:|
| a | 1 |

| flag | variable | value | meaning |
|---|---|---|---|
| \`--server-port\` | \`SVC_PORT\` | 1 | Not with --host. |

    indented <code>

## Run it

\`\`\`sh run
echo "hello"
\`\`\`

\`\`\`js file=receiver.mjs
const answer = 1;
\`\`\`
`;

/** Writes a repository with these pages. */
function repository(pages: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-site-'));
  folders.push(root);
  const files = {
    'README.md': '# svc\n\n[Documentation](docs/README.md)\n',
    'CHANGELOG.md': '# Changelog\n',
    'package.json': '{"version": "1.2.3"}',
    'docs/README.md': FIRST_PAGE,
    'docs/permissions.md': PERMISSIONS,
    'docs/tutorials/first-api.md': TUTORIAL,
    ...pages,
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  return root;
}

it('builds pages with relative links, titles of files, highlighted examples and the text for the search', async () => {
  const root = repository({});
  const out = join(root, 'out');
  expect(await buildSite(root, out)).toBe(5);
  const html = readFileSync(join(out, 'tutorials', 'first-api.html'), 'utf8');
  expect(html).toContain('<a href="../permissions.html#a-filter-or-none">filters</a>');
  expect(html).toContain('the file (<code>src/main.ts</code>), src/main.ts and <a href="#run-it">below</a>');
  expect(html).toContain('A name is &lt;from&gt;.');
  expect(html).toContain('<td class="right">1</td>');
  expect(html).not.toContain('Made by a script');
  expect(html).toContain('<td data-title="flag"><code><span class="whole">--server</span>-port</code></td>');
  expect(html).toContain('<td data-title="variable"><code>SVC_<wbr>PORT</code></td>');
  expect(html).toContain('<td data-title="meaning">Not with <span class="whole">--host</span>.</td>');
  expect(html).toContain('<div class="code"><pre><code>indented &lt;code&gt;</code></pre></div>');
  expect(html).toContain('<h2 id="run-it">Run it <a class="anchor" href="#run-it" aria-label="Link to this section">#</a></h2>');
  expect(html).toContain(
    '<div class="code"><pre><code><span class="p">echo</span> <span class="s">&quot;hello&quot;</span></code></pre></div>',
  );
  expect(html).toContain('<figcaption>receiver.mjs</figcaption><pre><code><span class="k">const</span>');
  expect(html).toContain('<a href="../permissions.html">Permissions</a>');
  // No other host, no inline script or style: the content security policy of the service permits none.
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/|<script>|<style|\son[a-z]+=|style="/);
  for (const [, address] of html.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^"]+)"/g))
    expect(() => readFileSync(join(out, 'tutorials', address ?? ''))).not.toThrow();
  const name = readdirSync(join(out, 'assets')).find((each) => /^search-.{10}\.json$/.test(each)) ?? '';
  const search = JSON.parse(readFileSync(join(out, 'assets', name), 'utf8')) as SearchText;
  const index = search.pages.findIndex(([address]) => address === 'permissions.html');
  expect(search.sections).toContainEqual([index, 'a-filter-or-none', 'A filter, or "none"', 'The operator _cne.']);
});

it('breaks JSON on one line that is wider than a page, and keeps its values as they are written', () => {
  const long = `{"type":"create_action","args":{"name":"login: a, b","price":1.50,"id":9007199254740993,"none":[],"list":[{"a":"\\"}"}]}}`;
  const broken = brokenJson(long);
  expect(broken).toBe(`{
  "type": "create_action",
  "args": {
    "name": "login: a, b",
    "price": 1.50,
    "id": 9007199254740993,
    "none": [],
    "list": [{"a": "\\"}"}]
  }
}`);
  expect(JSON.parse(broken)).toEqual(JSON.parse(long));
  for (const same of ['{"a":1}', `${long} …`, `${long}\n${long}`]) expect(brokenJson(same)).toBe(same);
});

it.each([
  ['a link to a missing page', { 'docs/permissions.md': '# P\n\n[x](nothing.md)\n' }, 'docs/permissions.md: no page is at nothing.md'],
  [
    'a link to a missing heading',
    { 'docs/permissions.md': '# P\n\n## A `filter`, or "none"\n\n[x](README.md#nothing)\n' },
    'docs/permissions.md: docs/README.md has no heading #nothing (README.md#nothing)',
  ],
  [
    'a missing picture',
    { 'docs/permissions.md': '# P\n\n![x](images/nothing.png)\n' },
    'docs/permissions.md: no picture is at images/nothing.png',
  ],
  [
    'an unknown language',
    { 'docs/permissions.md': '# P\n\n```cobol\nx\n```\n' },
    'docs/permissions.md: no parser for the language "cobol"',
  ],
  ['a page that no list contains', { 'docs/lost.md': '# Lost\n' }, 'docs/README.md does not list docs/lost.md under "By kind"'],
])('rejects %s', async (_, pages, message) => {
  const root = repository(pages);
  await expect(buildSite(root, join(root, 'out'))).rejects.toThrow(message);
});
