import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFiles } from '../directory/files.ts';
import { readMetadata } from '../directory/read-metadata.ts';
import { lintMetadata, type LintResult } from './lint.ts';

const folder = '/p/metadata';

/** Lints a project with one table in a file of its own. */
function lint(table: string): LintResult {
  const texts = {
    'databases/databases.yaml': '- name: default\n  kind: pg\n  configuration: {}\n  tables: ["!include a.yaml"]\n',
    'databases/a.yaml': table,
  };
  const changes = new Map(Object.entries(texts).map(([name, text]) => [join(folder, name), text]));
  const at = { folder, files: projectFiles('/p', changes) };
  return lintMetadata(at, readMetadata(at));
}

const TABLE = `table: {schema: public, name: a}
delete_permissions:
  - role: user
    permission: {filter: {}}
  - role: guest
    permission:
      filter: {} # a note
`;
const codes = ({ problems }: LintResult): readonly string[] => problems.map(({ code, line }) => `${code}:${line}`);
const ACCEPT = '# svc-lint-accept: always-true it is small';

it.each([
  ['the item below it', TABLE.replace('  - role: user', `  ${ACCEPT}\n  - role: user`), ['always-true:8']],
  ['the key below it', TABLE.replace('      filter: {} #', `      ${ACCEPT}\n      # more\n\n      filter: {} #`), ['always-true:4']],
  ['the key on its line', TABLE.replace('# a note', ACCEPT), ['always-true:4']],
  ['all items of the key below it', TABLE.replace('delete_permissions', `${ACCEPT}\ndelete_permissions`), []],
  ['the file that it begins', `${ACCEPT}\n${TABLE}`, []],
])('accepts the warnings of %s', (_, table, left) => {
  const result = lint(table);
  expect(codes(result)).toEqual(left);
  expect(result.accepted.map(({ reason }) => reason)).toEqual(Array.from({ length: 2 - left.length }, () => 'it is small'));
});

it.each([
  ['does not write a column of its filter', '[title]', '{tenant_id: {_eq: X-Svc-Tenant-Id}}', '', []],
  [
    'writes a column of its filter',
    '[title, tenant_id]',
    '{tenant_id: {_eq: X-Svc-Tenant-Id}}',
    '',
    ['update-without-check', 'settable-filter'],
  ],
  ['presets a column of its filter', '[title]', '{_or: [{state: {_eq: open}}]}', ', set: {state: done}', ['update-without-check']],
  ['writes all columns', '"*"', '{tenant_id: {_eq: X-Svc-Tenant-Id}}', '', ['update-without-check', 'settable-filter']],
  ['has a filter about related rows', '[project_id]', '{project: {owner: {_eq: X-Svc-User-Id}}}', '', ['update-without-check']],
])('warns of an update without a check only if it may leave its filter: it %s', (_, columns, filter, set, expected) => {
  const { problems } = lint(`table: {schema: public, name: a}
object_relationships: [{name: project, using: {foreign_key_constraint_on: project_id}}]
select_permissions: [{role: user, permission: {columns: '*', filter: {}}}]
update_permissions: [{role: user, permission: {columns: ${columns}, filter: ${filter}${set}}}]
`);
  expect(problems.map(({ code }) => code)).toEqual(expected);
});

it('reports an acceptance that matches no warning, has no reason, or is about an unknown rule', () => {
  expect(codes(lint(`${TABLE}${ACCEPT}\n`))).toEqual(['always-true:4', 'always-true:7', 'stale-acceptance:8']);
  expect(codes(lint(TABLE.replace('# a note', '# svc-lint-accept: always-true')))).toEqual([
    'missing-reason:7',
    'always-true:4',
    'always-true:7',
  ]);
  expect(codes(lint(`# svc-lint-accept: any it is small\n${TABLE}`))).toEqual(['unknown-rule:1', 'always-true:5', 'always-true:8']);
});

it('reports an acceptance whose item was removed, instead of applying it to what follows', () => {
  const rest = TABLE.replace(
    'delete_permissions',
    `insert_permissions:\n  - role: user\n    permission: {check: {a: {_eq: 1}}}\n  ${ACCEPT}\ndelete_permissions`,
  );
  expect(codes(lint(rest))).toEqual(expect.arrayContaining(['always-true:8', 'always-true:11', 'stale-acceptance:5']));
});
