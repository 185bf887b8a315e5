/** `scripts/check-bigquery.mjs`, which project owners run against the real service. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { type BigQuery, hasBigQuery, startBigQuery } from '../support/bigquery-emulator/index.ts';

const SCRIPT = 'scripts/check-bigquery.mjs';

interface Run {
  readonly code: number;
  readonly output: string;
}

function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], { env: { ...process.env, ...environment } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

describe('arguments of scripts/check-bigquery.mjs', () => {
  const needed = ['--project', 'p', '--datasets', 'd'];

  it('lists the arguments with --help', async () => {
    expect(await run(['--help'])).toEqual({
      code: 0,
      output: expect.stringMatching(/^usage: node scripts\/check-bigquery\.mjs --project NAME/),
    });
  });

  it.each([
    [['--key', '/no/such/key.json', ...needed], '--key: there is no file /no/such/key.json'],
    [['--key', 'scripts', ...needed], '--key: scripts cannot be read: EISDIR'],
    [['--key', '', ...needed], '--key: there is no file'],
    [['--datasets', 'd'], '--project is missing'],
    [['--project', 'p'], '--datasets is missing'],
    [['--project', '', '--datasets', 'd'], '--project is missing'],
    [['--tables', '1e3', ...needed], '--tables is not a whole number: 1e3'],
    [['--most-bytes', '', ...needed], '--most-bytes is not a whole number: '],
    [['--nonsense', ...needed], "Unknown option '--nonsense'"],
    [['more', ...needed], "Unexpected argument 'more'"],
  ])('exits with 2, the reason and the usage for %j', async (args, message) => {
    const { code, output } = await run(args);
    expect(output.startsWith(message), output).toBe(true);
    expect(output).toContain('usage: node scripts/check-bigquery.mjs');
    expect(output).not.toMatch(/\n {4}at /);
    expect(code).toBe(2);
  });
});

describe.skipIf(!hasBigQuery())('scripts/check-bigquery.mjs', () => {
  let bigquery: BigQuery;
  let folder: string;
  beforeAll(async () => {
    bigquery = await startBigQuery({
      project: 'my-project',
      datasets: { sales: {} },
      sql: `create table sales.customer (id int64, name string); create table sales.place (spot geography, data json);
        insert into sales.customer values (1, 'Ann'), (2, 'Bo');`,
    });
    folder = mkdtempSync(join(tmpdir(), 'svc-key-'));
    writeFileSync(join(folder, 'key.json'), JSON.stringify(bigquery.serviceAccount));
  });
  beforeEach(() => {
    bigquery.requests.length = 0;
  });
  afterAll(async () => {
    await bigquery?.stop();
    rmSync(folder, { recursive: true });
  });

  const check = (...args: readonly string[]): Promise<Run> =>
    run(['--project', 'my-project', '--api-endpoint', bigquery.url, ...args], {
      GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'key.json'),
      BIGQUERY_EMULATOR_HOST: bigquery.url,
    });
  const statements = (): readonly string[] =>
    bigquery.requests.flatMap(({ path, body }) =>
      /\/queries\b/.test(path) && body !== '' ? [(JSON.parse(body) as { query: string }).query] : [],
    );

  it.runIf(DEEP)('estimates the billed bytes by dry runs without reading data', async () => {
    const { code, output } = await check('--datasets', 'sales');
    expect(output).toContain('dry run of the catalog, `sales`.INFORMATION_SCHEMA.TABLES: reads');
    expect(output).toContain('all checks passed');
    expect(output).toMatch(/dry runs: \d{8} bytes would be billed/);
    expect(code).toBe(0);
    expect(statements()).toEqual(['select 1']);
  });

  it('runs selects one at a time, each after its dry run', async () => {
    const { code, output } = await check('--datasets', 'sales', '--run');
    expect(output).toContain('ok     rows of sales.customer: 2 rows');
    expect(output).toContain('ok     rows of sales.place: 0 rows');
    expect(output).toMatch(/billed: \d{8} bytes/);
    expect(output).toContain('all checks passed');
    expect(code).toBe(0);
    expect(statements().every((text) => text.startsWith('select '))).toBe(true);
    expect(output.indexOf('dry run of rows of sales.customer')).toBeLessThan(output.indexOf('ok     rows of sales.customer'));
  });

  it.runIf(DEEP)('fails if a dataset is missing', async () => {
    const missing = await check('--datasets', 'none', '--run');
    expect(missing.output).toMatch(/FAILED dry run of the catalog.*Not found: Dataset/);
    expect(missing.code).toBe(1);
  });

  it.runIf(DEEP)('runs nothing that would bill more than the limit', async () => {
    const { code, output } = await check('--datasets', 'sales', '--run', '--most-bytes', '1000');
    expect(output).toContain('more than --most-bytes');
    expect(code).toBe(1);
    expect(statements()).toEqual(['select 1']);
  });
});
