import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** A project of the other engine with everything that its files can contain. */
const SHOP = fileURLToPath(new URL('fixtures/shop', import.meta.url));

let rates: GraphqlServer;
let service: TestService;
let folder: ProjectFolder;
beforeAll(async () => {
  rates = await startGraphqlServer('type Query { rate(currency: String!): Rate } type Rate { value: Float currency: String }', {
    rate: ({ currency }: { currency: string }) => ({ value: currency.length, currency }),
  });
  const named = {
    HOOK_BASE: 'http://127.0.0.1:1',
    HOOK_SECRET: 's',
    CHECK_HOOK: 'http://127.0.0.1:1',
    RATES_KEY: 'k',
    RATES_URL: rates.url,
  };
  service = await startTestService({ SESSION_PREFIX_ALIASES: 'x-hasura-' }, { ...named, HASURA_GRAPHQL_EVENT_HOOK: 'http://127.0.0.1:1' });
  folder = projectFolder(service);
  cpSync(SHOP, join(folder.root, 'old'), { recursive: true });
});
afterAll(async () => {
  await service?.stop();
  await rates?.close();
  folder?.remove();
});

function bytesBelow(root: string): ReadonlyMap<string, string> {
  const paths = (readdirSync(root, { recursive: true }) as string[]).filter((path) => statSync(join(root, path)).isFile()).sort();
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'latin1')]));
}

it('imports, deploys, exports and deploys again to the same bytes, with every key accounted for', async () => {
  const imported = await folder.svc('import', 'old', '--out', 'new', '--json');
  expect(imported.code, imported.stderr).toBe(3);
  const { buckets, leaves, entries } = imported.json['report'] as {
    buckets: Record<string, number>;
    leaves: number;
    entries: { bucket: string; place: string; note?: string }[];
  };
  expect(Object.values(buckets).reduce((sum, count) => sum + count, 0)).toBe(leaves);
  // Only unsupported features are set aside.
  const aside = entries.filter(
    ({ bucket, accepted }: { bucket: string; accepted?: boolean }) => bucket === 'unsupported' && accepted !== true,
  );
  const unsupported =
    /^(?:sources\[[12]\]|sources\[0\]\.(?:native_queries|logical_models|query_tags|tables\[0\]\.remote_relationships\[2\])|sources\[0\]\.tables\[0\]\.event_triggers\[0\]\.(?:comment|request_transform\.content_type|retry_conf\.tolerance_seconds)|backend_configs|metrics_config)/;
  expect(aside.filter(({ place }) => !unsupported.test(place))).toEqual([]);
  const first = bytesBelow(join(folder.root, 'new'));
  const deployed = await folder.svc('deploy', '--project', 'new', '--with-seeds', '--json');
  expect(deployed.json, JSON.stringify(deployed.json['errors'])).toMatchObject({ ok: true, metadata: { sent: true } });
  const [exported, again] = [
    await folder.svc('metadata', 'export', '--project', 'new', '--json'),
    await folder.svc('deploy', '--project', 'new', '--with-seeds', '--json'),
  ];
  expect(exported.json, exported.stdout).toMatchObject({ ok: true });
  expect(again.json).toMatchObject({ ok: true, migrations: [], metadata: { sent: false } });
  const second = bytesBelow(join(folder.root, 'new'));
  expect([...second.keys()]).toEqual([...first.keys()]);
  for (const [path, bytes] of second) expect(bytes, path).toBe(first.get(path));
});

const TABLES = `- table: {schema: public, name: pupil} # they learn
  object_relationships: [{name: school, using: {foreign_key_constraint_on: school_id}}]
  select_permissions: [{role: u, permission: {columns: [id], filter: {id: {_eq: X-Hasura-User-Id}}}, comment: null}]
- table: school
`;
const UP = 'create table school (id int primary key); create table pupil (id int primary key, school_id int references school);';
const DOWN = 'drop table pupil; drop table school;';
const LAYOUTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'version 2': {
    'config.yaml': 'version: 2\nendpoint: http://localhost:8080\nmetadata_directory: metadata\n',
    'metadata/version.yaml': 'version: 2\n',
    'metadata/tables.yaml': TABLES,
    'metadata/functions.yaml': '[]\n',
    'metadata/query_collections.yaml': '[]\n',
    'migrations/100_pupils/up.sql': UP,
    'migrations/100_pupils/down.sql': DOWN,
  },
  'version 1': {
    'config.yaml': 'endpoint: http://localhost:8080\n',
    'migrations/100_pupils.up.yaml': `- {type: run_sql, args: {sql: "${UP}"}}\n- {type: track_table, args: {name: pupil}}\n`,
    'migrations/100_pupils.down.yaml': `- {type: run_sql, args: {sql: "${DOWN}"}}\n`,
    'migrations/metadata.yaml': `functions: []\ntables:\n${TABLES}`,
  },
  'a single file': {
    'config.yaml': 'version: 3\n',
    'migrations/default/100_pupils/up.sql': UP,
    'metadata.json': JSON.stringify({
      resource_version: 4,
      metadata: {
        version: 3,
        sources: [
          {
            name: 'default',
            kind: 'postgres',
            configuration: { connection_info: { database_url: { from_env: 'HASURA_GRAPHQL_DATABASE_URL' } } },
            tables: [{ table: { schema: 'public', name: 'pupil' } }, { table: { schema: 'public', name: 'school' } }],
          },
        ],
      },
    }),
  },
};

it.runIf(DEEP).each(Object.keys(LAYOUTS))('reaches a stable export for a project of %s', async (layout) => {
  rmSync(join(folder.root, 'older'), { recursive: true, force: true });
  rmSync(join(folder.root, 'made'), { recursive: true, force: true });
  for (const [path, text] of Object.entries(LAYOUTS[layout] ?? {})) folder.write({ [`older/${path}`]: text });
  await service.metadata('clear_metadata', {});
  const imported = await folder.svc('import', 'older', '--out', 'made', '--json');
  expect(imported.code, imported.stdout).toBe(0);
  const first = bytesBelow(join(folder.root, 'made'));
  const deployed = await folder.svc('deploy', '--project', 'made', '--json');
  expect(deployed.json, JSON.stringify(deployed.json['errors'])).toMatchObject({ ok: true, migrations: [{ version: '100' }] });
  expect((await folder.svc('metadata', 'export', '--project', 'made', '--json')).json).toMatchObject({
    ok: true,
    written: [],
    removed: [],
  });
  expect((await folder.svc('deploy', '--project', 'made', '--json')).json).toMatchObject({ ok: true, metadata: { sent: false } });
  expect(bytesBelow(join(folder.root, 'made'))).toEqual(first);
  await service.sql(`${DOWN} delete from svc_catalog.migration where version = 100`, { check_metadata_consistency: false });
});
