import { expect, test } from 'vitest';
import type { RemoteField, RemoteOutput } from '../ir/remote.ts';
import { textOfBytes } from '../util/bytes.ts';
import type { Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { noJoinUsage } from './placeholders.ts';
import { RemoteAnswer } from './remote-answer.ts';

const field = (name: string, ...fields: readonly RemoteOutput[]): RemoteField => ({
  kind: 'field',
  responseKey: name,
  name,
  args: [],
  shape: name === 'rows' ? '[{}]' : '{}',
  selection: fields.length === 0 ? null : { kind: 'object', fields },
});

test.each<[string, RemoteField, Json]>([
  [
    'objects',
    field('rows', field('id'), field('city', field('name'))),
    Array.from({ length: 5000 }, (_, id) => ({ id, city: id % 3 === 0 ? null : { name: 'x' } })),
  ],
  [
    'objects without fields',
    field('rows', { kind: 'hidden', key: { name: 'id', shape: 'Int' } }),
    Array.from({ length: 5000 }, () => ({})),
  ],
  ['lists', { ...field('rows', field('id')), shape: '[[[{}!]!]!]' }, Array.from({ length: 500 }, () => [[], [{ id: 1 }, null]])],
  ['plain values', field('rows'), Array.from({ length: 20_000 }, (_, i) => [i, { [`k${i}`]: null }])],
])('prints a long list of %s unchanged and yields to other work', (_, rows, value) => {
  const print = new RemoteAnswer('', { maxKeys: 0, maxBytes: 1e9, usage: noJoinUsage() });
  const work = print.field(rows, 'rows', { rows: value }, ROOT);
  let pauses = 0;
  for (;;) {
    const step = work.next();
    if (step.done !== true) pauses += 1;
    else {
      expect(JSON.parse(textOfBytes(step.value))).toEqual(value);
      break;
    }
  }
  expect(pauses).toBeGreaterThan(20);
});
