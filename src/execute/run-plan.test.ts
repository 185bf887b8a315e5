import { describe, expect, test } from 'vitest';
import type { MutationStatement, Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { MutationStep, OperationPlan } from '../plan/plan.ts';
import { ROOT } from '../util/path.ts';
import { bytesOfText, textOfBytes } from '../util/bytes.ts';
import { layoutKey } from '../util/json-layout.ts';
import { OperationBudget } from '../pipeline/operation-budget.ts';
import { cpuOf } from '../../test/support/cpu.ts';
import type { RunContext } from './run-context.ts';
import { runPlan } from './run-plan.ts';

type Settings = readonly (readonly [string, string])[];

/** Returns each statement's text; fails for the text `fail`; a text with 0 columns has no row. */
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

function plan(steps: readonly MutationStep[], template: OperationPlan['template'] = [], reusable = true): OperationPlan {
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
const run = async (of: OperationPlan, connections: ReadonlyMap<string, Source>) =>
  textOfBytes(await runPlan(of, { connections, session, variables: {}, options: {} }));

describe('mutations over several sources', () => {
  test('run sequentially', async () => {
    const { log, connections } = recorder();
    const cell = (at: number, column: number) => ({ step: at, column, absent: bytesOfText('null') });
    const body = await run(plan([step('a', 'before', '1', '2'), step('b', '3')], [cell(1, 0), cell(0, 1), cell(0, 0)]), connections);
    expect(body).toBe('"3""2""1"');
    expect(log.map(({ source }) => source)).toEqual(['a', 'b']);
  });

  test('stop at the first failure, and earlier changes stay', async () => {
    const { log, connections } = recorder();
    await expect(run(plan([step('a', '1'), step('b', 'fail'), step('a', '2')]), connections)).rejects.toThrow('no');
    expect(log.map(({ source, statements }) => [source, statements.map((item) => item.statement.text)])).toEqual([
      ['a', ['1']],
      ['b', ['fail']],
    ]);
  });

  test('fail for a source that does not exist', async () => {
    const { log, connections } = recorder();
    await expect(run(plan([step('a', '1'), step('c', '2')]), connections)).rejects.toThrow('source with name "c" is inconsistent');
    expect(log).toHaveLength(1);
  });
});

test('passes the session to the transaction', async () => {
  const { log, connections } = recorder();
  await run(plan([step('a', '1')]), connections);
  expect(log[0]?.settings).toEqual([['svc.user', '{"x-svc-role":"user","x-svc-user-id":"7"}']]);
});

test('prepares only statements that may repeat', async () => {
  const { log, connections } = recorder();
  await run(plan([step('a', '1', '2', '1')], [], false), connections);
  await run(plan([step('a', '1')]), connections);
  expect(log.map(({ statements }) => statements.map((item) => item.once ?? false))).toEqual([[false, true, false], [false]]);
});

describe('a response that prints a list of four megabytes under 480 names', () => {
  const rows = bytesOfText(`[${Array.from({ length: 40_000 }, (_, n) => `{"body":"${String(n).padStart(80, 'x')}"}`).join()}]`);
  const source = { runMutation: () => Promise.resolve([[[bytesOfText(`{"rows":${rows}}`)]]]) } as unknown as Source;
  const layout = Array.from({ length: 480 }, (_, n) => ({
    key: layoutKey(`a${n}`),
    from: 0,
    inner: [{ key: layoutKey(`b${n}`), from: 0, inner: null }],
  }));
  const all = plan([step('a', '1')], [{ layout, of: [{ step: 0, column: 0, absent: bytesOfText('null') }] }]);
  const print = (more: Partial<RunContext>) =>
    runPlan(all, { connections: new Map([['a', source]]), session, variables: {}, options: {}, ...more });

  test('is rejected once it exceeds the limit', async () => {
    const resultBudget = new OperationBudget(2 * rows.length);
    resultBudget.take(rows.length);
    const used = await cpuOf(() => expect(print({ resultBudget })).rejects.toThrow(`the response exceeds ${2 * rows.length} bytes`));
    // Printing all names would take five seconds.
    expect(used).toBeLessThan(1000);
  });

  test.each([
    ['the client has disconnected', { options: { signal: { aborted: true } } }, 'the request was cancelled'],
    ['its deadline has passed', { options: { deadline: Date.now() - 1 } }, 'the response was not printed in time'],
  ])('ends when %s', async (_, more, message) => {
    await expect(print(more)).rejects.toThrow(message);
  });
});
