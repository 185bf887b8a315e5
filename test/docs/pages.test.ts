/** Every page of the documentation: its examples run unchanged from top to bottom, and their answers are compared. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { warningsOf } from '../../src/project/lint/rules.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { sample } from '../support/deep.ts';
import { testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { blocksOf } from './blocks.ts';
import { type Environment, environmentOf, runPage } from './page.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const paths = ['README.md', ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((path) => join('docs', path))];
const pages = paths
  .filter((path) => path.endsWith('.md') && !path.startsWith(join('docs', 'adr')))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  // Generated pages have tests of their own for their examples.
  .filter(({ text }) => !/^<!-- (?:generated|Made) by/m.test(text));
const running = pages.filter(({ text }) => /^ *```\S+ (?:run|metadata|setup|sample)\b/m.test(text));

// A page takes some tenths of a second: a short run tests a sample.
describe.each(sample(running, 3))('$path', ({ text }) => {
  const blocks = blocksOf(text);
  const environment = environmentOf(blocks);

  it('has the answers that its examples show', () => (environment === null ? onShared(blocks) : onItsOwn(blocks, environment)));
});

let shared: TestService;
/** The metadata before any page. */
let initial: Json;

beforeAll(async () => {
  shared = await startTestService();
  initial = await shared.metadata('export_metadata', {});
});
afterAll(() => shared.stop());

async function onShared(blocks: Parameters<typeof runPage>[0]): Promise<void> {
  await shared.metadata('replace_metadata', initial);
  await shared.sql('drop schema public cascade; create schema public', { check_metadata_consistency: false });
  await shared.send('/v1/cache/clear', { method: 'POST' });
  await runPage(blocks, shared);
  await expectCleanLint(shared);
}

/** The linter warns of nothing that a page teaches. */
async function expectCleanLint(service: TestService): Promise<void> {
  const document = (await service.metadata('export_metadata', {})) as JsonObject;
  const warnings = warningsOf({ document, files: new Map(), placeOf: () => undefined });
  expect(warnings.map(({ message }) => message)).toEqual([]);
}

/** With the options of the page, and a database for each one that it adds. */
async function onItsOwn(blocks: Parameters<typeof runPage>[0], { options, others }: Environment): Promise<void> {
  const database = await testDatabase();
  const named = Object.entries(others).map(([name, value]) => [name, value.startsWith('postgres://') ? database.url : value]);
  const environment: Environment = { options, others: Object.fromEntries(named) as Environment['others'] };
  const service = await startTestService(options, environment.others);
  try {
    await runPage(blocks, service, environment);
    await expectCleanLint(service);
  } finally {
    await service.stop();
    await database.drop();
  }
}
