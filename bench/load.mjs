// Load on one server: the requests of a workload, sent over a fixed number of connections for some seconds.
import fs from 'node:fs';
import path from 'node:path';
import autocannon from 'autocannon';
import { HEADERS, outputOf, temporaryFolder } from './support.mjs';

/** Different requests of a workload with random variables. */
const VARIANTS = 500;

/** Variables of a request of a workload: its fixed ones, and those that differ between requests. */
export function variablesOf({ variables = {}, random = {} }, index) {
  const varied = Object.entries(random).map(([name, [low, high]]) => [name, low + ((index * 7919) % (high - low + 1))]);
  return { ...variables, ...Object.fromEntries(varied) };
}

/** @param phrase variables -> request. @returns the different requests of a workload */
export function requestsOf(workload, phrase = (variables) => graphqlRequest(workload.query, variables)) {
  return Array.from({ length: workload.random ? VARIANTS : 1 }, (_, index) => phrase(variablesOf(workload, index)));
}

export function graphqlRequest(query, variables) {
  return { method: 'POST', path: '', headers: HEADERS, body: JSON.stringify({ query, variables }) };
}

/**
 * Sends the requests in turn until the time is over.
 * @param url to which the path of each request is appended
 * @param generator `autocannon`, in this process, or the program `wrk`
 * @returns the number of answers, answers per second, and the quantiles of their times in ms, which are NaN without answers
 * @throws for answers other than 2xx, and for failed connections
 */
export async function load(url, requests, { connections, seconds, generator = 'autocannon' }) {
  const complete = requests.map((each) => ({ ...each, path: pathOf(url, each.path) }));
  const result = await GENERATORS[generator](url, complete, { connections, seconds });
  if (result.failed > 0) throw new Error(`${url}: ${result.failed} of ${result.count} requests failed`);
  return result;
}

const GENERATORS = { autocannon: loadByAutocannon, wrk: loadByWrk };

/** @returns the path and query of a request @param added `` for the URL itself */
export function pathOf(url, added) {
  const { pathname, search } = new URL(url);
  return added === '' ? pathname + search : pathname.replace(/\/$/, '') + added;
}

async function loadByAutocannon(url, requests, { connections, seconds }) {
  const times = [];
  const running = autocannon({ url: new URL(url).origin, connections, duration: seconds, timeout: 30, requests });
  // The histogram of autocannon has whole milliseconds.
  running.on('response', (_client, _status, _bytes, time) => times.push(time));
  const { non2xx, errors, duration } = await running;
  const sorted = Float64Array.from(times).sort();
  const at = (q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
  return { count: times.length, failed: non2xx + errors, rate: times.length / duration, p50: at(0.5), p99: at(0.99) };
}

const SCRIPT = `
local requests, next = {}, 0
function init(arguments)
  for line in io.lines(arguments[1]) do
    local method, path, body = line:match("^(.-)\\t(.-)\\t(.*)$")
    requests[#requests + 1] = wrk.format(method, path, wrk.headers, body)
  end
end
function request()
  next = next % #requests + 1
  return requests[next]
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"count":%d,"microseconds":%d,"p50":%.3f,"p99":%.3f,"failed":%d}\\n', summary.requests, summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, e.status + e.connect + e.read + e.write + e.timeout))
end`;

async function loadByWrk(url, requests, { connections, seconds }) {
  const folder = temporaryFolder();
  const [script, lines] = ['requests.lua', 'requests.txt'].map((name) => path.join(folder.path, name));
  try {
    fs.writeFileSync(script, SCRIPT);
    fs.writeFileSync(lines, requests.map((each) => `${each.method}\t${each.path}\t${each.body ?? ''}\n`).join(''));
    const headers = Object.entries(requests[0].headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const sizes = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s'];
    const output = await outputOf('wrk', [...sizes, ...headers, '-s', script, new URL(url).origin, '--', lines], {
      timeout: (seconds + 60) * 1000,
    });
    const result = /RESULT (.*)/.exec(output);
    if (result === null) throw new Error(`wrk printed no result: ${output.slice(0, 500)}`);
    const { count, microseconds, p50, p99, failed } = JSON.parse(result[1]);
    const [median, late] = count > 0 ? [p50, p99] : [Number.NaN, Number.NaN];
    return { count, failed, rate: (count / microseconds) * 1e6, p50: median, p99: late };
  } finally {
    folder.remove();
  }
}
