import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { command } from '../support/command.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';

let collector: Server;
let project: ProjectFolder;
const received: string[] = [];

beforeAll(async () => {
  collector = createServer((request, response) => {
    received.push(JSON.stringify([request.url, request.headers]));
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  project = projectFolder({ url: 'http://localhost:1' });
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  project.write({
    'config.yaml': 'version: 3\nmetadata_file: metadata.json\n',
    '.env': 'OWN=own-value\nBOTH=own-value-of-both\n',
    'metadata.json': JSON.stringify({
      version: 3,
      sources: [],
      remote_schemas: [
        { name: 'path', definition: { url: `${url}/path/{{SHELL_ONLY}}` } },
        { name: 'setting', definition: { url: `${url}/setting/{{SVC_GRAPHQL_ADMIN_SECRET}}` } },
        { name: 'header', definition: { url: `${url}/header`, headers: [{ name: 'a', value_from_env: 'SHELL_ONLY' }] } },
        { name: 'own', definition: { url: `${url}/own/{{OWN}}/{{BOTH}}` } },
        { name: 'address', definition: { url_from_env: 'ADDRESS' } },
      ],
    }),
  });
});
afterAll(() => {
  project.remove();
  collector.close();
});

it('sends no variable of the shell to an address that the files of a project name', async () => {
  const address = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/address`;
  const env = { SHELL_ONLY: 'shell-value', BOTH: 'shell-value', SVC_GRAPHQL_ADMIN_SECRET: 'shell-value', ADDRESS: address };
  const ran = await command(['schema', '--role', 'user', '--allow-inconsistent'], { cwd: project.root, env });
  expect(ran.stderr).toContain('SHELL_ONLY of the environment is not sent to an address of the project: write it to .env');
  expect(received.some((each) => each.includes('/own/own-value/own-value-of-both'))).toBe(true);
  expect(received.some((each) => each.includes('/address'))).toBe(true);
  expect(received.filter((each) => each.includes('shell-value'))).toEqual([]);
});
