// Runs two instances behind proxies that cut, delay and swallow traffic to the metadata database, the source and the receivers. One is stopped
// for longer than a lease, both start at the same time after a pause, and tables and event triggers change meanwhile. At the end rows are
// compared with events, deliveries and installed triggers, and acknowledged changes with the metadata.
//
//   npm run faults -- --kind network                  about 120 s
//   npm run faults -- --kind network --seconds 600 --seed 7
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { atEnd, databaseServer, makeDatabase, root } from '../../bench/support.mjs';
import { FaultyProxy } from './proxy.mjs';

const PORT = 18_291;
/** Lease of an instance on an event, s. */
const LEASE = 45;
/** Maximum time until everything is delivered and repaired after the last fault, s. */
const HEALED = 120;
/** Time that the receiver takes for an event of `ordered`, so that concurrent deliveries of one key overlap and are found, ms. */
const ORDERED = 20;
/** Rows of the second writer begin here. */
const SECOND = 1_000_000;
/** Time before and after an acceptance in which a fault can keep it from being recorded, s. */
const [BEFORE, AFTER] = [1, 3];
const HEADERS = { 'content-type': 'application/json' };

function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param {{ seed: number, seconds: number, output: string }} options */
export async function networkFaults({ seed, seconds, output }) {
  const random = seeded(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const started = performance.now();
  const now = () => (performance.now() - started) / 1000;
  const history = [];
  const fault = (what, detail = {}) => history.push({ at: Number(now().toFixed(2)), what, ...detail });

  // Deliveries: by event, every time at which it was accepted.
  const accepted = new Map();
  const cronAccepted = new Map();
  const orderedTimes = new Map();
  /** Events of `ordered` that the receiver is processing, by key. */
  const underway = new Map();
  let together = 0;
  let deliveries = 0;
  const receiver = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
    request.on('end', async () => {
      deliveries += 1;
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const { trigger, event } = body;
      if (trigger?.name === 'ordered') {
        const { k } = event.data.new;
        push(underway, k, body.id);
        if (new Set(underway.get(k)).size > 1) together += 1;
        await sleep(ORDERED);
        underway.get(k).splice(underway.get(k).indexOf(body.id), 1);
      }
      if (random() < 0.02) return void response.writeHead(500).end('no');
      const at = now();
      if (body.scheduled_time !== undefined) push(cronAccepted, `${body.name} ${body.scheduled_time}`, body.id);
      else {
        push(accepted, body.id, { at, by: request.url.split('/', 2)[1] });
        if (trigger.name === 'ordered' && accepted.get(body.id).length === 1) {
          // Overlapping transactions may come in either order, so the order is checked for each writer.
          const { k, v } = event.data.new;
          push(orderedTimes, `${v < SECOND ? 'one' : 'two'} ${k}`, v);
        }
      }
      response.writeHead(200, HEADERS).end('{}');
    });
  });
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    receiver.closeAllConnections();
    receiver.close();
  });

  const server = await databaseServer(undefined, { max_connections: '200' });
  const metadata = await makeDatabase(server, 'faults_metadata');
  const shop = await makeDatabase(server, 'faults_shop');
  const connect = async (connectionString) => {
    const client = new pg.Client({ connectionString });
    client.on('error', () => undefined);
    await client.connect();
    atEnd(() => client.end().catch(() => undefined));
    return client;
  };
  // Direct connections to the databases, which never break.
  const writer = await connect(shop);
  const overlapping = await connect(shop);
  const churner = await connect(shop);
  const truth = await connect(metadata);
  const other = await connect(shop);
  await writer.query(`create table item (n int primary key, k int not null, v int not null, note text);
    create table churn (n int primary key, v int not null default 0)`);

  const instances = [];
  for (const [i, name] of ['one', 'two'].entries()) {
    const proxies = {
      metadata: await FaultyProxy.to(metadata),
      source: await FaultyProxy.to(shop),
      receiver: await FaultyProxy.to(`http://127.0.0.1:${receiver.address().port}`),
    };
    for (const proxy of Object.values(proxies)) atEnd(() => proxy.stop());
    instances.push(new Instance(name, PORT + i, proxies));
  }
  for (const each of instances) atEnd(() => each.stop());

  const post = async (instance, type, args) => {
    try {
      const response = await fetch(`http://127.0.0.1:${instance.port}/v1/metadata`, {
        method: 'POST',
        headers: HEADERS,
        body: JSON.stringify({ type, args }),
        signal: AbortSignal.timeout(20_000),
      });
      return { status: response.status, json: await response.json() };
    } catch {
      return { status: 0, json: null };
    }
  };
  const must = async (type, args) => {
    const { status, json } = await post(instances[0], type, args);
    if (status !== 200) throw new Error(`${type}: ${status} ${JSON.stringify(json)}`);
  };

  // A pause that uses up all occurrences of a cron trigger, after which both start at once.
  instances[0].start();
  await instances[0].ready();
  const configuration = { connection_info: { database_url: { from_env: 'SHOP' } } };
  const retry_conf = { num_retries: 100_000, interval_sec: 1, timeout_sec: 5 };
  await must('pg_add_source', { name: 'shop', configuration });
  for (const table of ['item', 'churn']) await must('pg_track_table', { source: 'shop', table });
  const trigger = (name, table, more) => ({ source: 'shop', name, table, webhook: `{{HOOKS}}/${name}`, retry_conf, ...more });
  const all = { insert: { columns: '*' }, update: { columns: ['v'] } };
  await must('pg_create_event_trigger', trigger('plain', 'item', all));
  await must('pg_create_event_trigger', trigger('ordered', 'item', { ...all, ordering: ['k'] }));
  await must('pg_create_event_trigger', trigger('narrow', 'item', { insert: { columns: '*' }, max_concurrency: 2 }));
  for (const name of ['minutely', 'other'])
    await must('create_cron_trigger', { name, webhook: '{{HOOKS}}/cron', schedule: '* * * * *', include_in_metadata: true });
  await instances[0].stop();
  await truth.query(`update svc_catalog.svc_cron_events set scheduled_time = scheduled_time - interval '150 minutes'`);
  fault('both start after a pause');
  for (const each of instances) each.start();
  await Promise.all(instances.map((each) => each.ready()));

  const began = now();
  const isOver = () => now() - began > seconds - 25;
  const findings = { refusals: [], uncaptured: [], failedWrites: [] };

  /** Rows of `item`: an insert and updates, in transactions with parameters in one session. */
  let rows = 0;
  let committed = 0;
  const writing = (async () => {
    while (!isOver()) {
      rows += 1;
      const n = rows;
      try {
        await writer.query('begin');
        await writer.query('insert into item (n, k, v) values ($1, $2, $3)', [n, n % 20, n]);
        if (n % 3 === 0) await writer.query('update item set note = $2 where n = $1', [n, 'unheard']);
        await writer.query('commit');
        committed += 1;
      } catch (error) {
        findings.failedWrites.push({ at: now(), n, message: error.message });
        await writer.query('rollback');
      }
      await sleep(15 + random() * 20);
    }
  })();

  /** Rows of `item` with the same keys in longer transactions, so that those of both writers overlap. */
  const writingToo = (async () => {
    for (let n = SECOND; !isOver(); ) {
      const first = n;
      try {
        await overlapping.query('begin');
        for (let i = 0; i < 3; i++) {
          n += 1;
          await overlapping.query('insert into item (n, k, v) values ($1, $2, $3)', [n, Math.floor(random() * 20), n]);
          await sleep(random() * 60);
        }
        await overlapping.query('commit');
        committed += n - first;
      } catch (error) {
        findings.failedWrites.push({ at: now(), n, message: error.message });
        await overlapping.query('rollback');
      }
      await sleep(random() * 100);
    }
  })();

  /** Rows of `churn`, each written between two reads of the stored metadata: a trigger that is the same in both must have captured it. */
  let churned = 0;
  let churnedCaptured = 0;
  const TRUTH = `select v.resource_version, p.changed_at_version, p.definition from svc_catalog.metadata_version v,
    svc_catalog.metadata_piece p where p.kind = 'table' and p.definition #>> '{table,name}' = 'churn'`;
  const stored = async () => {
    const { rows: found } = await truth.query(TRUTH);
    const { changed_at_version: at, definition } = found[0];
    return { at, trigger: (definition.event_triggers ?? []).find(({ name }) => name === 'moving') };
  };
  const churning = (async () => {
    while (!isOver()) {
      const before = await stored();
      churned += 1;
      const n = churned;
      await churner.query('insert into churn (n) values ($1)', [n]);
      const after = await stored();
      if (before.at === after.at && before.trigger?.definition.insert !== undefined) {
        churnedCaptured += 1;
        const { rows: found } = await churner.query(
          `select id from svc_catalog.event_log where trigger_name = 'moving' and (payload #>> '{data,new,n}')::int = $1`,
          [n],
        );
        if (found.length !== 1) findings.uncaptured.push({ at: now(), n, events: found.length });
      }
      await sleep(20 + random() * 30);
    }
  })();

  /** Changes of the metadata through both instances, one after another: after a 200, the stored state is certain. */
  const answers = {};
  let operations = 0;
  const administering = (async () => {
    let exists = false;
    const roles = new Map();
    const late = new Set();
    while (!isOver()) {
      const instance = pick(instances.filter(({ isFrozen }) => !isFrozen));
      const kind = random();
      let type;
      let args;
      const role = `r${Math.floor(random() * 5)}`;
      if (kind < 0.35 && exists === false)
        [type, args] = ['pg_create_event_trigger', trigger('moving', 'churn', { insert: { columns: '*' } })];
      else if (kind < 0.35) {
        const operation = pick([
          { insert: { columns: '*' } },
          { update: { columns: '*' } },
          { insert: { columns: '*' }, delete: { columns: '*' } },
        ]);
        [type, args] = ['pg_create_event_trigger', { ...trigger('moving', 'churn', operation), replace: true }];
      } else if (kind < 0.5) [type, args] = ['pg_delete_event_trigger', { source: 'shop', name: 'moving' }];
      else if (roles.get(role) === true) [type, args] = ['pg_drop_select_permission', { source: 'shop', table: 'churn', role }];
      else {
        const permission = { columns: ['n'], filter: {} };
        [type, args] = ['pg_create_select_permission', { source: 'shop', table: 'churn', role, permission }];
      }
      const isTrigger = type.includes('event_trigger');
      const was = isTrigger ? exists : (roles.get(role) ?? false);
      const expected = type.includes('create') && args.replace !== true ? !was : was;
      operations += 1;
      const { status, json } = await post(instance, type, args);
      answers[`${status} ${json?.code ?? ''}`.trim()] = (answers[`${status} ${json?.code ?? ''}`.trim()] ?? 0) + 1;
      const name = isTrigger ? 'moving' : role;
      // An instance that was stopped after it had read a request may still execute it much later.
      if (status === 0) late.add(name);
      // A change that must be possible was rejected, so the instance had outdated metadata.
      if (status === 400 && was !== 'unknown' && expected === true && !late.has(name))
        findings.refusals.push({ at: now(), by: instance.name, type, json });
      const is = status === 200 ? type.includes('create') : status === 400 ? was : 'unknown';
      const known = is === 'unknown' ? await settled(name) : is;
      if (isTrigger) exists = known;
      else roles.set(role, known);
      await sleep(100 + random() * 300);
    }
  })();
  /** Returns whether an object exists after a change with an unknown outcome. The lock of the version waits for changes in progress. */
  const settled = async (name) => {
    for (let attempt = 0; attempt < 3; attempt++) {
      // An instance that was stopped in the middle may still store it.
      await sleep(300);
      try {
        await truth.query(`begin; set local lock_timeout = '3s'; select 1 from svc_catalog.metadata_version for update; commit`);
        const { rows: found } = await truth.query(TRUTH);
        const { event_triggers = [], select_permissions = [] } = found[0].definition;
        if (instances.every((each) => !each.isFrozen))
          return event_triggers.some((each) => each.name === name) || select_permissions.some((each) => each.role === name);
      } catch {
        await truth.query('rollback').catch(() => undefined);
      }
    }
    return 'unknown';
  };

  /** Alters a table. */
  const altering = (async () => {
    for (let i = 0; !isOver(); i++) {
      await sleep(3000 + random() * 3000);
      const statement = pick([
        `alter table item alter column v type ${i % 2 === 0 ? 'bigint' : 'int'}`,
        `alter table item add column more_${i} int`,
        `alter table churn add column more_${i} text default 'x'`,
      ]);
      fault('alter', { statement });
      await other.query(`set lock_timeout = '5s'; ${statement}`).catch((error) => fault('alter failed', { message: error.message }));
    }
  })();

  const breaking = (async () => {
    await sleep(2000);
    // One freeze is longer than a lease; all other faults are shorter.
    const frozen = pick(instances);
    const long = Math.min(LEASE + 3, seconds - 32);
    const thaw = (async () => {
      fault('freeze', { instance: frozen.name, ms: long * 1000 });
      frozen.freeze();
      await sleep(long * 1000);
      frozen.thaw();
      fault('thaw', { instance: frozen.name });
    })();
    while (!isOver()) {
      const instance = pick(instances);
      const where = pick(['metadata', 'metadata', 'metadata', 'source', 'receiver']);
      const how = pick(['cut', 'delay', 'swallow', 'lose a commit']);
      const ms = 200 + random() * 2500;
      fault(how, { instance: instance.name, where, ms: Math.round(ms) });
      const proxy = instance.proxies[where];
      proxy.set(how === 'lose a commit' && where === 'receiver' ? 'swallow' : how);
      await sleep(ms);
      proxy.set('pass');
      await sleep(300 + random() * 1200);
    }
    await thaw;
    for (const each of instances) for (const proxy of Object.values(each.proxies)) proxy.set('pass');
    fault('the last fault is over');
  })();

  await Promise.all([writing, writingToo, churning, administering, altering, breaking]);

  // Everything recovers by itself.
  const state = async () => {
    const [item, undelivered, installed, answersNow] = await Promise.all([
      writer.query(`select t.name, count(e.id)::int as events, count(distinct e.payload #>> '{data,new,n}')::int as rows
        from (values ('plain'), ('ordered'), ('narrow')) t (name) left join svc_catalog.event_log e on e.trigger_name = t.name group by 1 order by 1`),
      writer.query(
        `select trigger_name, count(*)::int from svc_catalog.event_log where not delivered and not archived and not error group by 1`,
      ),
      writer.query(`select tgname from pg_trigger where tgname like 'notify\\_svc\\_%' order by 1`),
      Promise.all(instances.map((each) => post(each, 'get_inconsistent_metadata', {}))),
    ]);
    const { trigger: moving } = await stored();
    const operationsOf = ({ insert, update, delete: gone }) => [insert && 'INSERT', update && 'UPDATE', gone && 'DELETE'].filter(Boolean);
    const wanted = [
      ...['plain', 'ordered'].flatMap((name) => [`notify_svc_${name}_INSERT`, `notify_svc_${name}_UPDATE`]),
      'notify_svc_narrow_INSERT',
      ...(moving === undefined ? [] : operationsOf(moving.definition).map((each) => `notify_svc_moving_${each}`)),
    ].sort();
    const problems = [
      ...item.rows
        .filter(({ events, rows: found }) => events !== committed || found !== committed)
        .map((row) => `${committed} rows have ${JSON.stringify(row)}`),
      ...undelivered.rows.map(({ trigger_name: name, count }) => `${count} events of ${name} are not delivered`),
      ...(installed.rows
        .map(({ tgname }) => tgname)
        .sort()
        .join() === wanted.join()
        ? []
        : [`installed: ${installed.rows.map(({ tgname }) => tgname)}; the metadata has ${wanted}`]),
      ...answersNow.flatMap(({ status, json }, i) =>
        json?.is_consistent === true ? [] : [`${instances[i].name}: ${status} ${JSON.stringify(json)}`],
      ),
    ];
    return problems;
  };
  let problems = await state();
  for (const end = now() + HEALED; problems.length > 0 && now() < end; problems = await state()) await sleep(500);
  const healed = now();

  const ids = (await writer.query(`select id, archived from svc_catalog.event_log where trigger_name in ('plain', 'ordered', 'narrow')`))
    .rows;
  const lost = ids.filter(({ id }) => !accepted.has(id));
  /** True if a fault in a period has affected what an instance needs to record a delivery, or has stopped the instance. */
  const wasHit = (instance, from, to, places) =>
    history.some(
      ({ at, instance: name, where = 'process', ms }) =>
        name === instance && ms !== undefined && places.includes(where) && at <= to && at + ms / 1000 >= from,
    );
  let duplicates = 0;
  const unexplained = [];
  for (const [id, times] of accepted) {
    duplicates += times.length - 1;
    for (let i = 1; i < times.length; i++) {
      const [first, second] = [times[i - 1], times[i]];
      const isLost = wasHit(first.by, first.at - BEFORE, first.at + AFTER, ['receiver', 'source', 'process']);
      // A stopped instance continues with events that another one has delivered meanwhile.
      if (!isLost && !wasHit(second.by, second.at - AFTER, second.at, ['process'])) unexplained.push({ id, first, second });
    }
  }
  const outOfOrder = [...orderedTimes.values()].reduce((sum, list) => sum + list.filter((v, i) => i > 0 && v < list[i - 1]).length, 0);
  const { rows: twice } = await truth.query(
    `select trigger_name, scheduled_time, count(*)::int from svc_catalog.svc_cron_events group by 1, 2 having count(*) > 1`,
  );
  const cronTwice = [...cronAccepted].filter(([, found]) => new Set(found).size > 1);
  const result = {
    kind: 'network',
    seed,
    committed: committed * 3,
    delivered: ids.length - lost.length,
    lost: lost.length,
    duplicates,
    unexplained_duplicates: unexplained.length,
    deliveries,
    out_of_order: outOfOrder,
    of_one_key_at_once: together,
    cron_occurrences: cronAccepted.size,
    cron_twice: twice.length + cronTwice.length,
    operations,
    answers,
    certain_refusals_that_were_wrong: findings.refusals.length,
    rows_under_a_stored_trigger: churnedCaptured,
    rows_without_event: findings.uncaptured.length,
    faults: history.length,
    healed_after_s: Number((healed - (history.at(-1)?.at ?? 0)).toFixed(1)),
    seconds: Number(now().toFixed(1)),
  };
  fs.writeFileSync(
    output,
    `${JSON.stringify({ ...result, problems, ...findings, unexplained, twice, cronTwice, lost: lost.slice(0, 100), history }, null, 2)}\n`,
  );
  console.log(JSON.stringify(result, null, 2));
  console.log(`counts and history: ${output}`);
  return [
    ...problems,
    ...(findings.failedWrites.length > 0
      ? [`${findings.failedWrites.length} writes failed, the first: ${findings.failedWrites[0].message}`]
      : []),
    ...(lost.length > 0 ? [`${lost.length} events were lost`] : []),
    ...(unexplained.length > 0 ? [`${unexplained.length} duplicates without a fault of their instance`] : []),
    ...(outOfOrder > 0 ? [`${outOfOrder} events were delivered before an earlier one of their key`] : []),
    ...(together > 0 ? [`${together} events were delivered while another one of their key was`] : []),
    ...(result.cron_twice > 0 ? [`${result.cron_twice} occurrences of cron triggers came twice`] : []),
    ...findings.refusals.map(({ by, type, json }) => `${by} refused ${type} by outdated metadata: ${JSON.stringify(json)}`),
    ...(findings.uncaptured.length > 0 ? [`${findings.uncaptured.length} rows under a stored trigger have no event`] : []),
  ];
}

function push(map, key, value) {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

class Instance {
  constructor(name, port, proxies) {
    Object.assign(this, { name, port, proxies, child: undefined, isFrozen: false });
  }

  start() {
    const { metadata, source, receiver } = this.proxies;
    this.child = spawn(process.execPath, ['dist/cli/main.js', 'serve'], {
      cwd: root,
      env: {
        ...process.env,
        SVC_GRAPHQL_METADATA_DATABASE_URL: metadata.url,
        SVC_GRAPHQL_SERVER_PORT: String(this.port),
        SVC_GRAPHQL_SERVER_HOST: '127.0.0.1',
        SVC_GRAPHQL_PG_CONNECTIONS: '10',
        SVC_GRAPHQL_USE_PREPARED_STATEMENTS: 'false',
        SVC_GRAPHQL_ENABLED_LOG_TYPES: 'startup',
        SHOP: source.url,
        HOOKS: `${receiver.url}/${this.name}`,
      },
      stdio: ['ignore', 'ignore', process.env.FAULTS_LOG ? 'inherit' : 'ignore'],
    });
    const { child } = this;
    this.ended = new Promise((resolve) => child.once('exit', resolve));
  }

  async ready() {
    for (let i = 0; i < 4000; i++) {
      const isReady = await fetch(`http://127.0.0.1:${this.port}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) return;
      if (this.child.exitCode !== null) throw new Error(`${this.name} has ended`);
      await sleep(25);
    }
    throw new Error(`${this.name} does not respond`);
  }

  freeze() {
    this.isFrozen = true;
    this.child.kill('SIGSTOP');
  }

  thaw() {
    this.isFrozen = false;
    this.child.kill('SIGCONT');
  }

  async stop() {
    if (this.child === undefined || this.child.exitCode !== null) return;
    this.thaw();
    this.child.kill('SIGTERM');
    await this.ended;
  }
}
