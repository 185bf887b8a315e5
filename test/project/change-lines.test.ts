/** Lines of `svc plan`, `svc metadata diff` and `svc metadata apply --dry-run` for each kind of metadata object. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SECTIONS } from '../../src/project/directory/sections.ts';
import type { JsonObject } from '../../src/util/json.ts';
import { command } from '../support/command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-lines-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const trigger = (name: string, retries: number): JsonObject => ({
  name,
  definition: { enable_manual: false, insert: { columns: '*' }, delete: { columns: '*' } },
  retry_conf: { num_retries: retries, interval_sec: 10, timeout_sec: 60 },
  webhook: `https://hooks.example.com/${name}`,
});

/** A document with one object of each kind. @param n differs in each object */
const full = (n: number): JsonObject => ({
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'pg',
      configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
      tables: [
        { table: { schema: 'public', name: 'kept' }, event_triggers: [trigger('on_kept', n)] },
        {
          table: { schema: 'public', name: 'fresh' },
          event_triggers: [trigger('on_fresh', n)],
          select_permissions: [{ role: 'user', permission: { columns: ['id'], filter: {}, limit: n } }],
        },
      ],
      functions: [{ function: { schema: 'public', name: 'search' }, configuration: { custom_name: `search${n}` } }],
    },
  ],
  remote_schemas: [{ name: 'countries', definition: { url: 'https://countries.example.com/graphql', timeout_seconds: n } }],
  actions: [
    {
      name: 'login',
      definition: {
        kind: 'synchronous',
        type: 'mutation',
        handler: `https://hooks.example.com/login${n}`,
        arguments: [],
        output_type: 'Token',
      },
    },
  ],
  custom_types: { objects: [{ name: 'Token', fields: [{ name: `token${n}`, type: 'String' }] }] },
  cron_triggers: [
    { name: 'nightly', webhook: 'https://hooks.example.com/nightly', schedule: `${n} 2 * * *`, include_in_metadata: true, payload: {} },
  ],
  query_collections: [{ name: 'allowed', definition: { queries: [{ name: 'q', query: `query q { kept { id${n} } }` }] } }],
  allowlist: [{ collection: 'allowed', scope: { global: false, roles: [`role${n}`] } }],
  rest_endpoints: [
    { name: 'rows', url: `rows${n}`, methods: ['GET'], definition: { query: { collection_name: 'allowed', query_name: 'q' } } },
  ],
  inherited_roles: [{ role_name: 'boss', role_set: ['user', `role${n}`] }],
  api_limits: { disabled: false, depth_limit: { global: n } },
  graphql_schema_introspection: { disabled_for_roles: [`role${n}`] },
  network: { tls_allowlist: [{ host: 'internal.example.com', suffix: `80${n}` }] },
  opentelemetry: { status: 'enabled', data_types: ['traces'], exporter_otlp: { otlp_traces_endpoint: `https://traces.example.com/${n}` } },
  metrics_config: { analyze_query_variables: n === 1, analyze_response_body: false },
  backend_configs: { other: { uri: `https://other.example.com/${n}` } },
});
const EMPTY: JsonObject = {
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'pg',
      configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
      tables: [{ table: { schema: 'public', name: 'kept' } }],
    },
  ],
};

async function lines(from: JsonObject, to: JsonObject): Promise<readonly string[]> {
  for (const [name, document] of Object.entries({ from, to })) writeFileSync(join(folder, `${name}.json`), JSON.stringify(document));
  const { code, stdout, stderr } = await command(['metadata', 'diff', 'to.json', 'from.json'], { cwd: folder });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trimEnd().split('\n').sort();
}

it('say what is added', async () => {
  expect(Object.keys(full(1))).toEqual(expect.arrayContaining(SECTIONS.map(({ key }) => key)));
  expect(await lines(EMPTY, full(1))).toEqual(
    [
      '+ REST endpoint rows methods ["GET"]; url "rows1"',
      '+ action login kind "synchronous"; handler "https://hooks.example.com/login1"',
      '+ allow-list entry allowed scope {"global":false,"roles":["role1"]}',
      '+ api_limits {"disabled":false,"depth_limit":{"global":1}}',
      '+ backend_configs {"other":{"uri":"https://other.example.com/1"}}',
      '+ cron trigger nightly schedule "1 2 * * *"; webhook "https://hooks.example.com/nightly"',
      '+ event trigger on_fresh on public.fresh operations insert, delete; webhook "https://hooks.example.com/on_fresh"',
      '+ event trigger on_kept on public.kept operations insert, delete; webhook "https://hooks.example.com/on_kept"',
      '+ function public.search',
      '+ graphql_schema_introspection {"disabled_for_roles":["role1"]}',
      '+ inherited role boss role_set ["user","role1"]',
      '+ metrics_config {"analyze_query_variables":true,"analyze_response_body":false}',
      '+ network {"tls_allowlist":[{"host":"internal.example.com","suffix":"801","permissions":null}]}',
      '+ object type Token',
      '+ opentelemetry {"status":"enabled","data_types":["traces"],"exporter_otlp":{"otlp_traces_endpoint":"https://traces.example.com/1","protocol":"http/protobuf"}}',
      '+ query collection allowed',
      '+ remote schema countries url "https://countries.example.com/graphql"',
      '+ select permission user on public.fresh   ! role user gains access',
      '+ table public.fresh',
    ].sort(),
  );
});

it('say what is changed', async () => {
  expect(await lines(full(1), full(2))).toEqual(
    [
      '~ REST endpoint rows url "rows1" -> "rows2"',
      '~ action login handler "https://hooks.example.com/login1" -> "https://hooks.example.com/login2"',
      '~ allow-list entry allowed scope.roles +role2 -role1',
      '~ api_limits depth_limit.global 1 -> 2',
      '~ backend_configs other.uri "https://other.example.com/1" -> "https://other.example.com/2"',
      '~ cron trigger nightly schedule "1 2 * * *" -> "2 2 * * *"',
      '~ event trigger on_fresh on public.fresh retry_conf.num_retries 1 -> 2',
      '~ event trigger on_kept on public.kept retry_conf.num_retries 1 -> 2',
      '~ function public.search configuration.custom_name "search1" -> "search2"',
      '~ graphql_schema_introspection disabled_for_roles +role2 -role1',
      '~ inherited role boss role_set +role2 -role1',
      '~ metrics_config analyze_query_variables true -> false',
      '~ network tls_allowlist +{"host":"internal.example.com","suffix":"802","permissions":null} -{"host":"internal.example.com","suffix":"801","permissions":null}',
      '~ object type Token fields [{"name":"token1","type":"String"}] -> [{"name":"token2","type":"String"}]',
      '~ opentelemetry exporter_otlp.otlp_traces_endpoint "https://traces.example.com/1" -> "https://traces.example.com/2"',
      '~ query collection allowed queries [{"name":"q","query":"query q { kept { id1 } }"}] -> [{"name":"q","query":"query q { kept { id2 } }"}]',
      '~ remote schema countries timeout_seconds 1 -> 2',
      '~ select permission user on public.fresh limit 1 -> 2',
    ].sort(),
  );
});

it('say what is removed, with the event triggers of removed tables', async () => {
  expect(await lines(full(1), EMPTY)).toEqual(
    [
      'REST endpoint rows',
      'action login',
      'allow-list entry allowed',
      'api_limits',
      'backend_configs',
      'cron trigger nightly',
      'event trigger on_fresh on public.fresh',
      'event trigger on_kept on public.kept',
      'function public.search',
      'graphql_schema_introspection',
      'inherited role boss',
      'metrics_config',
      'network',
      'object type Token',
      'opentelemetry',
      'query collection allowed',
      'remote schema countries',
      'select permission user on public.fresh',
      'table public.fresh',
    ]
      .map((line) => `- ${line}`)
      .sort(),
  );
});
