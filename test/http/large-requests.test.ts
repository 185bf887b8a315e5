/** Requests of the maximum size without meaning: each is rejected or answered at a bounded cost. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuOf } from '../support/cpu.ts';
import { sample } from '../support/deep.ts';
import { openRawConnection, type RawAnswer, type RawConnection } from '../support/raw-connection.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SIZE = 16_000_000;
/** Most of the time is for a client on the same thread to send 16 MB, and for the service to receive them. */
const BUDGET_MS = 170;
const LONGEST_ANSWER = 10_000;
const ATTEMPTS = 8;

let service: TestService;
let connection: RawConnection;

beforeAll(async () => {
  service = await startTestService({ OPERATION_CACHE_SIZE: '0' });
  await service.sql('create table author (id int primary key)');
  await service.metadata('pg_track_table', { table: 'author' });
  connection = await openRawConnection(service.url);
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

describe('a request of 16 megabytes', () => {
  it.each(sample(bodies, 12))('has a bounded cost: %s', async (_what, make) => {
    const body = Buffer.from(make());
    let answer: RawAnswer = { status: 0, text: '' };
    const ask = async (): Promise<void> => {
      answer = await connection.post('/v1/graphql', body);
    };
    let best = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && best > BUDGET_MS; attempt++) {
      best = Math.min(best, await cpuOf(ask));
    }
    if (process.env['PRINT'])
      console.log(`${_what}: ${best.toFixed(0)} ms, ${answer.status} ${answer.text.length} ${answer.text.slice(0, 150)}`);
    expect([200, 400, 413]).toContain(answer.status);
    expect(answer.text).not.toContain('"code":"unexpected"');
    expect(answer.text.length).toBeLessThan(LONGEST_ANSWER);
    // The log repeats no more of it.
    expect(JSON.stringify(service.observations.at(-1)).length).toBeLessThan(LONGEST_ANSWER);
    expect(best).toBeLessThan(BUDGET_MS);
  });
});
