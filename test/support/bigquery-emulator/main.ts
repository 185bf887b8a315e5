/**
 * `npx tsx main.ts [--port N] [--project NAME] [--location NAME] [--dataset NAME]... [--json FILE] [--sql FILE]`: runs the emulator until
 * it is stopped. Prints its address and the service account's key file as one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type DatasetFixture, startBigQuery } from './index.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    project: { type: 'string', default: 'svc-test' },
    location: { type: 'string', default: 'US' },
    dataset: { type: 'string', multiple: true, default: [] },
    /** Tables by dataset and name. */
    json: { type: 'string' },
    sql: { type: 'string' },
  },
});
const fixtures = values.json === undefined ? {} : (JSON.parse(readFileSync(values.json, 'utf8')) as Record<string, DatasetFixture>);
const bigquery = await startBigQuery({
  port: Number(values.port),
  project: values.project,
  location: values.location,
  datasets: { ...Object.fromEntries(values.dataset.map((name) => [name, {}])), ...fixtures },
  ...(values.sql === undefined ? {} : { sql: readFileSync(values.sql, 'utf8') }),
});
const { url, project, location, serviceAccount } = bigquery;
process.stdout.write(`${JSON.stringify({ url, project, location, serviceAccount })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    bigquery.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
