import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFiles } from './files.ts';
import { readMetadata } from './read-metadata.ts';
import { writeMetadata } from './write-metadata.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';

const folder = '/p/metadata';
const at = (texts: Readonly<Record<string, string>>) => ({
  folder,
  files: projectFiles('/p', new Map(Object.entries(texts).map(([name, text]) => [join(folder, name), text]))),
});
function edited(texts: Readonly<Record<string, string>>, edit: (document: JsonObject) => JsonObject): ReadonlyMap<string, string | null> {
  const place = at(texts);
  const { changes } = writeMetadata(place, edit(readMetadata(place).document));
  return new Map([...changes].map(([path, text]) => [path.slice(folder.length + 1), text]));
}
const mapTables = (document: JsonObject, edit: (tables: readonly Json[]) => readonly Json[]): JsonObject => ({
  ...document,
  sources: (document['sources'] as readonly JsonObject[]).map((source) => ({
    ...source,
    tables: [...edit(isJsonArray(source['tables']) ? source['tables'] : [])],
  })),
});

it.each([
  ['four columns', '    ', '    '],
  ['two columns and lists at their keys', '  ', ''],
])('keeps an indentation of %s in a file that is edited', (_, deeper, list) => {
  const text = `- name: default
  kind: pg
  configuration:
  ${deeper}connection_info:
  ${deeper}${deeper}database_url: {from_env: U}
  tables:
  ${list}- table:
  ${list}  ${deeper}schema: public
  ${list}  ${deeper}name: a
`;
  const changes = edited({ 'databases/databases.yaml': text }, (document) =>
    mapTables(document, (tables) => tables.map((table) => (isJsonObject(table) ? { ...table, is_enum: true } : table))),
  );
  expect(changes.get('databases/databases.yaml')).toBe(`${text}  ${list}  is_enum: true\n`);
});

it('indents the items of a list that was empty by two columns', () => {
  const changes = edited(
    { 'databases/databases.yaml': '[]\n', 'actions.yaml': 'actions: []\ncustom_types: {}\n', 'actions.graphql': '' },
    (document) => ({
      ...document,
      actions: [{ name: 'ping', definition: { handler: 'http://a', output_type: 'String', type: 'query' } }],
    }),
  );
  expect(changes.get('actions.yaml')).toContain('actions:\n  - name: ping\n    definition:\n      handler: http://a\n');
});

it('keeps every table in its file when one of a list with duplicates is removed', () => {
  const include = ['a', 'odd', 'b', 'odd2', 'c'].map((name) => `- "!include ${name}.yaml"\n`).join('');
  const changes = edited(
    {
      'databases/databases.yaml': '- name: default\n  kind: pg\n  configuration: {}\n  tables: "!include tables.yaml"\n',
      'databases/tables.yaml': include,
      'databases/a.yaml': 'table: {schema: public, name: a} # first\n',
      'databases/odd.yaml': 'is_enum: true\n',
      'databases/b.yaml': 'table: {schema: public, name: b}\n',
      'databases/odd2.yaml': 'is_enum: true\n',
      'databases/c.yaml': 'table: {schema: public, name: c}\n',
    },
    (document) =>
      mapTables(document, (tables) =>
        tables
          .filter((_, i) => i !== 0)
          .map((table) => (isJsonObject(table) && nameOf(table) === 'c' ? { ...table, is_enum: true } : table)),
      ),
  );
  expect([...changes]).toEqual([
    ['databases/tables.yaml', include.replace('- "!include a.yaml"\n', '')],
    ['databases/c.yaml', 'table: {schema: public, name: c}\nis_enum: true\n'],
    ['databases/a.yaml', null],
  ]);
});

it('removes the comment that accepts a warning together with its permission, and keeps the others', () => {
  const text = `table: {schema: public, name: a}
insert_permissions:
  # of the app
  # svc-lint-accept: always-true guests may write
  - role: guest
    permission: {columns: [], check: {}}
  # svc-lint-accept: always-true users may write
  - role: user
    permission: {columns: [], check: {}}
`;
  const texts = {
    'databases/databases.yaml': '- name: default\n  kind: pg\n  configuration: {}\n  tables:\n    - "!include a.yaml"\n',
    'databases/a.yaml': text,
  };
  const without = (removed: string): string | null | undefined =>
    edited(texts, (document) =>
      mapTables(document, (tables) =>
        tables.map((table) => {
          const { insert_permissions: list } = table as { readonly insert_permissions: readonly JsonObject[] };
          return { ...(table as JsonObject), insert_permissions: list.filter(({ role }) => role !== removed) };
        }),
      ),
    ).get('databases/a.yaml');
  expect(without('guest')).toBe(text.replace(/ {2}# svc-lint-accept: always-true guests[\s\S]*?(?= {2}# svc)/, ''));
  expect(without('user')).toBe(text.replace(/ {2}# svc-lint-accept: always-true users[\s\S]*/, ''));
});

function nameOf(table: JsonObject): Json | undefined {
  return isJsonObject(table['table']) ? table['table']['name'] : undefined;
}

it('writes sources to a file that is empty, but to none that cannot be read', () => {
  const document = { version: 3, sources: [{ name: 'a', kind: 'pg', configuration: {}, tables: [] }] };
  const remotes = { 'remote_schemas.yaml': '- "!include r.yaml"\n', 'r.yaml': 'name: r\ndefinition: {url: http://a}\n' };
  const { changes } = writeMetadata(at({ ...remotes, 'databases/databases.yaml': '# none yet\n' }), document);
  expect(changes.get(join(folder, 'databases/databases.yaml'))).toContain('name: a');
  expect(changes.get(join(folder, 'r.yaml'))).toBeNull();
  expect(() => writeMetadata(at({ 'databases/databases.yaml': '- {name: a\n' }), document)).toThrow('databases.yaml');
});
