// Measures what event triggers cost a database: a single-row update with and without a trigger, a bulk update that writes 10,000 events, 16
// concurrent writers with and without notifications, fetches and clean-up with a million rows in the log. Prints JSON.
//
//   npm run build && node bench/capture.mjs                      on an embedded PostgreSQL created for the run
//   node bench/capture.mjs --rows 100000 --updates 1000
//   node bench/capture.mjs --database-url postgres://…/empty     on an empty database
import { parseArgs } from 'node:util';
import { nameKey } from '../dist/catalog/catalog.js';
import { postgresql } from '../dist/databases/postgresql/index.js';
import { eventTriggerCodec } from '../dist/metadata/event-trigger.js';
import { ROOT } from '../dist/util/path.js';
import { databaseServer, median, quantile, run, timed } from './support.mjs';

const { values } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    rows: { type: 'string', default: '1000000' },
    updates: { type: 'string', default: '3000' },
  },
});

await run(async () => {
  const url = await databaseServer(values['database-url']);
  const configuration = postgresql.configuration.decode({ connection_info: { database_url: url } }, ROOT);
  const context = { sourceName: 'bench', environment: {}, usePreparedStatements: true, maxConnections: 20 };
  const source = await postgresql.connect(configuration, context);
  const { captures } = source;
  const sql = (text, parameters = []) => source.query(text, parameters);
  const round = (ms) => Math.round(ms * 100) / 100;

  await source.runSql(
    `drop table if exists item; create table item (id int primary key, name text, price numeric, note text, at timestamptz default now());
   insert into item select i, 'item ' || i, i, repeat('x', 100) from generate_series(1, 10000) i;
   drop table if exists plain; create table plain (like item including all); insert into plain select * from item`,
    {},
  );
  const name = { schema: 'public', name: 'item' };
  const table = (await source.introspect({ tables: [name], functions: [] })).tables.get(nameKey(name));
  const trigger = (more = {}) => ({
    definition: eventTriggerCodec.decode(
      { name: 'bench', definition: { update: { columns: '*' } }, webhook: 'http://127.0.0.1:9', ...more },
      ROOT,
    ),
    table,
  });
  const updates = Number(values.updates);
  const WRITE = { text: `update item set price = price + 1 where id = $1::int`, parameters: [], repeatable: false, columns: 0 };
  const OTHER = { ...WRITE, text: WRITE.text.replace('item', 'plain') };
  const update = (id, statement = WRITE) =>
    source.runMutation([{ statement, values: [String(id)] }], { settings: [['svc.user', '{"x-svc-role":"user"}']] });
  /** Alternates updates of a table with the trigger and one without, so that both have the same conditions. */
  const single = async () => {
    const times = { plain: [], captured: [] };
    for (let i = 0; i < updates; i++) {
      const id = ((i * 37) % 10000) + 1;
      times.plain.push(await timed(() => update(id, OTHER)));
      times.captured.push(await timed(() => update(id)));
    }
    const [plain, captured] = [times.plain, times.captured].map((list) => list.slice(updates / 10));
    return {
      median_ms: [median(plain), median(captured)].map(round),
      quartile_ms: [quantile(plain, 0.25), quantile(captured, 0.25)].map(round),
      added: `${round((quantile(captured, 0.25) / quantile(plain, 0.25) - 1) * 100)} %`,
    };
  };
  const writers = async (count) => {
    let done = 0;
    const ms = await timed(() =>
      Promise.all(
        Array.from({ length: 16 }, async (_, writer) => {
          for (let i = 0; i < count / 16; i++) {
            await update(writer * 600 + (i % 600) + 1);
            done += 1;
          }
        }),
      ),
    );
    return Math.round((done / ms) * 1000);
  };
  const install = (...triggers) => captures.install(triggers, { owner: 'bench' });
  const remove = () => captures.retain([], 'bench', ['bench']);

  await install(trigger());
  const captured = await single();
  await captures.install([trigger({ ordering: 'row' })], { owner: 'bench', again: true });
  const ordered = await single();
  await captures.install([trigger()], { owner: 'bench', again: true });
  const bulk = [];
  for (let i = 0; i < 3; i++) bulk.push(await timed(() => sql('update item set price = price + 1')));
  await remove();
  const bulkPlain = await timed(() => sql('update item set price = price + 1'));
  const rates = { plain: await writers(updates) };
  await install(trigger());
  await sql(`select setval('svc_catalog.event_waiting', 1)`);
  rates.captured = await writers(updates);
  await sql(`select setval('svc_catalog.event_waiting', 2)`);
  rates.notifying = await writers(updates);

  // The log: nine tenths delivered, one tenth pending.
  await remove();
  await sql('truncate svc_catalog.event_log');
  const rows = Number(values.rows);
  await sql(
    `insert into svc_catalog.event_log (schema_name, table_name, trigger_name, payload, delivered, created_at)
   select 'public', 'item', 'log' || i % 10, '{"op": "UPDATE", "data": {"old": {"id": 1}, "new": {"id": 1}}}', i % 10 <> 0,
     now() at time zone 'utc' - interval '10 days' + i * interval '100 ms' from generate_series(1, $1::int) i`,
    [String(rows)],
  );
  await sql('analyze svc_catalog.event_log');
  const lanes = Array.from({ length: 10 }, (_, i) => ({ name: `log${i}`, limit: 100 }));
  const lease = { holder: 'bench', seconds: 60 };
  const fetches = [];
  const records = [];
  const cycle = async () => {
    let events = [];
    fetches.push(
      await timed(async () => {
        events = await captures.events.fetch({ lease, limit: 100, lanes });
      }),
    );
    const outcomes = events.map(({ id, tries }) => ({
      id,
      tries,
      result: { kind: 'delivered' },
      invocation: { status: 200, request: '{}', response: '{}' },
    }));
    records.push(await timed(() => captures.events.record(lease, outcomes)));
    return events.length;
  };
  let fetched = 0;
  for (let i = 0; i < 200; i++) fetched += await cycle();
  const during = [];
  let cleaning = true;
  let cleaned = { events: 0 };
  const spec = () => ({ trigger: 'log1', batchSize: 10000, clearOlderThan: 1, timeout: 60, cleanInvocationLogs: true });
  const cleanupMs = timed(async () => {
    // A tenth of the rows.
    cleaned = await captures.cleanUp(spec, {});
  }).finally(() => {
    cleaning = false;
  });
  while (cleaning) {
    const start = fetches.length;
    await cycle();
    during.push(fetches[start] + records[start]);
  }
  const idle = [];
  await sql(`update svc_catalog.event_log set delivered = true where not delivered`);
  for (let i = 0; i < 50; i++) idle.push(await timed(() => captures.events.fetch({ lease, limit: 100, lanes })));

  console.log(
    JSON.stringify(
      {
        single_update: { captured, ordered },
        bulk_update_of_10000_ms: { plain: round(bulkPlain), captured: bulk.map(round) },
        writers_16_per_second: rates,
        log_rows: rows,
        fetched,
        fetch_ms: { median: round(median(fetches.slice(20, 200))), worst: round(Math.max(...fetches.slice(20, 200))) },
        record_ms: { median: round(median(records.slice(20, 200))) },
        idle_fetch_ms: round(median(idle)),
        cleanup: { events: cleaned.events, ms: round(await cleanupMs), fetch_and_record_meanwhile_ms: round(Math.max(...during)) },
      },
      null,
      2,
    ),
  );
  await captures.uninstall('bench');
  await source.runSql('drop table item, plain', {});
  await source.close();
});
