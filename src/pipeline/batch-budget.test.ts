import { describe, expect, it } from 'vitest';
import type { OperationPlan } from '../plan/plan.ts';
import { BatchBudget } from './batch-budget.ts';

const budget = () =>
  new BatchBudget(
    {
      maxTokens: 10,
      maxValues: 20,
      maxObjects: 3,
      maxAliases: 2,
      maxDepth: 5,
      maxRepeatedSize: 100,
      maxIntrospectionCharacters: 1000,
    },
    { batch: 100, operation: 60 },
  );
const size = { depth: 1, objects: 0, values: 0, aliases: 0 };
const refused = (what: string): string => `the operations of the batch have more than ${what}`;

describe('the operations of a batch share', () => {
  it('the limit of tokens', () => {
    const shared = budget();
    shared.addDocument('{ a b }');
    shared.addDocument('{ c d e f }');
    expect(() => shared.addDocument('{')).toThrow(refused('10 tokens'));
    expect(() => budget().addDocument('{ a b c d e f g h i }')).toThrow('the document has more than 10 tokens');
  });

  it.each([
    [{ ...size, values: 10 }, '20 fields and values'],
    [{ ...size, objects: 1 }, '3 fields with a selection'],
    [{ ...size, aliases: 1 }, '2 aliases'],
  ])('%j', (of, what) => {
    const shared = budget();
    const limit = Number.parseInt(what, 10);
    for (let sum = 0; sum < limit; sum += of.values || 1) shared.addSize(of);
    expect(() => shared.addSize(of)).toThrow(refused(what));
  });

  it('the limit of variable parts and statements', () => {
    const shared = budget();
    shared.addParts(4);
    const plan = (statements: number) =>
      ({ steps: [{ kind: 'mutation', statements: Array(statements) }, { kind: 'select' }], joins: [] }) as unknown as OperationPlan;
    shared.addPlan(plan(1));
    expect(() => shared.addParts(1)).toThrow(refused('20 parts of variables that they depend on'));
    expect(() => shared.addSize(size)).toThrow(refused('20 parts of variables that they depend on'));
    expect(() => budget().addPlan(plan(2))).toThrow(refused('20 parts of variables that they depend on'));
  });

  it.each([
    { steps: [{ kind: 'remote' }], joins: [] },
    { steps: [{ kind: 'select' }], joins: [{ kind: 'source' }] },
  ])('the limit for remote requests and joins: %j', (plan) => {
    const shared = budget();
    shared.addPlan(plan as unknown as OperationPlan);
    expect(() => shared.addPlan(plan as unknown as OperationPlan)).toThrow(refused('20 parts of variables that they depend on'));
  });
});

describe('the responses of a batch', () => {
  const message = (of: { refusal(isDone: boolean): Error }, isDone = false): string => of.refusal(isDone).message;

  it('are limited in total while they arrive', () => {
    const shared = budget();
    const [first, second] = [shared.share(), shared.share()];
    expect([first.take(60), second.take(41), second.take(40), first.take(1)]).toEqual([true, false, true, false]);
    expect(message(second)).toBe('the responses of the batch exceed 100 bytes');
    expect(message(second, true)).toBe('the responses of the batch exceed 100 bytes. The mutation was committed; its answer was not sent');
    // The running operations have used up the budget, although none of them has ended.
    expect(() => shared.begin()).toThrow('not run: the responses of the preceding operations of the batch have reached 100 bytes');
  });

  it('are limited individually', () => {
    const own = budget().share();
    expect([own.take(50), own.take(11)]).toEqual([true, false]);
    expect(message(own)).toBe('the response exceeds 60 bytes');
  });

  it('release the results that they were made of', () => {
    const shared = budget();
    const [first, second] = [shared.share(), shared.share()];
    first.take(60);
    first.release(60);
    first.take(60);
    first.settle(30);
    expect([second.take(60), shared.share().take(11), shared.share().take(10)]).toEqual([true, false, true]);
  });

  it('ignore late results of an operation that has ended', () => {
    const shared = budget();
    const ended = shared.share();
    ended.take(20);
    ended.settle(10);
    // Parts that ran in parallel with a failed one may end after the next operation has started.
    expect(ended.take(50)).toBe(false);
    ended.release(20);
    expect([shared.share().take(60), shared.share().take(31), shared.share().take(30)]).toEqual([true, false, true]);
  });

  it('count in full if their size is known only at the end', () => {
    const shared = budget();
    shared.share().settle(100);
    expect(() => shared.begin()).toThrow('not run');
    expect(shared.share().take(1)).toBe(false);
  });
});
