// Measures servers in alternation, after a check that their answers have the same data.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { load, pathOf, requestsOf, variablesOf } from '../load.mjs';
import { cpuOfTree } from '../processes.mjs';
import { median } from '../support.mjs';
import { ADAPTERS } from './adapters.mjs';
import { allRowsOf, differenceOf } from './same-data.mjs';

/** Requests of a query that are checked. */
const CHECKED = [0, 1, 250];
const ANSWER_TIMEOUT_MS = 60_000;
const WARM_UP_SECONDS = 1;
/** Requests that a round has cut off do not disturb the next one. */
const PAUSE_MS = 300;

/** A server that cannot take part in a query, with the reason as its message. */
class LeftOutError extends Error {}

/**
 * Measures a query on all servers.
 * @param servers the ideal one first
 * @param options `{seconds, rounds, generator, database}`, the last one the process of PostgreSQL
 * @returns `{query, server, figures, rounds}`, or `{query, server, reason}` for a server that was left out
 */
export async function measureQuery(query, workload, servers, options) {
  const results = servers.map((server) => ({ query, server: server.name, rounds: [] }));
  const sides = servers.map((server, index) => ({ ...server, adapter: ADAPTERS[server.name], result: results[index] }));
  const active = () => sides.filter(({ result }) => result.reason === undefined);
  const [ideal] = sides;
  await each(active, (side) => check(query, workload, side, ideal));
  await each(active, (side) => measure(query, workload, side, { ...options, seconds: WARM_UP_SECONDS }));
  for (let turn = 0; turn < options.rounds; turn++) {
    const inTurn = () => (turn % 2 === 0 ? active() : active().reverse());
    await each(inTurn, async (side) => {
      const round = await measure(query, workload, side, options);
      if (round.rate === 0) throw new LeftOutError(`no answer in ${options.seconds} s`);
      side.result.rounds.push(round);
    });
  }
  // A server that became ill under load answers fast, too.
  await each(active, (side) => check(query, workload, side, ideal));
  return results.map((result) => (result.reason === undefined ? { ...result, figures: mediansOf(result.rounds) } : result));
}

/** Runs a step for each side; a side that fails is left out from then on. */
async function each(sides, step) {
  for (const side of sides()) {
    try {
      await step(side);
    } catch (error) {
      side.result.reason = error.message;
      // Without the reference, no other answer can be judged.
      if (side.name === 'ideal') throw new Error(`the ideal server failed: ${error.message}`);
    }
  }
}

/** @throws LeftOutError if the server has no answer to the query, or other data than the ideal server */
async function check(query, workload, side, ideal) {
  for (const index of workload.random ? CHECKED : [0]) {
    const variables = variablesOf(workload, index);
    const answer = await dataOf(query, workload, side, variables);
    if (side === ideal) continue;
    const reference = await dataOf(query, workload, ideal, variables);
    const wider = allRowsOf(query, variables);
    const all = wider === null ? null : await dataOf(query, workload, ideal, wider);
    const difference = differenceOf(query, reference, answer, all);
    if (difference !== null) throw new LeftOutError(`other data: ${difference}`);
  }
}

/** @returns the data of one answer, in the shape of ours */
async function dataOf(query, workload, { url, headers, adapter }, variables) {
  const request = adapter.phrase(query, workload, variables);
  if (request === null) throw new LeftOutError('not expressible in one request');
  const response = await fetch(new URL(pathOf(url, request.path), url), {
    method: request.method,
    headers: { ...request.headers, ...headers },
    body: request.body,
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  });
  const text = await response.text();
  const answer = jsonOf(text);
  if (!response.ok || answer === undefined || answer?.errors) {
    throw new LeftOutError(`no answer: status ${response.status}, ${text.slice(0, 200).replaceAll(/\s+/g, ' ')}`);
  }
  return adapter.read(query, answer);
}

function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @returns rate, quantiles, and CPU time of 1,000 requests in ms: of the server, and of PostgreSQL */
async function measure(query, workload, { url, headers, adapter, pid }, { seconds, generator, database }) {
  const requests = requestsOf(workload, (variables) => {
    const request = adapter.phrase(query, workload, variables);
    return { ...request, headers: { ...request.headers, ...headers } };
  });
  const before = [cpuOfTree(pid), cpuOfTree(database)];
  const { count, rate, p50, p99 } = await load(url, requests, { connections: workload.connections, seconds, generator });
  const per = 1000 / count;
  const figures = { rate, p50, p99, own: (cpuOfTree(pid) - before[0]) * per, database: (cpuOfTree(database) - before[1]) * per };
  await sleep(PAUSE_MS);
  return figures;
}

function mediansOf(rounds) {
  const of = (key) => median(rounds.map((round) => round[key]));
  return { rate: of('rate'), p50: of('p50'), p99: of('p99'), own: of('own'), database: of('database') };
}

/** @returns a function that takes back what the queries `update` and `insert` have changed until then */
export async function rememberData(connectionString) {
  const using = async (task) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      return await task(client);
    } finally {
      await client.end();
    }
  };
  const { prices, line } = await using(async (client) => ({
    prices: (await client.query('select track_id, unit_price::text from track')).rows,
    line: (await client.query('select coalesce(max(invoice_line_id), 0) as id from invoice_line')).rows[0].id,
  }));
  const columns = [prices.map(({ track_id }) => track_id), prices.map(({ unit_price }) => unit_price)];
  return () =>
    using(async (client) => {
      await client.query(
        `update track t set unit_price = b.price from unnest($1::int[], $2::numeric[]) b (id, price)
         where t.track_id = b.id and t.unit_price is distinct from b.price`,
        columns,
      );
      await client.query('delete from invoice_line where invoice_line_id > $1', [line]);
      await client.query('vacuum analyze track, invoice_line');
    });
}
