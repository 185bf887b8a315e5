import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Complaints about a page with this text. */
function complaintsOf(text) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pages-'));
  try {
    writeFileSync(join(folder, 'other.md'), '# Here\n');
    writeFileSync(join(folder, 'page.md'), text);
    const { stderr, status } = spawnSync(process.execPath, [fileURLToPath(new URL('check-docs.mjs', import.meta.url)), folder], {
      encoding: 'utf8',
    });
    const lines = stderr.split('\n').filter(Boolean);
    expect(status).toBe(lines.length === 0 ? 0 : 1);
    return lines.map((line) => line.slice(line.indexOf('page.md: ') + 'page.md: '.length));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('finds broken links and anchors, and unknown names', () => {
  // Assembled from parts, so that the code does not contain these words.
  const wrong = (...parts) => `\`${parts.join('')}\``;
  const text = `# Page
[there](other.md#here) [gone](gone.md) [not there](other.md#nowhere)
\`--admin-secret\` ${wrong('--admin-', 'secert')} \`SVC_GRAPHQL_ADMIN_SECRET\` ${wrong('SVC_GRAPHQL_', 'ADMIN_SECERT')}
\`pg_track_table\` ${wrong('pg_track_', 'tabel')} \`svc_ready\` \`svc_plan_time_seconds_bucket\` ${wrong('svc_graphql_', 'request_totals')}
\`constraint-violation\` ${wrong('constraint-', 'violatoin')} \`query-log\` ${wrong('querys-', 'logs')}
`;
  expect(complaintsOf(text)).toEqual([
    'nothing is at gone.md',
    'other.md has no #nowhere',
    `there is no option ${'--admin-'}${'secert'}`,
    `there is no variable ${'SVC_GRAPHQL_'}${'ADMIN_SECERT'}`,
    `there is no operation ${'pg_track_'}${'tabel'}`,
    `there is no metric, and nothing else, called ${'svc_graphql_'}${'request_totals'}`,
    ...[`${'constraint-'}${'violatoin'}`, `${'querys-'}${'logs'}`].map(
      (word) => `there is no ${word}: no code of an error, no type of the log, and nothing else`,
    ),
  ]);
});

it('finds examples that do not say whether they run, and unknown kinds of examples', () => {
  expect(complaintsOf('```json\n{}\n```\n\n```graphql run\n{ a }\n```\n\n```sql setpu\nselect 1\n```\n\n    curl localhost\n')).toEqual([
    'examples that do not say whether and how they run, in lines 1, 9, 13',
  ]);
});

it('finds examples whose file, source or request readers cannot see', () => {
  const request = '# POST http://localhost:8080/v1/graphql\n# X-Svc-Role: reader\n';
  const operation = (comments, settings = '') => `\`\`\`graphql run${settings}\n${comments}{ a }\n\`\`\`\n\n`;
  const file = '```js file=serve.mjs\n1;\n```\n\n';
  const table = '```sql setup source=shop\nselect 1\n```\n';
  const visible = `${operation(request)}Create \`serve.mjs\`:\n\n${file}In \`shop\`:\n\n${table}`;
  expect(complaintsOf(visible)).toEqual([]);
  expect(complaintsOf(`${operation('')}${operation(request, ' role=reader')}${file}${table}`)).toEqual([
    'nothing that readers see tells the file, the source or the request of the examples in lines 1, 5, 11, 15',
  ]);
});
