// Compares PostgreSQL's json_agg, which prints lists with line breaks, with ways to print them compactly: CPU of the backend per statement, of
// this process per answer, and the backend's peak memory for a large list. Sides are measured in turn, medians of five. See docs/adr.
//
//   npm run build && node bench/compact-json.mjs
import pg from 'pg';
import { cpuOf, databaseServer, makeDatabase, median, memoryOf, run } from './support.mjs';

const ROUNDS = 5;
const TABLES = `create table author (id int primary key, name text, age int);
create table article (id int primary key, author_id int, title text, at timestamptz);
insert into author select i, 'author ' || i, i % 90 from generate_series(1, 1000) i;
insert into article select i, i % 1000 + 1, 'title of article ' || i, now() from generate_series(1, 10000) i;
create index on article (author_id);
analyze;`;

const LISTS = {
  json_agg: (rows) => `coalesce(json_agg(${rows}.*), '[]')`,
  array_to_json: (rows) => `coalesce(array_to_json(array_agg(${rows}.*)), '[]')`,
  string_agg: (rows) => `coalesce('[' || string_agg(row_to_json(${rows}.*)::text, ',') || ']', '[]')::json`,
};
const QUERIES = {
  '1 row': [5000, (list) => `select ${list('t')} from (select id, name from author where id = 7) t`],
  '20 rows': [4000, (list) => `select ${list('t')} from (select id, name, age from author where id <= 20) t`],
  '1,000 rows': [300, (list) => `select ${list('t')} from (select id, name, age from author) t`],
  '100 rows with 10 each': [
    200,
    (list) => `select ${list('t')} from (select a.id, a.name, l.list as articles from author a left join lateral (
      select ${list('b')} as list from (select id, title, at from article where author_id = a.id order by id) b) l on true where a.id <= 100) t`,
  ],
};

async function connect(url) {
  const client = new pg.Client({ connectionString: url, types: { getTypeParser: () => (text) => text } });
  await client.connect();
  return { client, pid: Number((await client.query('select pg_backend_pid() as pid')).rows[0].pid) };
}

async function compareStatements(url) {
  const { client, pid } = await connect(url);
  console.log(`| answer | bytes | ${Object.keys(LISTS).join(' | ')} |\n|---|---|---|---|---|`);
  for (const [name, [times, query]] of Object.entries(QUERIES)) {
    const spent = Object.fromEntries(Object.keys(LISTS).map((side) => [side, []]));
    let bytes = 0;
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [side, list] of Object.entries(LISTS)) {
        const statement = { name: `${name} ${side}`, text: query(list), rowMode: 'array' };
        const before = cpuOf(pid);
        for (let i = 0; i < times; i++) bytes = (await client.query(statement)).rows[0][0].length;
        if (round > 0) spent[side].push(((cpuOf(pid) - before) * 1000) / times);
      }
    }
    const base = median(spent.json_agg);
    const shown = Object.values(spent).map((list) => `${median(list).toFixed(0)} µs (${((median(list) / base) * 100).toFixed(0)} %)`);
    console.log(`| ${name} | ${bytes} | ${shown.join(' | ')} |`);
  }
  await client.end();
}

async function comparePeaks(url) {
  for (const side of ['json_agg', 'array_to_json']) {
    const { client, pid } = await connect(url);
    const rows = "(select i as id, 'name ' || i as name, repeat('x', 60) as text from generate_series(1, 1000000) i) t";
    await client.query(`select length((${LISTS[side]('t')})::text) from ${rows}`);
    console.log(`${side}: peak of ${(memoryOf(pid, 'VmHWM') / 2 ** 20).toFixed(0)} MiB for a list of a million rows`);
    await client.end();
  }
}

/** Removes line breaks outside of strings; inside, JSON has none. */
function withoutBreaks(answer) {
  const written = Buffer.allocUnsafe(answer.length);
  let length = 0;
  for (let i = 0; i < answer.length; i++) {
    const byte = answer[i];
    // ", \n "
    if (byte === 10) {
      length -= 1;
      i++;
    } else written[length++] = byte;
  }
  return written.subarray(0, length);
}

function measureRemoval() {
  for (const [rows, times] of [
    [20, 100_000],
    [1000, 4000],
  ]) {
    const list = Array.from({ length: rows }, (_, i) => `{"id":${i},"name":"author ${i}","age":${i % 90}}`);
    const answer = Buffer.from(`[${list.join(', \n ')}]`);
    const spent = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const before = process.cpuUsage();
      for (let i = 0; i < times; i++) withoutBreaks(answer);
      const { user, system } = process.cpuUsage(before);
      if (round > 0) spent.push((user + system) / times);
    }
    console.log(`removal in the service, ${rows} rows of ${answer.length} bytes: ${median(spent).toFixed(1)} µs`);
  }
}

await run(async () => {
  const url = await makeDatabase(await databaseServer(undefined), 'compact_json');
  const { client } = await connect(url);
  await client.query(TABLES);
  await client.end();
  await compareStatements(url);
  await comparePeaks(url);
  measureRemoval();
});
