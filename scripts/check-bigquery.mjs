// Checks a real project of BigQuery: signs in, reads the catalog of datasets, and runs statements of the shapes that the service sends.
// Everything is read only. Each statement is a dry run first, which is free and says how many bytes it reads.
//
//   node scripts/check-bigquery.mjs --project my-project --datasets sales            the dry runs alone: what --run would bill
//   node scripts/check-bigquery.mjs --project my-project --datasets sales --run      runs the statements too
//
// Signs in with the application default credentials of the environment (docs/bigquery.md), or with --key FILE, the key of a service
// account. Exits with 1 if a check fails, with 2 if an argument is wrong, and runs nothing that would bill more than --most-bytes together (1 GiB).
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ensurePackages } from './ensure-packages.mjs';

const USAGE = `usage: node scripts/check-bigquery.mjs --project NAME --datasets NAME,NAME [--location NAME] [--key FILE] [--run]
       [--tables NUMBER] [--most-bytes NUMBER] [--api-endpoint URL]`;
const OPTIONS = {
  help: { type: 'boolean', default: false },
  project: { type: 'string' },
  datasets: { type: 'string' },
  location: { type: 'string' },
  key: { type: 'string' },
  'api-endpoint': { type: 'string' },
  /** Maximum number of tables of each dataset. */
  tables: { type: 'string', default: '3' },
  'most-bytes': { type: 'string', default: String(1024 ** 3) },
  run: { type: 'boolean', default: false },
};
const { options, keyText } = readArguments();
const { project, datasets, location } = options;
const [mostTables, mostBytes] = [Number(options.tables), Number(options['most-bytes'])];

/** Exits with 2 for an invalid argument, and with 0 for --help. */
function readArguments() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    for (const name of ['project', 'datasets']) if (!values[name]) throw new Error(`--${name} is missing`);
    for (const name of ['tables', 'most-bytes'])
      if (!/^\d{1,15}$/.test(values[name])) throw new Error(`--${name} is not a whole number: ${values[name]}`);
    return { options: values, keyText: values.key === undefined ? null : readKey(values.key) };
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

function readKey(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(error.code === 'ENOENT' ? `--key: there is no file ${path}` : `--key: ${path} cannot be read: ${error.message}`);
  }
}

ensurePackages();
// All imports have to share their modules; `tsImport` would create new ones with each call.
const { register } = await import('tsx/esm/api');
register();
const load = (path) => import(`../src/${path}`);

const [{ connect }, { readCatalog }, { bigquery }, { isKeyType, isOrdered }, { createOutboundClient }, { textOfBytes }] = await Promise.all(
  [
    load('databases/bigquery/connect.ts'),
    load('databases/bigquery/catalog.ts'),
    load('databases/bigquery/index.ts'),
    load('databases/bigquery/families.ts'),
    load('http-client/client.ts'),
    load('util/bytes.ts'),
  ],
);

/** Statements that read no table, with their first cell. */
const FREE = [
  ['a value', 'select 1', '1'],
  [
    'large integers and decimals',
    "select concat(cast(9007199254740993 as string), ' ', cast(numeric '1.50' as string))",
    '9007199254740993 1.5',
  ],
  ['texts of objects', "select concat('{\"a\":', to_json_string('ü\"'), '}')", '{"a":"ü\\""}'],
  ['moments', "select to_json_string(timestamp '2024-01-02 03:04:05.5+00')", '"2024-01-02T03:04:05.500Z"'],
  ['lists in an order', "select string_agg(x, ',' order by (n is null), n desc) from unnest(['a', 'b']) as x with offset as n", 'b,a'],
  [
    'pages for each key',
    'select string_agg(cast(n as string) order by n) from (select n, row_number() over (partition by mod(n, 2) order by n) as r from unnest(generate_array(1, 9)) as n) where r <= 2',
    '1,2,3,4',
  ],
  [
    'keys of a page',
    'select cast(count(*) as string) from unnest([1, 2, 3]) as a where struct(a, a) in (select struct(b, b) from (select b from unnest([1, 2]) as b order by b limit 1))',
    '1',
  ],
  ['places', 'select st_asgeojson(st_geogpoint(1, 2))', '{ "type": "Point", "coordinates": [1, 2] }'],
];
const PAGED_ROWS = 12_000;
const PAGED = `select n, repeat('x', 1000) as x from unnest(generate_array(1, ${PAGED_ROWS})) as n`;

let failures = 0;
function report(name, result, detail = '') {
  console.log(`${result.padEnd(6)} ${name}${detail === '' ? '' : `: ${detail}`}`);
  if (result === 'FAILED') failures += 1;
}

function reasonOf(error) {
  const { internal } = error;
  const told = typeof internal === 'string' ? internal : internal?.error?.message;
  return [error.message, told].filter((part) => part !== undefined).join(': ');
}

async function check(name, work) {
  try {
    report(name, 'ok', (await work()) ?? '');
    return true;
  } catch (error) {
    report(name, 'FAILED', reasonOf(error));
    return false;
  }
}

const statementOf = (text) => ({ text, parameters: [], repeatable: true, columns: 1, layout: { kind: 'root', isList: false } });

const http = createOutboundClient();
let source;
const isConnected = await check(`sign in, and run select 1 in ${project}`, async () => {
  source = await connect(
    {
      serviceAccount: keyText === null ? { kind: 'application-default' } : { kind: 'template', text: keyText },
      projectId: { kind: 'template', text: project },
      datasets: { kind: 'template', text: datasets },
      ...(location === undefined ? {} : { location }),
      ...(options['api-endpoint'] === undefined ? {} : { apiEndpoint: { kind: 'template', text: options['api-endpoint'] } }),
    },
    { sourceName: 'check', environment: process.env, usePreparedStatements: false, maxConnections: 4, http },
  );
});

let sum = 0;
/** Reports what a statement would bill; @returns whether BigQuery accepts it */
async function dryRun(name, statement, values = []) {
  return check(`dry run of ${name}`, async () => {
    const lines = (await source.explain(statement, values, {})).join('\n');
    const [processed, billed] = [/processed: (\d+)/, /at least: (\d+)/].map((pattern) => Number(pattern.exec(lines)?.[1] ?? Number.NaN));
    if (Number.isNaN(processed)) throw new Error('BigQuery does not report bytes');
    sum += billed;
    return `reads ${processed} bytes, bills ${billed}`;
  });
}

/** The values of statements whose only parameters are literals. */
const valuesOf = ({ parameters }) => parameters.map(({ operand, encode }) => encode(operand.value.json));

/** A list of a table's rows, related to the rows of the same table by one of its columns. */
function treeOf({ name, columns }) {
  const shown = columns.slice(0, 6);
  const related = columns.find(({ type }) => isKeyType(type));
  const from = { kind: 'table', name, snapshotBound: true };
  const read = ({ name: column, type }) => ({ kind: 'column', column, type });
  const ordered = columns.find(({ type }) => isOrdered(type));
  const rows = (limit) => ({
    where: { kind: 'constant', value: true },
    distinctOn: [],
    orderBy: ordered === undefined ? [] : [{ term: { kind: 'read', read: read(ordered) }, direction: 'asc', nulls: 'last' }],
    limit,
    offset: null,
  });
  const list = (limit, fields) => ({ kind: 'rows', shape: 'list', from, rows: rows(limit), fields });
  const fields = shown.map((column) => ({ kind: 'read', alias: column.name, read: read(column), jsonPath: null }));
  if (related !== undefined) {
    const join = { columns: [{ local: related.name, remote: related.name }], unique: false };
    fields.push({ kind: 'related', alias: 'related rows', join, query: list(2, fields.slice(0, 1)) });
  }
  return bigquery.compiler({ stringifyNumericTypes: false }).select([{ alias: 'rows', query: list(5, fields) }]);
}

async function checkFree() {
  for (const [name, text, expected] of FREE) {
    await check(name, async () => {
      const { rows } = await source.query(text, []);
      const found = String(rows[0]?.[0]).replace(/\s+/g, ' ');
      if (found.replaceAll(' ', '') !== expected.replaceAll(' ', '')) throw new Error(`the result is ${found} instead of ${expected}`);
    });
  }
  await check('an answer of several pages', async () => {
    const { rows } = await source.query(PAGED, []);
    if (rows.length !== PAGED_ROWS) throw new Error(`it has ${rows.length} rows instead of ${PAGED_ROWS}`);
  });
  for (const [text, code] of [
    ["select cast(x as int64) from unnest(['x']) as x", 'data-exception'],
    ['select nonsense', 'unexpected'],
  ]) {
    await check(`the refusal of ${text}`, async () => {
      const error = await source.query(text, []).then(
        () => undefined,
        (failure) => failure,
      );
      if (error?.code !== code) throw new Error(error === undefined ? 'it is accepted' : `it is ${error.code}: ${reasonOf(error)}`);
    });
  }
}

if (isConnected) {
  const names = datasets.split(',').map((name) => name.trim());
  const texts = [];
  await readCatalog(async (text) => {
    texts.push(text);
    return [];
  }, names);
  for (const text of texts) await dryRun(`the catalog, ${/`\w+`\.INFORMATION_SCHEMA\.\w+/.exec(text)?.[0]}`, statementOf(text));
  for (const [name, text] of [...FREE, ['several pages', PAGED]]) await dryRun(name, statementOf(text));
  if (failures === 0) {
    let isWanted = options.run;
    if (sum > mostBytes) {
      report('the catalog', 'FAILED', `it bills ${sum} bytes, more than --most-bytes`);
      isWanted = false;
    }
    if (isWanted) {
      let catalog;
      await check('the catalog', async () => {
        catalog = await source.introspect();
        return `${catalog.tables.size} tables, ${catalog.functions.size} table functions`;
      });
      await checkFree();
      const statements = [];
      for (const dataset of names) {
        const own = [...(catalog?.tables.values() ?? [])].filter(({ name, kind }) => name.schema === dataset && kind === 'table');
        for (const table of own.slice(0, mostTables)) {
          const statement = treeOf(table);
          const name = `rows of ${table.name.schema}.${table.name.name}`;
          if (await dryRun(name, statement, valuesOf(statement))) statements.push([name, statement]);
        }
      }
      if (sum > mostBytes)
        report('rows of tables', 'FAILED', `all statements together bill ${sum} bytes, more than --most-bytes: give fewer --tables`);
      else {
        for (const [name, statement] of statements) {
          await check(name, async () => {
            const [cell] = await source.runJson(statement, valuesOf(statement), {});
            return `${JSON.parse(textOfBytes(cell ?? [])).length} rows`;
          });
        }
      }
    }
  }
  const counts = source.measures()[0].counts;
  console.log(
    `dry runs: ${sum} bytes would be billed${options.run ? `; billed: ${counts.billedBytes} bytes, of ${counts.processedBytes} processed` : ', and rows of tables beside; --run runs them'}`,
  );
  await source.close();
}
await http.close();
console.log(failures === 0 ? 'all checks passed' : `${failures} checks failed`);
process.exitCode = failures === 0 ? 0 : 1;
