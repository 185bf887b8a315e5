/** Random requests to the new kind, compared with the naive evaluator of `test/permission-safety`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import initSqlJs from 'sql.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Backend } from '../../src/backend/backend.ts';
import { backends } from '../../src/databases/index.ts';
import { answersAsNaive } from '../permission-safety/answers-as-naive.ts';
import { shareWithRows } from '../permission-safety/of-kind.ts';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { sqlite } from './sqlite/index.ts';

const COUNT = cases(3000, 60);
const PER_WORLD = 60;

let service: TestService;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-new-kind-'));
  service = await startTestService({ OPERATION_CACHE_SIZE: '64', DEV_MODE: 'true' }, {}, undefined, [...backends, sqlite as Backend]);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

it(`answers ${COUNT} random requests like a naive evaluator (seed ${SEED})`, async () => {
  const { Database } = await initSqlJs();
  let files = 0;
  const makeFile = (sql: string): string => {
    const database = new Database();
    database.run(sql);
    const path = join(folder, `${++files}.db`);
    writeFileSync(path, database.export());
    database.close();
    return path;
  };
  const { nonEmpty, answered } = await answersAsNaive({ service, makeFile }, 'sqlite', { all: COUNT, perWorld: PER_WORLD });
  expect(nonEmpty).toBeGreaterThan(DEEP ? shareWithRows(COUNT / PER_WORLD) * answered : 0);
});
