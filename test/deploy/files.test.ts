/** Files for the deployment of the service: references must resolve, and images follow best practices. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DockerfileParser, type From, type Instruction } from 'dockerfile-ast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { optionsPage } from '../../src/config/help.ts';
import { startTestService, type TestService } from '../support/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };
const yamlFiles = ['deploy/compose', 'deploy/kubernetes'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.yaml') || name.endsWith('.yml'))
    .map((name) => join(folder, name)),
);

describe('the Dockerfile', () => {
  const dockerfile = DockerfileParser.parse(read('Dockerfile'));
  const instructions = dockerfile.getInstructions();
  const all = (keyword: string): readonly Instruction[] => instructions.filter((each) => each.getKeyword() === keyword);
  const argumentsOf = (each: Instruction | undefined): readonly string[] =>
    each?.getArguments().map((argument) => argument.getValue()) ?? [];

  it('uses base images with a fixed version', () => {
    const images = [...argumentsOf(all('ARG')[0]), ...dockerfile.getFROMs().map((from: From) => from.getImage() ?? '')];
    expect(images).toEqual([expect.stringMatching(/^NODE_IMAGE=node:\d+\.\d+\.\d+-[a-z]+-slim$/), `\${NODE_IMAGE}`, `\${NODE_IMAGE}`]);
  });

  it('runs as an unprivileged user, in the form that forwards signals', () => {
    expect(argumentsOf(all('USER').at(-1))).toEqual(['1000:1000']);
    for (const keyword of ['ENTRYPOINT', 'CMD']) {
      const text = all(keyword).at(-1)?.getRange();
      const line = read('Dockerfile').split('\n')[text?.start.line ?? -1] ?? '';
      expect(JSON.parse(line.slice(keyword.length))).toEqual(keyword === 'CMD' ? ['serve'] : ['node', 'dist/cli/main.js']);
    }
    expect(argumentsOf(all('STOPSIGNAL')[0])).toEqual(['SIGTERM']);
    expect(read('Dockerfile')).toMatch(/^HEALTHCHECK .*CMD \["node", "dist\/cli\/main\.js", "health"\]$/m);
  });

  it('copies files that its user can read, who is not the build user', () => {
    for (const folder of ['dist', 'dist/console']) expect(statSync(join(root, folder)).mode & 0o055, folder).toBe(0o055);
  });

  it('has absolute folders, no downloads and no secrets', () => {
    for (const folder of all('WORKDIR')) expect(argumentsOf(folder)[0]).toMatch(/^\//);
    expect(all('ADD')).toEqual([]);
    for (const each of [...all('ARG'), ...all('ENV')]) expect(argumentsOf(each).join(' ')).not.toMatch(/secret|password|token/i);
    const label = argumentsOf(all('LABEL')[0]).find((each) => each.includes('image.version'));
    expect(label).toContain(version);
  });

  it('copies existing files that .dockerignore permits', () => {
    const passes = new Set(
      read('.dockerignore')
        .split('\n')
        .filter((line) => line.startsWith('!'))
        .map((line) => line.slice(1)),
    );
    for (const copy of all('COPY')) {
      const words = argumentsOf(copy);
      if (copy.getTextContent().includes('--from=')) continue;
      for (const from of words.slice(0, -1)) {
        expect(existsSync(join(root, from)), from).toBe(true);
        if (from !== '.') expect(passes, from).toContain(from.split('/')[0]);
      }
    }
    for (const path of passes) expect(existsSync(join(root, path)), path).toBe(true);
  });
});

describe('files for Compose and Kubernetes', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ ENABLED_APIS: 'metadata,graphql,metrics' });
  });
  afterAll(() => service.stop());

  it.each(yamlFiles)('%s is valid YAML and names existing options', (file) => {
    const text = read(file);
    for (const document of parseAllDocuments(text)) expect(document.errors).toEqual([]);
    const known = optionsPage();
    for (const [variable] of text.matchAll(/SVC_GRAPHQL_[A-Z0-9_]+/g)) expect(known).toContain(`\`${variable}\``);
    for (const [, tag] of text.matchAll(/(?:svc-graphql:|newTag: )(\S+)/g)) expect(tag).toBe(version);
  });

  it('probe existing paths', async () => {
    const paths = yamlFiles.flatMap((file) =>
      [...read(file).matchAll(/(?:path|metrics_path): (\/[^,}\s]+)/g)].map(([, path = '']) => path),
    );
    const routes = [...new Set(paths)].filter((path) => !path.startsWith('/var/'));
    expect(routes.sort()).toEqual(['/livez', '/readyz', '/v1/metrics']);
    for (const path of routes) expect((await service.send(path)).status).toBe(200);
  });

  it('have an example of each secret and of the mounted files', () => {
    const file = 'deploy/compose/compose.yaml';
    const secrets = [...read(file).matchAll(/\{file: secrets\/(\w+)\}/g)].map(([, name = '']) => name);
    expect(secrets.sort()).toEqual(readdirSync(join(root, 'deploy/compose/secrets.example')).sort());
    const mounted = [...read(file).matchAll(/^ +- (\.[^:]+):/gm)].map(([, path = '']) => path);
    expect(mounted.length).toBeGreaterThan(3);
    for (const path of mounted) expect(existsSync(resolve(root, dirname(file), path)), path).toBe(true);
  });

  it('have a longer grace period than the service needs to stop', () => {
    const settings = read('deploy/kubernetes/kustomization.yaml');
    const seconds = (name: string): number => Number(new RegExp(`${name}=(\\d+)`).exec(settings)?.[1]);
    const least = seconds('SHUTDOWN_DELAY') + seconds('GRACEFUL_SHUTDOWN_TIMEOUT') + 10;
    for (const file of ['deployment.yaml', 'deployment-internal.yaml']) {
      const grace = Number(/terminationGracePeriodSeconds: (\d+)/.exec(read(`deploy/kubernetes/${file}`))?.[1]);
      expect(grace).toBeGreaterThanOrEqual(least);
    }
  });
});
