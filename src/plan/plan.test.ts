import { describe, expect, test } from 'vitest';
import type { CompiledMutation, Compiler } from '../backend/backend.ts';
import type { SelectRoot } from '../ir/select.ts';
import type { TranslatedOperation } from '../graphql-engine/translation.ts';
import { ROOT } from '../util/path.ts';
import { planOperation } from './plan.ts';
import type { ResponseNode } from '../graphql-engine/types.ts';

const statement = (text: string, columns = 1) => ({ text, parameters: [], repeatable: false, columns });

/** Names the roots that it got; the root `none` needs no statement, `twice` needs two. */
function compiler(source: string): Compiler {
  return {
    select: (roots) => statement(`${source}: ${roots.map((root) => root.alias).join()}`, roots.length),
    mutation(roots) {
      const statements: CompiledMutation['statements'][number][] = [];
      const results = roots.map(({ alias }) => {
        if (alias === 'none') return ['null'];
        if (alias === 'twice') statements.push({ statement: statement(`${source}: before`, 0), path: ROOT, failures: [] });
        statements.push({ statement: statement(`${source}: ${alias}`), path: ROOT, failures: [] });
        return ['[', { statement: statements.length - 1, column: 0, absent: '"none"' }, ']'];
      });
      return { statements, results };
    },
  };
}

function operation(
  kind: TranslatedOperation['kind'],
  ...roots: readonly (readonly [source: string, alias: string])[]
): Parameters<typeof planOperation>[0] {
  const entries = roots.map((_, index) => [`k${index}`, { kind: 'root', index } as ResponseNode] as const);
  return {
    kind,
    name: null,
    response: { kind: 'object', entries },
    joins: [],
    roots: roots.map(([source, alias]) => ({
      kind: 'source',
      source,
      path: ROOT,
      responseKey: alias,
      root: {
        alias,
        query: {
          kind: 'rows',
          shape: 'list',
          rows: { limit: null },
          from: { kind: 'table', name: { schema: 's', name: alias } },
          fields: [],
        },
      } as unknown as SelectRoot,
    })),
    constraints: [],
    reusable: true,
  };
}

const texts = (of: Parameters<typeof planOperation>[0]) =>
  planOperation(of, compiler).steps.map((step) =>
    step.kind === 'mutation'
      ? step.statements.map((item) => item.statement.text)
      : step.kind === 'select'
        ? step.statement.text
        : step.kind === 'remote'
          ? step.request.document
          : step.kind === 'live'
            ? step.query.text
            : step.root.root.name,
  );
const template = (of: Parameters<typeof planOperation>[0]) =>
  planOperation(of, compiler).template.map((part) => (Buffer.isBuffer(part) ? part.toString() : part));

describe('queries', () => {
  test('one statement per source', () => {
    expect(texts(operation('query', ['a', '1'], ['b', '2'], ['a', '3']))).toEqual(['a: 1,3', 'b: 2']);
  });
});

describe('mutations', () => {
  test('one transaction per run of fields on a source', () => {
    expect(texts(operation('mutation', ['a', '1'], ['a', 'twice'], ['b', '2'], ['a', '3']))).toEqual([
      ['a: 1', 'a: before', 'a: twice'],
      ['b: 2'],
      ['a: 3'],
    ]);
  });

  test('a run that has nothing to do is no step', () => {
    expect(texts(operation('mutation', ['a', 'none'], ['b', '1'], ['a', 'none'], ['a', 'none']))).toEqual([['b: 1']]);
    expect(template(operation('mutation', ['a', 'none'], ['b', '1']))).toEqual([
      '{"data":{"k0":null,"k1":[',
      { step: 0, column: 0, absent: '"none"' },
      ']}}',
    ]);
  });

  test('cells are counted over the statements of a transaction', () => {
    expect(
      template(operation('mutation', ['a', 'twice'], ['a', '1'], ['b', '2'])).filter((part) => typeof part === 'object'),
    ).toMatchObject([
      { step: 0, column: 0 },
      { step: 0, column: 1 },
      { step: 1, column: 0 },
    ]);
  });
});
