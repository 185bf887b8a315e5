/** Requests of the maximum size without meaning: each is rejected or answered at a bounded cost. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuOf } from '../support/cpu.ts';
import { sample } from '../support/deep.ts';
import { openRawConnection, type RawAnswer, type RawConnection } from '../support/raw-connection.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SIZE = 16_000_000;
/** Most of the time is for a client on the same thread to send 16 MB, and for the service to receive them. */
const BUDGET_MS = 170;
/** The bound on a slow machine: a multiple of the cost of white space around a request. */
const OF_WHITE_SPACE = 1.6;
const LONGEST_ANSWER = 10_000;
const ATTEMPTS = 8;

let service: TestService;
let connection: RawConnection;
let budget: number;

beforeAll(async () => {
  service = await startTestService({ OPERATION_CACHE_SIZE: '0' });
  await service.sql('create table author (id int primary key)');
  await service.metadata('pg_track_table', { table: 'author' });
  connection = await openRawConnection(service.url);
  const blank = Buffer.from(`{"query":"{ author { id } }"${fill(' ')}}`);
  budget = Math.max(BUDGET_MS, OF_WHITE_SPACE * (await leastCpu(blank, 0)).cpu);
});
afterAll(async () => {
  connection.close();
  await service.stop();
});

const fill = (text: string): string => text.repeat(Math.ceil(SIZE / text.length));
const query = (text: string): string => `{"query":"${text}"}`;

const bodies: readonly (readonly [string, () => string])[] = [
  ['commas', () => fill(',')],
  ['spaces', () => fill(' ')],
  ['tabs around JSON', () => `{${fill('\t')}"query":"{ author { id } }"}`],
  ['newlines around JSON', () => `{"query":"{ author { id } }"${fill('\n')}}`],
  ['letters', () => fill('x')],
  ['plus signs', () => fill('+')],
  ['colons', () => fill(':')],
  ['byte order marks', () => fill('\ufeff').slice(0, SIZE / 3)],
  ['commas in a document', () => query(fill(','))],
  ['commas behind a document', () => query(`{ author { id } ${fill(',')} }`)],
  ['spaces in a document', () => query(`{ author { id } ${fill(' ')} }`)],
  ['newlines in a document', () => query(`{ author { id } ${fill('\\n')} }`)],
  ['tabs in a document', () => query(`{ author { id } ${fill('\\t')} }`)],
  ['escaped commas in a document', () => query(`{ author { id } ${fill('\\u002c')} }`)],
  ['byte order marks in a document', () => query(`{ author { id } ${fill('\ufeff').slice(0, SIZE / 3)} }`)],
  ['no-break spaces in a document', () => query(`{ author { id } ${fill('\u00a0').slice(0, SIZE / 2)} }`)],
  ['a comment', () => query(`{ author { id } } #${fill('x')}`)],
  ['comments', () => query(`{ author { id } } ${fill('#\\n')}`)],
  ['a name', () => query(`{ ${fill('x')} }`)],
  ['a number', () => query(`{ author(limit: ${fill('1')}) { id } }`)],
  ['points', () => query(`{ ${fill('.')} }`)],
  ['a string in a document', () => query(`{ author(limit: \\"${fill('x')}\\") { id } }`)],
  ['escapes in a document', () => query(`{ author(limit: \\"${fill('\\\\u0041')}\\") { id } }`)],
  ['a block string', () => query(`{ author(limit: \\"\\"\\"${fill('x')}\\"\\"\\") { id } }`)],
  ['lines of a block string', () => query(`{ author(limit: \\"\\"\\"${fill(' x\\n')}\\"\\"\\") { id } }`)],
  ['a string that does not end', () => query(`{ author(limit: \\"${fill('x')}`)],
  ['quotes in a document', () => query(fill('\\"'))],
  ['an operation name', () => `{"query":"{ author { id } }","operationName":"${fill('x')}"}`],
  ['a text', () => `{"query":"query ($x: Int) { author(limit: $x) { id } }","variables":{"x":"${fill('x')}"}}`],
  ['escapes', () => `{"query":"query ($x: Int) { author(limit: $x) { id } }","variables":{"x":"${fill('\\u0041')}"}}`],
  ['a number of JSON', () => `{"query":"query ($x: Int) { author(limit: $x) { id } }","variables":{"x":${fill('1')}}}`],
  ['one key again', () => `{${fill('"query":1,')}"query":"{ author { id } }"}`],
  ['a key', () => `{"query":"{ author { id } }","${fill('x')}":1}`],
  ['backslashes', () => `{"query":"${fill('\\')}`],
  ['quotes', () => fill('"')],
  ['zeros', () => `{"query":"{ author { id } }","variables":{"x":0.${fill('0')}1}}`],
  ['an exponent', () => `{"query":"{ author { id } }","variables":{"x":1e${fill('1')}}}`],
];

/** Sends a request until it takes at most `enough` ms of CPU, at most `ATTEMPTS` times. The best counts. */
async function leastCpu(body: Buffer, enough: number): Promise<{ readonly cpu: number; readonly answer: RawAnswer }> {
  let answer: RawAnswer = { status: 0, text: '' };
  let cpu = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && cpu > enough; attempt++) {
    cpu = Math.min(
      cpu,
      await cpuOf(async () => {
        answer = await connection.post('/v1/graphql', body);
      }),
    );
  }
  return { cpu, answer };
}

describe('a request of 16 megabytes', () => {
  it.each(sample(bodies, 12))('has a bounded cost: %s', async (_what, make) => {
    const { cpu, answer } = await leastCpu(Buffer.from(make()), budget);
    expect([200, 400, 413]).toContain(answer.status);
    expect(answer.text).not.toContain('"code":"unexpected"');
    expect(answer.text.length).toBeLessThan(LONGEST_ANSWER);
    // The log repeats no more of it.
    expect(JSON.stringify(service.observations.at(-1)).length).toBeLessThan(LONGEST_ANSWER);
    expect(cpu).toBeLessThan(budget);
  });
});
