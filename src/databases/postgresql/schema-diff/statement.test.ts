import { expect, it } from 'vitest';
import { printed } from './statement.ts';

const HOSTILE = 'public."a\ndrop table account;\r--"';

it.each([
  ['a note', { note: `The values of ${HOSTILE} are lost` }],
  ['a reason', { refused: `${HOSTILE} uses it` }],
])('keeps a name with line breaks inside of the comment of %s', (_what, texts) => {
  const lines = printed({ phase: 'drop tables', sql: '', touches: [], ...texts }).split(/[\r\n]/);
  expect(lines.filter((line) => line !== '' && line !== ';' && !line.startsWith('-- '))).toEqual([]);
});
