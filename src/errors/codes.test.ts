import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ERROR_STATUS } from './codes.ts';

it('documents every code with its status', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `([A-Za-z_-]+)` \| (\d+) \| (\S.*) \|$/gm)].map(([, code, status]) => [code, Number(status)]);
  expect(documented).toEqual(Object.entries(ERROR_STATUS));
});
