import { afterEach, describe, expect, it } from 'vitest';
import { databaseUrl, failure, open, type OpenOptions, read, texts, usePgSources, write } from '../../../test/support/pg-sources.ts';
import { runSql } from '../../../test/support/postgres.ts';
import type { Source } from '../../backend/backend.ts';

usePgSources();

/** Sets the defaults of new sessions of the database. */
async function defaults(settings: Readonly<Record<string, string>>): Promise<void> {
  const name = new URL(databaseUrl()).pathname.slice(1);
  await runSql(
    databaseUrl(),
    Object.entries(settings)
      .map(([key, value]) => `alter database "${name}" set ${key} = '${value}';`)
      .join(''),
  );
}

afterEach(() => defaults({ jit: 'on', statement_timeout: '0' }));

const SHOWN = "select to_json(current_setting('jit')), to_json(current_setting('statement_timeout'))";

describe.each([true, false])('with use_prepared_statements %s', (prepare) => {
  async function shown(options: OpenOptions): Promise<(string | null)[]> {
    const source = await open({ prepare, max: 1, ...options });
    const answers = [
      texts(await source.runJson(read(SHOWN), [], {})),
      texts(await source.runJson(write(SHOWN), [], {})),
      texts((await source.runMutation([{ statement: write(SHOWN), values: [] }], { settings: [['svc.user', '{}']] }))[0] ?? []),
      texts(await source.transaction({}, (connection) => connection.runJson(read(SHOWN), [], {}))),
    ];
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    return answers[0] ?? [];
  }

  it('turns JIT off and limits statements by the request timeout', async () => {
    await defaults({ jit: 'on' });
    expect(await shown({ requestTimeoutMs: 120_000 })).toEqual(['"off"', '"130s"']);
    expect(await shown({ requestTimeoutMs: 1_000 })).toEqual(['"off"', '"1min"']);
    expect(await shown({})).toEqual(['"off"', '"0"']);
  });

  it('uses the settings of the source', async () => {
    await defaults({ jit: 'on' });
    expect(await shown({ requestTimeoutMs: 120_000, info: { jit: true, statement_timeout: 0 } })).toEqual(['"on"', '"0"']);
    expect(await shown({ info: { jit: false, statement_timeout: 300 } })).toEqual(['"off"', '"5min"']);
  });

  it('keeps stricter settings of the role or database', async () => {
    await defaults({ jit: 'off', statement_timeout: '2500ms' });
    expect(await shown({ requestTimeoutMs: 120_000 })).toEqual(['"off"', '"2500ms"']);
    expect(await shown({ info: { jit: true } })).toEqual(['"off"', '"2500ms"']);
  });

  it('makes the server detect lost clients, except behind a pooler', async () => {
    const source = await open({ prepare });
    const text = "select to_json(current_setting('client_connection_check_interval'))";
    expect(texts(await source.runJson(read(text), [], {}))).toEqual([prepare ? '"5s"' : '"0"']);
  });

  it('applies settings together with the schema of extensions', async () => {
    const source = await open({ prepare, document: { extensions_schema: 'ext ra' }, requestTimeoutMs: 120_000 });
    const text = "select to_json(twice(4)), to_json(current_setting('statement_timeout'))";
    expect(texts(await source.runJson(read(text), [], {}))).toEqual(['8', '"130s"']);
  });

  it("does not apply settings to administrators' SQL", async () => {
    await defaults({ jit: 'on', statement_timeout: '3s' });
    const source = await open({ prepare, max: 1, info: { statement_timeout: 1 } });
    const text = "select current_setting('jit'), current_setting('statement_timeout')";
    expect((await source.runSql(text, {})).rows).toEqual([['on', '3s']]);
    expect((await source.transaction({}, (connection) => connection.runSql(text, {}))).rows).toEqual([['on', '3s']]);
    expect(texts(await source.runJson(read(SHOWN), [], {}))).toEqual(['"off"', '"1s"']);
  });

  it('reports a statement that exceeds statement_timeout', async () => {
    const source: Source = await open({ prepare, info: { statement_timeout: 1 } });
    expect(await failure(source.runJson(read('select to_json(pg_sleep(30)::text)'), [], {}))).toMatchObject({
      code: 'timeout',
      message: 'the database stopped the statement',
    });
  });
});
