import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openProject } from '../project.ts';
import { readMetadata } from './read-metadata.ts';

it('applies the overlays of an environment, and preserves places', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-overlay-'));
  const files = {
    'config.yaml':
      'environments:\n  production: {overlays: [stages/a.yaml, stages/b.yaml], endpont: x}\n  lost: {overlays: ../x.yaml}\n  gone: {overlays: [no.yaml]}\n',
    'metadata/databases/databases.yaml':
      '- name: one\n  kind: pg\n  configuration: {pool: 1, url: {from_env: A}}\n  tables: [{table: a}]\n- name: two\n  kind: pg\n',
    'metadata/inherited_roles.yaml': '- {role_name: r, role_set: [a, b]}\n',
    'stages/a.yaml': 'sources: [{name: one, configuration: {pool: 9}, tables: [{table: b}]}, {name: three}]\ninherited_roles: null\n',
    'stages/b.yaml': 'sources: [{name: two, kind: dbc}]\napi_limits: {disabled: true}\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const open = (env: string) => openProject(root, { env }, {});
  const project = open('production');
  expect(project.warnings).toEqual(['config.yaml: environments: unknown key "endpont", did you mean "endpoint"?']);
  const { document, placeOf } = readMetadata(project.metadata);
  expect(document).toEqual({
    version: 3,
    sources: [
      { name: 'one', kind: 'pg', configuration: { pool: 9, url: { from_env: 'A' } }, tables: [{ table: 'a' }, { table: 'b' }] },
      { name: 'two', kind: 'dbc' },
      { name: 'three' },
    ],
    api_limits: { disabled: true },
  });
  expect(placeOf(['sources', 0, 'tables', 0])).toMatchObject({ file: 'metadata/databases/databases.yaml', line: 4 });
  expect(placeOf(['sources', 0, 'tables', 1])).toMatchObject({ file: 'stages/a.yaml', line: 1 });
  expect(() => open('lost')).toThrow('is outside of the project');
  expect(() => readMetadata(open('gone').metadata)).toThrow('the overlay does not exist');
  rmSync(root, { recursive: true });
});
