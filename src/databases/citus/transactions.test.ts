import { expect, it } from 'vitest';
import { failure, open, texts, usePgSources, write } from '../../../test/support/pg-sources.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { citus } from './index.ts';

usePgSources();

it('sends explicit begin and commit statements, which Citus requires', async () => {
  const vacuum = [{ statement: write('vacuum item'), values: [] }];
  // VACUUM fails in an explicit transaction, but not in the implicit one of a pipeline.
  const plain = await open();
  await plain.runMutation(vacuum, { settings: [] });
  const source = await open({ backend: citus });
  const refused = (await failure(source.runMutation(vacuum, { settings: [] }))) as SvcError;
  expect(JSON.stringify(refused.internal)).toContain('VACUUM cannot run inside a transaction block');

  const add = (...added: readonly string[]) =>
    source.runMutation(
      added.map((name, i) => ({ statement: write('insert into item values ($1::int, $2)'), values: [String(500 + i), name] })),
      { settings: [] },
    );
  const names = async (): Promise<unknown> => (await source.query('select name from item where id >= 500 order by id', [])).rows;
  await failure(add('a', 'b\u0000'));
  expect(await names()).toEqual([]);
  await add('a', 'b');
  expect(await names()).toEqual([['a'], ['b']]);
  const mode = { statement: write("select to_json(current_setting('citus.multi_shard_modify_mode'))"), values: [] };
  const rows = await source.runMutation([mode], { settings: [] });
  expect(texts(rows[0] ?? [])).toEqual(['"sequential"']);
  expect(texts(await source.runJson(mode.statement, [], {}))).toEqual(['"sequential"']);
});
