import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** A project of the other engine that has everything its files can hold. */
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
  // Nothing but what is not offered here is put aside.
  const aside = entries.filter(
    ({ bucket, accepted }: { bucket: string; accepted?: boolean }) => bucket === 'unsupported' && accepted !== true,
  );
  const unsupported =
    /^(?:sources\[[12]\]|sources\[0\]\.(?:native_queries|logical_models|query_tags|tables\[0\]\.remote_relationships\[2\])|sources\[0\]\.tables\[0\]\.event_triggers\[0\]\.(?:comment|request_transform\.content_type|retry_conf\.tolerance_seconds)|backend_configs|opentelemetry|metrics_config)/;
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
