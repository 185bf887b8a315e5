import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFiles } from './directory/files.ts';
import { readMetadata } from './directory/read-metadata.ts';
import { inconsistenciesIn, problemsOf } from './project-metadata.ts';

const FILES = {
  'databases/databases.yaml': '[]\n',
  'actions.graphql': 'type Query {\n  ask: person\n}\n\ntype person {\n  id: Int\n}\n',
  'actions.yaml': 'actions:\n  - name: ask\n    definition: {handler: http://localhost}\ncustom_types:\n  objects:\n    - name: person\n',
  'cron_triggers.yaml': '# daily\n- name: daily\n  webhook: http://localhost\n',
};

it('names file and line of an inconsistent custom type, action and cron trigger', () => {
  const folder = '/p/metadata';
  const files = projectFiles('/p', new Map(Object.entries(FILES).map(([name, text]) => [join(folder, name), text])));
  const read = readMetadata({ files, folder });
  const place = (type: string, definition: object, reason = '') =>
    inconsistenciesIn([{ type, name: type, definition: { ...definition }, reason }], read)[0]?.place;
  const conflict = "Encountered conflicting definitions of the GraphQL type 'person' in [custom types, table person in source default].";
  expect(place('custom_types', {}, conflict)).toMatchObject({ file: 'metadata/actions.graphql', line: 5 });
  expect(place('action', { name: 'ask' })).toMatchObject({ file: 'metadata/actions.graphql', line: 2 });
  expect(place('cron_trigger', { name: 'daily' })).toMatchObject({ file: 'metadata/cron_triggers.yaml', line: 2 });
});

it('reports many missing tables of a source as one problem', () => {
  const record = (name: string, source: string) => ({
    type: 'table',
    name: `table ${name} in source ${source}`,
    definition: { source, table: { schema: 'public', name } },
    reason: `Inconsistent object: no such table/view exists in source: "${name}"`,
  });
  const many = Array.from({ length: 160 }, (_, i) => record(`t${i}`, 'default'));
  const found = problemsOf(inconsistenciesIn([...many, record('u', 'other')], null));
  expect(found.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^160 tables do not exist in default: t0.*, t1.*, t2.* and 157 more$/),
    expect.stringContaining('no such table/view exists in source: "u"'),
  ]);
});
