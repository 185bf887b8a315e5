/** `svc metadata lint` and `svc permissions lint`: what they accept, and warnings that a file accepts with a reason. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PERMISSION_RULES, RULES } from '../../src/project/lint/rules.ts';
import type { Ran } from '../support/command.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';

let project: ProjectFolder;
beforeAll(() => {
  project = projectFolder({ url: 'http://localhost:1' });
});
afterAll(() => project.remove());

const source = (...lines: readonly string[]): string =>
  ['- name: default', '  kind: postgres', '  configuration:', ...lines.map((line) => `    ${line}`)].join('\n');

/** Runs a lint command on a project with these files of its metadata. */
function lint(files: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ran> {
  project.remove();
  project.write({ 'config.yaml': 'version: 3\n' });
  project.write(Object.fromEntries(Object.entries(files).map(([path, text]) => [`metadata/${path}`, text])));
  return project.svc(...args, '--json');
}

const codesOf = ({ json }: Ran): readonly string[] => (json['errors'] as readonly { code: string }[]).map(({ code }) => code);

it('accepts an insert that a preset or a webhook restricts, and warns of one that nothing restricts', async () => {
  const table = (permission: string): Record<string, string> => ({
    'databases/databases.yaml': `${source('connection_info: {database_url: {from_env: U}}')}
  tables:
    - table: {schema: public, name: task}
      select_permissions: [{role: member, permission: {columns: '*', filter: {}}}]
      insert_permissions:
        - role: member
          permission: {columns: [title], check: {}, ${permission}}
`,
  });
  const found = async (permission: string): Promise<readonly string[]> => codesOf(await lint(table(permission), 'permissions', 'lint'));
  expect(await found('set: {tenant_id: X-Svc-Tenant-Id}')).toEqual([]);
  expect(await found('validate_input: {type: http, definition: {url: http://x}}')).toEqual([]);
  expect(await found('set: {state: draft}')).toEqual(['always-true']);
  expect(await found('set: {}')).toEqual(['always-true']);
});

/** Files with one warning of each rule, with this comment above each cause. */
const everyRule = (accept: (rule: string) => string): Record<string, string> => ({
  'databases/databases.yaml': `${source('connection_info:', `  ${accept('plain-secret')}`, '  database_url: postgres://a:secret@localhost/db')}
  tables:
    - "!include author.yaml"
`,
  'databases/author.yaml': `table: {schema: public, name: author}
select_permissions:
  - role: user
    permission: {columns: [id], filter: {}}
insert_permissions:
  ${accept('anonymous-write')}
  ${accept('always-true')}
  - role: anonymous
    permission: {columns: [], check: {}}
update_permissions:
  ${accept('update-without-check').replace('#', '# a note\n  #')}
  - role: user
    permission:
      columns: [id, name] ${accept('write-only')}
      ${accept('settable-filter')}
      filter: {id: {_eq: X-Svc-User-Id}}
`,
  'databases/old.yaml': `${accept('orphan')}\na: [\n`,
});

it('accepts a warning of each rule with a reason, and lists it', async () => {
  const plain = await lint(
    everyRule(() => '# a comment'),
    'metadata',
    'lint',
  );
  expect([...codesOf(plain)].sort()).toEqual([...RULES].sort());
  const files = everyRule((rule) => `# svc-lint-accept: ${rule} the reason of ${rule}`);
  const accepted = await lint(files, 'metadata', 'lint', '--fail-on', 'warning');
  expect([accepted.code, accepted.json['errors']]).toEqual([0, []]);
  const list = accepted.json['accepted'] as readonly { code: string; reason: string }[];
  expect(list.map(({ code }) => code).sort()).toEqual([...RULES].sort());
  for (const { code, reason } of list) expect(reason).toBe(`the reason of ${code}`);
  const permissions = await project.svc('permissions', 'lint', '--verbose');
  expect([permissions.code, permissions.stderr]).toEqual([0, '']);
  expect(permissions.stdout).toMatch(/^nothing found, 5 accepted warnings\n/);
  expect(permissions.stdout).toContain(
    'accepted: metadata/databases/author.yaml:8:5: anonymous may insert rows of public.author; reason: the reason of anonymous-write',
  );
  expect(permissions.stdout.trim().split('\n')).toHaveLength(1 + PERMISSION_RULES.length);
  expect((await project.svc('permissions', 'lint')).stdout).toBe('nothing found, 5 accepted warnings\n');
});

it('rejects an acceptance without a reason or of an unknown rule, and reports one that matches no warning', async () => {
  const missing = await lint(
    everyRule((rule) => `# svc-lint-accept: ${rule}`),
    'metadata',
    'lint',
  );
  expect(missing.code).toBe(1);
  expect(codesOf(missing).filter((code) => code === 'missing-reason')).toHaveLength(RULES.length);
  for (const rule of RULES) expect(codesOf(missing)).toContain(rule);

  const tables = (comment: string): Record<string, string> => ({
    'databases/databases.yaml': `${source('connection_info: {database_url: {from_env: U}}')}
  tables:
    ${comment}
    - table: {schema: public, name: a}
      delete_permissions: [{role: user, permission: {filter: {id: 1}}}]
    - table: {schema: public, name: b}
      delete_permissions: [{role: user, permission: {filter: {}}}]
`,
  });
  const unknown = await lint(tables('# svc-lint-accept: alway-true a reason'), 'permissions', 'lint', '--fail-on', 'error');
  expect(unknown).toMatchObject({ code: 1, json: { errors: [{ code: 'unknown-rule', line: 6, column: 5 }, { code: 'always-true' }] } });
  expect(JSON.stringify(unknown.json)).toContain('did you mean');
  const stale = await lint(tables('# svc-lint-accept: always-true a reason'), 'permissions', 'lint');
  expect(codesOf(stale)).toEqual(['always-true', 'stale-acceptance']);
  const formless = await lint(tables('# svc-lint-accept always-true a reason'), 'permissions', 'lint');
  expect(codesOf(formless)).toEqual(['invalid-acceptance', 'always-true']);
  // It is about a rule that this command does not apply.
  const other = await lint(tables('# svc-lint-accept: plain-secret a reason'), 'permissions', 'lint');
  expect(codesOf(other)).toEqual(['always-true']);
  const text = tables(`# a text\n    - {table: {schema: public, name: c}, comment: '# svc-lint-accept: always-true x'}`);
  expect(codesOf(await lint(text, 'permissions', 'lint'))).toEqual(['always-true']);
});

it('accepts the warnings of a whole table above the first line of its file', async () => {
  const files = everyRule(() => '# a comment');
  const accepted = await lint(
    { ...files, 'databases/author.yaml': `# svc-lint-accept: write-only the form is public\n\n${files['databases/author.yaml']}` },
    'permissions',
    'lint',
    '--fail-on',
    'error',
  );
  expect(accepted.json['accepted']).toMatchObject([{ code: 'write-only', file: 'metadata/databases/author.yaml' }]);
  expect([...codesOf(accepted)].sort()).toEqual(PERMISSION_RULES.filter((rule) => rule !== 'write-only').sort());
});

it('has a documentation of each rule', () => {
  const page = readFileSync(join(fileURLToPath(new URL('../..', import.meta.url)), 'docs/projects.md'), 'utf8');
  for (const rule of RULES) expect(page).toContain(`| \`${rule}\` |`);
});
