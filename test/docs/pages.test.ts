/** Every page of the documentation: its examples are run as they stand there, from top to bottom, and their answers compared. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { sample } from '../support/deep.ts';
import { testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Block, blocksOf } from './blocks.ts';
import { environmentOf, runPage } from './page.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const paths = ['README.md', ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((path) => join('docs', path))];
/** What is decided, and pages that are made from code, whose examples have tests of their own. */
const isOther = (path: string, text: string): boolean => path.startsWith(join('docs', 'adr')) || /^<!-- (?:generated|Made) by/m.test(text);
const pages = paths
  .filter((path) => path.endsWith('.md'))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  .filter(({ path, text }) => !isOther(path, text));

/** Pages whose service has options of its own: each costs a start, so that a short run has some of them. */
const withOptions = ({ text }: { text: string }): boolean => text.includes('\n```sh service');

let shared: TestService;
/** The metadata and the schema before any page. */
let initial: Json;

beforeAll(async () => {
  shared = await startTestService();
  initial = await shared.metadata('export_metadata', {});
});
afterAll(() => shared.stop());

async function clean(): Promise<void> {
  await shared.metadata('replace_metadata', initial);
  await shared.sql('drop schema public cascade; create schema public', { check_metadata_consistency: false });
}

describe.each(sample(pages, 6, (page) => !withOptions(page)).map(({ path, text }) => ({ path, text })))('$path', ({ text }) => {
  it('says what happens', async () => {
    const blocks: readonly Block[] = blocksOf(text);
    const environment = environmentOf(blocks);
    if (environment === null) {
      if (!blocks.some(({ kind }) => kind !== 'shown' && kind !== '')) return;
      await clean();
      return runPage(blocks, shared);
    }
    const database = await testDatabase();
    const others = Object.entries(environment.others).map(([name, value]) => [
      name,
      value.startsWith('postgres://') ? database.url : value,
    ]);
    const service = await startTestService(environment.options, Object.fromEntries(others));
    try {
      await runPage(blocks, service, { ...environment, others: Object.fromEntries(others) });
    } finally {
      await service.stop();
      await database.drop();
    }
  });
});
