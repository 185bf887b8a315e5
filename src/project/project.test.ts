import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readMetadata } from './directory/read-metadata.ts';
import { openProject, type ProjectFlags } from './project.ts';

const root = mkdtempSync(join(tmpdir(), 'svc-settings-'));
afterAll(() => rmSync(root, { recursive: true }));

function settingsOf(files: Readonly<Record<string, string>>, flags: ProjectFlags, environment: Readonly<Record<string, string>>) {
  for (const name of ['config.yaml', '.env']) writeFileSync(join(root, name), files[name] ?? '');
  const { settings, warnings } = openProject(root, flags, environment);
  return { secret: settings.adminSecret, warnings: warnings.filter((warning) => warning.includes('not sent')) };
}

const away = 'endpoint: https://api.example.com\n';
const environment = { SVC_GRAPHQL_ADMIN_SECRET: 'own' };

it.each(['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'])(
  'sends the secret of the environment to a local endpoint of the project: %s',
  (endpoint) => {
    expect(settingsOf({ 'config.yaml': `endpoint: ${endpoint}\n` }, {}, environment)).toEqual({ secret: 'own', warnings: [] });
  },
);

it.each([
  ['SVC_GRAPHQL_ADMIN_SECRET', environment, away],
  ['SVC_GRAPHQL_ADMIN_SECRETS', { SVC_GRAPHQL_ADMIN_SECRETS: '["own"]' }, away],
  ['STAGE_ADMIN_SECRET', { STAGE_ADMIN_SECRET: 'own' }, `${away}admin_secret: {from_env: STAGE_ADMIN_SECRET}\n`],
  ['SVC_GRAPHQL_ADMIN_SECRET', environment, 'endpoint: http://localhost.example.com\n'],
  ['SVC_GRAPHQL_ADMIN_SECRET', environment, 'endpoint: http://127.0.0.1@example.com\n'],
])('does not send %s of the environment to another endpoint that only the project names', (name, variables, config) => {
  const { secret, warnings } = settingsOf({ 'config.yaml': config }, {}, variables);
  expect(secret).toBeNull();
  expect(warnings).toEqual([expect.stringContaining(`the environment variable ${name} is not sent`)]);
});

it('does not treat the .env of the project as a choice of the user', () => {
  const { secret } = settingsOf({ '.env': 'SVC_GRAPHQL_ENDPOINT=https://api.example.com\n' }, {}, environment);
  expect(secret).toBeNull();
  const stages = 'environments: {a: {endpoint: "https://api.example.com"}}\n';
  expect(settingsOf({ 'config.yaml': stages, '.env': 'SVC_GRAPHQL_ENV=a\n' }, {}, environment).secret).toBeNull();
});

it('sends the secret of the environment to an endpoint or an environment of the project that the user names', () => {
  const stages = 'environments: {a: {endpoint: "https://api.example.com", admin_secret: {from_env: STAGE_ADMIN_SECRET}}}\n';
  for (const [config, flags, variables] of [
    [away, { endpoint: 'https://other.example.com' }, environment],
    [away, {}, { ...environment, SVC_GRAPHQL_ENDPOINT: 'https://other.example.com' }],
    [stages, { env: 'a' }, { STAGE_ADMIN_SECRET: 'own' }],
    [stages, {}, { STAGE_ADMIN_SECRET: 'own', SVC_GRAPHQL_ENV: 'a' }],
  ] as const)
    expect(settingsOf({ 'config.yaml': config }, flags, variables)).toEqual({ secret: 'own', warnings: [] });
});

it('refuses a metadata_file outside of the project', () => {
  const opened = (file: string) => () => {
    writeFileSync(join(root, 'config.yaml'), `version: 3\nmetadata_file: ${file}\n`);
    return openProject(root, {}, {}).metadata.file;
  };
  const problem = { code: 'outside', message: 'metadata_file is outside of the project', file: 'config.yaml' };
  for (const file of ['../home/docker.json', 'metadata/../../docker.json', '/etc/docker.json'])
    expect(opened(file)).toThrow(expect.objectContaining({ problems: [problem] }));
  expect(opened('metadata/../all.json')()).toBe(join(root, 'all.json'));
});

it('refuses a metadata_file that is a link out of the project', () => {
  const outside = mkdtempSync(join(tmpdir(), 'svc-outside-'));
  writeFileSync(join(outside, 'docker.json'), '{"sources": []}');
  symlinkSync(join(outside, 'docker.json'), join(root, 'linked.json'));
  writeFileSync(join(root, 'config.yaml'), 'version: 3\nmetadata_file: linked.json\n');
  const { metadata } = openProject(root, {}, {});
  expect(() => readMetadata(metadata)).toThrow('this file is a link out of the project');
  rmSync(outside, { recursive: true });
});

it('prefers the endpoint of the chosen environment to the general one in .env', () => {
  const stage = 'environments: {a: {endpoint: "https://api.example.com", admin_secret: {from_env: STAGE_ADMIN_SECRET}}}\n';
  const dotEnv = 'SVC_GRAPHQL_ENDPOINT=http://localhost:8080\n';
  const endpointOf = (flags: ProjectFlags, variables: Readonly<Record<string, string>> = {}): string => {
    for (const [name, content] of Object.entries({ 'config.yaml': stage, '.env': dotEnv })) writeFileSync(join(root, name), content);
    return openProject(root, flags, variables).settings.endpoint;
  };
  expect(endpointOf({ env: 'a' })).toBe('https://api.example.com');
  expect(endpointOf({})).toBe('http://localhost:8080');
  expect(endpointOf({ env: 'a', envfile: '.env' })).toBe('http://localhost:8080');
  expect(endpointOf({ env: 'a' }, { SVC_GRAPHQL_ENDPOINT: 'http://own:1' })).toBe('http://own:1');
  expect(endpointOf({ env: 'a', endpoint: 'http://named:2' })).toBe('http://named:2');
});

it("sends the secret of the project's .env to its endpoint, even if the environment has another", () => {
  const files = { 'config.yaml': away, '.env': 'SVC_GRAPHQL_ADMIN_SECRET=of-the-project\n' };
  expect(settingsOf(files, {}, {})).toEqual({ secret: 'of-the-project', warnings: [] });
  expect(settingsOf(files, {}, environment).secret).toBe('of-the-project');
});

it('prefers the secret of the chosen environment to the general one in .env, and never sends that instead', () => {
  const stage = 'environments: {a: {endpoint: "https://api.example.com", admin_secret: {from_env: STAGE_ADMIN_SECRET}}}\n';
  const general = 'SVC_GRAPHQL_ADMIN_SECRET=general\n';
  const secretOf = (flags: ProjectFlags, variables: Readonly<Record<string, string>>, dotEnv = general) =>
    settingsOf({ 'config.yaml': stage, '.env': dotEnv }, flags, variables).secret;
  expect(secretOf({ env: 'a' }, { STAGE_ADMIN_SECRET: 'stage' })).toBe('stage');
  expect(secretOf({ env: 'a' }, {}, `${general}STAGE_ADMIN_SECRET=stage\n`)).toBe('stage');
  expect(secretOf({ env: 'a' }, {})).toBeNull();
  expect(secretOf({ env: 'a' }, { STAGE_ADMIN_SECRET: 'stage', ...environment })).toBe('own');
  expect(secretOf({ env: 'a', envfile: '.env' }, { STAGE_ADMIN_SECRET: 'stage' })).toBe('general');
  expect(secretOf({}, {})).toBe('general');
});

it('names the variable to set if there is no secret', () => {
  writeFileSync(
    join(root, 'config.yaml'),
    'environments: {a: {endpoint: "https://api.example.com", admin_secret: {from_env: STAGE_ADMIN_SECRET}}}\n',
  );
  writeFileSync(join(root, '.env'), '');
  const originOf = (flags: ProjectFlags) => openProject(root, flags, {}).settings.adminSecretOrigin;
  expect([originOf({ env: 'a' }), originOf({})]).toEqual(['STAGE_ADMIN_SECRET', 'SVC_GRAPHQL_ADMIN_SECRET']);
});
