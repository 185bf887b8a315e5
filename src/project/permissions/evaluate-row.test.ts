import { expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import type { ServerClient } from '../server-client.ts';
import { evaluateRow, passes, printEvaluation } from './evaluate-row.ts';

/** Service with one row, for which every part is true except those about the column `last`. */
const SERVER = {
  send: (_path: string, { body }: { body: Json }) => {
    const asked = isJsonObject(body) && isJsonArray(body['args']) ? body['args'] : [];
    const answers = asked.map((each) => {
      const text = JSON.stringify(each);
      const isOfLast = text.includes('last');
      return { count: text.includes('_not') === isOfLast ? 1 : 0 };
    });
    return Promise.resolve({ status: 200, body: answers });
  },
} as unknown as ServerClient;

it('does not pass a row because of parts beyond the maximum', async () => {
  const columns = (count: number): [string, Json][] => Array.from({ length: count }, (_, i) => [`c${i}`, { _eq: i }]);
  const judge = (rule: Json) => evaluateRow(SERVER, 'v1/query', { source: 'default', table: 't' }, { id: 1 }, rule);
  expect(passes(await judge(Object.fromEntries(columns(200))))).toBe(true);
  const judged = await judge(Object.fromEntries([...columns(200), ['last', { _eq: 1 }]]));
  expect(judged).toHaveLength(201);
  expect(printEvaluation(judged)).toMatch(/^false {2}the whole rule/);
  expect(passes(judged)).toBe(false);
});
