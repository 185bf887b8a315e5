import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { backends } from '../../databases/index.ts';
import { kindsOf } from '../../metadata/kinds.ts';
import { openProject } from '../../project/project.ts';
import { type ServerClient, ServerError } from '../../project/server-client.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import { keepInStep } from './keep-in-step.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-keep-'));
  writeFileSync(join(root, 'config.yaml'), 'version: 3\nmetadata_file: metadata.json\n');
});
afterEach(() => rmSync(root, { recursive: true }));

const documentOf = (...roles: string[]): JsonObject => ({
  version: 3,
  sources: [],
  ...(roles.length === 0 ? {} : { inherited_roles: roles.map((name) => ({ role_name: name, role_set: ['user'] })) }),
});
const write = (...roles: string[]): void => writeFileSync(join(root, 'metadata.json'), JSON.stringify(documentOf(...roles)));
const written = (): Json => JSON.parse(readFileSync(join(root, 'metadata.json'), 'utf8')) as Json;

/** A service that keeps what it is given, but for documents with the role `wrong`. */
class Service {
  metadata = documentOf();
  readonly client = {
    metadata: (type: string, args: Json): Promise<Json> => {
      if (type === 'export_metadata') return Promise.resolve({ resource_version: 1, metadata: this.metadata });
      if (type === 'get_inconsistent_metadata') return Promise.resolve({ inconsistent_objects: [] });
      const { metadata } = args as { readonly metadata: JsonObject };
      if (JSON.stringify(metadata).includes('wrong')) throw new ServerError(400, { code: 'bad-request', error: 'a role is wrong' });
      this.metadata = metadata;
      return Promise.resolve({ inconsistent_objects: [] });
    },
  } as unknown as ServerClient;
}

it('writes once to the files what is changed in the service, also where the service does not take them', async () => {
  const service = new Service();
  const inStep = keepInStep(service.client, kindsOf(backends));
  const keep = (): Promise<string> => inStep.keep(openProject(root, {}, {}));
  write();
  await inStep.agree();
  service.metadata = documentOf('clicked');
  write('wrong');
  await expect(keep()).rejects.toThrow('a role is wrong');
  expect(written()).toEqual(documentOf('wrong', 'clicked'));
  // Whoever takes it out of the files has seen it there.
  write('right');
  expect(await keep()).toBe('metadata: 2 changes');
  expect([written(), service.metadata]).toEqual([documentOf('right'), documentOf('right')]);
});
