import { describe, expect, test } from 'vitest';
import type { MutationStatement, Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { MutationStep, Plan } from '../plan/plan.ts';
import { ROOT } from '../util/path.ts';
import { bytesOfText, textOfBytes } from '../util/bytes.ts';
import { layoutKey } from '../util/json-layout.ts';
import { AnswerLimit } from '../pipeline/answer-limit.ts';
import { cpuOf } from '../../test/support/cpu.ts';
import type { RunContext } from './run-context.ts';
import { runPlan } from './run-plan.ts';

type Settings = readonly (readonly [string, string])[];

/** Answers each statement with its text; fails at the text `fail`; a text with columns 0 has no row. */
function recorder() {
  const log: { readonly source: string; readonly statements: readonly MutationStatement[]; readonly settings: Settings }[] = [];
  const source = (name: string) =>
    ({
      async runMutation(statements: readonly MutationStatement[], { settings }: { readonly settings: Settings }) {
        log.push({ source: name, statements, settings });
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (statements.some((item) => item.statement.text === 'fail')) throw new SvcError('permission-error', 'no');
        return statements.map(({ statement }) => (statement.columns === 0 ? [] : [[bytesOfText(JSON.stringify(statement.text))]]));
      },
    }) as unknown as Source;
  return { log, connections: new Map(['a', 'b'].map((name) => [name, source(name)])) };
}

function step(source: string, ...texts: readonly string[]): MutationStep {
  const statements = texts.map((text) => ({
    statement: { text, parameters: [], repeatable: false, columns: text.startsWith('before') ? 0 : 1 },
    path: ROOT,
    failures: [],
    binders: [],
  }));
  return { kind: 'mutation', collection: null, verb: null, source, statements };
}

function plan(steps: readonly MutationStep[], template: Plan['template'] = [], reusable = true): Plan {
  return { kind: 'mutation', constraints: [], reusable, template, steps, joins: [], validations: [] };
}

const session = {
  role: 'user',
  variables: new Map([
    ['x-svc-role', 'user'],
    ['x-svc-user-id', '7'],
  ]),
  backendOnly: false,
};
const run = async (of: Plan, connections: ReadonlyMap<string, Source>) =>
  textOfBytes(await runPlan(of, { connections, session, variables: {}, how: {} }));

describe('mutations over several sources', () => {
  test('run one after another', async () => {
    const { log, connections } = recorder();
    const cell = (at: number, column: number) => ({ step: at, column, absent: bytesOfText('null') });
    const body = await run(plan([step('a', 'before', '1', '2'), step('b', '3')], [cell(1, 0), cell(0, 1), cell(0, 0)]), connections);
    expect(body).toBe('"3""2""1"');
    expect(log.map(({ source }) => source)).toEqual(['a', 'b']);
  });

  test('stop at the first failure; what was done stays', async () => {
    const { log, connections } = recorder();
    await expect(run(plan([step('a', '1'), step('b', 'fail'), step('a', '2')]), connections)).rejects.toThrow('no');
    expect(log.map(({ source, statements }) => [source, statements.map((item) => item.statement.text)])).toEqual([
      ['a', ['1']],
      ['b', ['fail']],
    ]);
  });

  test('a source that is not there', async () => {
    const { log, connections } = recorder();
    await expect(run(plan([step('a', '1'), step('c', '2')]), connections)).rejects.toThrow('source with name "c" is inconsistent');
    expect(log).toHaveLength(1);
  });
});

test('the session goes with the transaction', async () => {
  const { log, connections } = recorder();
  await run(plan([step('a', '1')]), connections);
  expect(log[0]?.settings).toEqual([['svc.user', '{"x-svc-role":"user","x-svc-user-id":"7"}']]);
});

test('only what may come again is worth preparing', async () => {
  const { log, connections } = recorder();
  await run(plan([step('a', '1', '2', '1')], [], false), connections);
  await run(plan([step('a', '1')]), connections);
  expect(log.map(({ statements }) => statements.map((item) => item.once ?? false))).toEqual([[false, true, false], [false]]);
});

describe('an answer that prints a list of four megabytes under 480 names', () => {
  const rows = bytesOfText(`[${Array.from({ length: 40_000 }, (_, n) => `{"body":"${String(n).padStart(80, 'x')}"}`).join()}]`);
  const source = { runMutation: () => Promise.resolve([[[bytesOfText(`{"rows":${rows}}`)]]]) } as unknown as Source;
  const layout = Array.from({ length: 480 }, (_, n) => ({
    key: layoutKey(`a${n}`),
    from: 0,
    inner: [{ key: layoutKey(`b${n}`), from: 0, inner: null }],
  }));
  const all = plan([step('a', '1')], [{ layout, of: [{ step: 0, column: 0, absent: bytesOfText('null') }] }]);
  const print = (more: Partial<RunContext>) =>
    runPlan(all, { connections: new Map([['a', source]]), session, variables: {}, how: {}, ...more });

  test('is refused once it is larger than it may be', async () => {
    const intake = new AnswerLimit(2 * rows.length);
    intake.take(rows.length);
    const used = await cpuOf(() => expect(print({ intake })).rejects.toThrow(`the answer has more than ${2 * rows.length} bytes`));
    // All names take five seconds.
    expect(used).toBeLessThan(1000);
  });

  test.each([
    ['the client has gone', { how: { signal: { aborted: true } } }, 'the request was cancelled'],
    ['its time is over', { how: { deadline: Date.now() - 1 } }, 'the answer was not printed in time'],
  ])('ends when %s', async (_, more, message) => {
    await expect(print(more)).rejects.toThrow(message);
  });
});
