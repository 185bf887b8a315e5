/** Application default credentials against fake token servers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FakeResponse, type FakeServerRequest, type FakeServer, startFakeServer } from '../../../../test/support/fake-server.ts';
import type { SvcError } from '../../../errors/svc-error.ts';
import { createOutboundClient, type OutboundClient } from '../../../http-client/client.ts';
import type { JsonObject } from '../../../util/json.ts';
import { targetOf } from '../target.ts';
import { BigQueryClient } from './client.ts';
import { textCells } from './answers.ts';

const DONE = { jobReference: { projectId: 'p', jobId: 'j' }, jobComplete: true };
let server: FakeServer;
let http: OutboundClient;
let folder: string;
let tokens: (request: FakeServerRequest) => FakeResponse | null;
const clients: BigQueryClient[] = [];

beforeAll(async () => {
  server = await startFakeServer();
  server.answer = (request) => (request.path.startsWith('/bigquery') ? { body: DONE } : tokens(request));
  http = createOutboundClient();
  folder = mkdtempSync(join(tmpdir(), 'svc-credentials-'));
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close(50)));
  server.requests.length = 0;
});
afterAll(async () => {
  await http.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

const file = (name: string, content: JsonObject | string): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

function clientOf(environment: Readonly<Record<string, string>>, endpoint = server.url, using = http): BigQueryClient {
  const target = targetOf(
    {
      serviceAccount: { kind: 'application-default' },
      projectId: { kind: 'template', text: 'p' },
      datasets: { kind: 'names', names: ['d'] },
      apiEndpoint: { kind: 'template', text: endpoint },
    },
    { environment: { BIGQUERY_EMULATOR_HOST: server.url, ...environment } },
  );
  const options = {
    location: undefined,
    maximumBytesBilled: undefined,
    retryBaseDelayMs: 1,
    retryLimit: 1,
    maxStatements: 2,
    waitTimeoutMs: 5_000,
  };
  const client = new BigQueryClient(using, target, options);
  clients.push(client);
  return client;
}

const run = (client: BigQueryClient): Promise<object> => client.run({ text: 'select 1', parameters: [] }, {}, () => textCells);
const failure = async (work: () => Promise<object>): Promise<SvcError> => {
  try {
    await work();
  } catch (error) {
    return error as SvcError;
  }
  throw new Error('it did not fail');
};
const sent = (): readonly string[] => server.requests.map(({ method, path }) => `${method} ${path.split('?')[0] as string}`);
const form = (index: number): JsonObject => Object.fromEntries(new URLSearchParams(server.requests[index]?.body));
const bearer = (): string | undefined => server.requests.at(-1)?.headers.authorization;
const BIGQUERY = 'https://www.googleapis.com/auth/bigquery';

describe('metadata server', () => {
  it('uses the token of the platform until one minute before it expires', async () => {
    let given = 0;
    let lifetime = 3600;
    tokens = () => ({ headers: { 'metadata-flavor': 'Google' }, body: { access_token: `m${++given}`, expires_in: lifetime } });
    const client = clientOf({ GCE_METADATA_HOST: new URL(server.url).host });
    await Promise.all([run(client), run(client)]);
    await run(client);
    expect(given).toBe(1);
    expect(bearer()).toBe('Bearer m1');
    const [asked] = server.requests;
    expect(asked?.path).toBe(`/computeMetadata/v1/instance/service-accounts/default/token?scopes=${encodeURIComponent(BIGQUERY)}`);
    expect(asked?.headers['metadata-flavor']).toBe('Google');
    lifetime = 59;
    const other = clientOf({ GCE_METADATA_HOST: new URL(server.url).host });
    await run(other);
    await run(other);
    expect(given).toBe(3);
  });

  it('refuses a server that does not identify itself as a metadata server', async () => {
    tokens = () => ({ body: { access_token: 'm', expires_in: 3600 } });
    expect((await failure(() => run(clientOf({ GCE_METADATA_HOST: new URL(server.url).host })))).internal).toMatch(/metadata server/);
    expect(sent()).not.toContain('POST /bigquery/v2/projects/p/queries');
  });

  it('calls the metadata server only at GCE_METADATA_HOST, subject to the rules for addresses', async () => {
    expect((await failure(async () => clientOf({}))).message).toMatch(/GOOGLE_APPLICATION_CREDENTIALS.*GCE_METADATA_HOST/);
    for (const host of ['http://x', 'a/b', 'a@b', 'a?b', '']) {
      expect((await failure(async () => clientOf({ GCE_METADATA_HOST: host }))).internal ?? '').toMatch(/GCE_METADATA_HOST/);
    }
    const strict = createOutboundClient({ refusePrivate: true });
    const error = await failure(() => run(clientOf({ GCE_METADATA_HOST: new URL(server.url).host }, server.url, strict)));
    await strict.close();
    expect(error.internal).toContain('private IP address');
  });
});

describe('GOOGLE_APPLICATION_CREDENTIALS', () => {
  it('exchanges the file of an authorized user for a token and reads it again when it changes', async () => {
    tokens = ({ body }) => ({ body: { access_token: `u-${new URLSearchParams(body).get('refresh_token') ?? ''}`, expires_in: 59 } });
    const user = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r1', token_uri: `${server.url}/token` };
    const path = file('user.json', user);
    const client = clientOf({ GOOGLE_APPLICATION_CREDENTIALS: path });
    await run(client);
    expect(form(0)).toEqual({ grant_type: 'refresh_token', client_id: 'c', client_secret: 's', refresh_token: 'r1' });
    expect(bearer()).toBe('Bearer u-r1');
    file('user.json', { ...user, refresh_token: 'r2' });
    await run(client);
    expect(bearer()).toBe('Bearer u-r2');
  });

  const external = (more: JsonObject): JsonObject => ({
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/x',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${server.url}/sts`,
    ...more,
  });
  const exchange = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/x',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  };

  it('exchanges the current token in the file of a workload identity', async () => {
    tokens = ({ body }) => ({ body: { access_token: `x-${new URLSearchParams(body).get('subject_token') ?? ''}`, expires_in: 59 } });
    const source = file('subject', 's1\n');
    const path = file('external.json', external({ credential_source: { file: source } }));
    const client = clientOf({ GOOGLE_APPLICATION_CREDENTIALS: path });
    await run(client);
    expect(form(0)).toEqual({ ...exchange, scope: BIGQUERY, subject_token: 's1' });
    file('subject', 's2');
    await run(client);
    expect(bearer()).toBe('Bearer x-s2');
  });

  it('exchanges the token from the URL of a workload identity and impersonates a service account', async () => {
    const expireTime = new Date(Date.now() + 3_600_000).toISOString();
    tokens = ({ path }) => {
      if (path === '/subject') return { body: { value: 's3' } };
      if (path === '/sts') return { body: { access_token: 'federated', expires_in: 3600 } };
      return { body: { accessToken: 'account', expireTime } };
    };
    const path = file(
      'impersonating.json',
      external({
        credential_source: {
          url: `${server.url}/subject`,
          headers: { 'x-who': 'me' },
          format: { type: 'json', subject_token_field_name: 'value' },
        },
        service_account_impersonation_url: `${server.url}/v1/accounts/a:generateAccessToken`,
        service_account_impersonation: { token_lifetime_seconds: 1800 },
      }),
    );
    const client = clientOf({ GOOGLE_APPLICATION_CREDENTIALS: path });
    await run(client);
    await run(client);
    expect(sent()).toEqual([
      'GET /subject',
      'POST /sts',
      'POST /v1/accounts/a:generateAccessToken',
      'POST /bigquery/v2/projects/p/queries',
      'POST /bigquery/v2/projects/p/queries',
    ]);
    expect(server.requests[0]?.headers['x-who']).toBe('me');
    expect(form(1)).toMatchObject({ scope: 'https://www.googleapis.com/auth/cloud-platform', subject_token: 's3' });
    expect(server.requests[2]?.headers.authorization).toBe('Bearer federated');
    expect(JSON.parse(server.requests[2]?.body ?? '')).toEqual({ scope: [BIGQUERY], lifetime: '1800s' });
    expect(bearer()).toBe('Bearer account');
  });

  it('refuses an invalid file, or one of an unsupported type, with the reason', async () => {
    const refusal = async (content: JsonObject | string): Promise<string> => {
      const { message, internal } = await failure(async () => clientOf({ GOOGLE_APPLICATION_CREDENTIALS: file('wrong.json', content) }));
      return `${message} ${typeof internal === 'string' ? internal : ''}`;
    };
    expect(await refusal('no json')).toContain('GOOGLE_APPLICATION_CREDENTIALS');
    expect(await refusal({ type: 'gdch_service_account' })).toContain('"gdch_service_account"');
    expect(await refusal(external({ credential_source: { environment_id: 'aws1' } }))).toContain('credential_source');
    expect(await refusal(external({ credential_source: { executable: { command: 'x' } } }))).toContain('credential_source');
    expect(await refusal({ type: 'authorized_user', client_id: 'c' })).toContain('"client_secret"');
    const missing = await failure(async () => clientOf({ GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'none.json') }));
    expect(missing).toMatchObject({ code: 'not-found', message: expect.stringContaining('ENOENT') });
  });

  it('fails statements without a token, with the reason of the server', async () => {
    tokens = () => ({ status: 400, body: { error: 'invalid_grant', error_description: 'the token was revoked' } });
    const path = file('revoked.json', {
      type: 'authorized_user',
      client_id: 'c',
      client_secret: 's',
      refresh_token: 'r',
      token_uri: `${server.url}/token`,
    });
    const error = await failure(() => run(clientOf({ GOOGLE_APPLICATION_CREDENTIALS: path })));
    expect(error.internal).toBe('the application default credentials could not get an access token (status 400): the token was revoked');
    tokens = () => ({ status: 503 });
    expect(await failure(() => run(clientOf({ GOOGLE_APPLICATION_CREDENTIALS: path })))).toMatchObject({ status: 503 });
  });
});

it('sends tokens of the platform only to Google, or to the emulator that the environment names', async () => {
  const host = { GCE_METADATA_HOST: '127.0.0.1:1' };
  for (const endpoint of ['https://example.com', 'http://bigquery.googleapis.com', 'https://bigquery.googleapis.com.example.com']) {
    expect((await failure(async () => clientOf(host, endpoint))).message).toContain('api_endpoint');
  }
  for (const endpoint of ['https://bigquery.googleapis.com', 'https://bigquery-mine.p.googleapis.com/']) clientOf(host, endpoint);
});
