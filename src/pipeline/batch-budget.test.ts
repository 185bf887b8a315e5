import { describe, expect, it } from 'vitest';
import type { Plan } from '../plan/plan.ts';
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
    { together: 100, each: 60 },
  );
const size = { depth: 1, objects: 0, values: 0, aliases: 0 };
const refused = (what: string): string => `the operations of the batch have more than ${what}`;

describe('the operations of a batch share', () => {
  it('tokens', () => {
    const shared = budget();
    shared.read('{ a b }');
    shared.read('{ c d e f }');
    expect(() => shared.read('{')).toThrow(refused('10 tokens'));
    expect(() => budget().read('{ a b c d e f g h i }')).toThrow('the document has more than 10 tokens');
  });

  it.each([
    [{ ...size, values: 10 }, '20 fields and values'],
    [{ ...size, objects: 1 }, '3 fields with a selection'],
    [{ ...size, aliases: 1 }, '2 aliases'],
  ])('%j', (of, what) => {
    const shared = budget();
    const limit = Number.parseInt(what, 10);
    for (let sum = 0; sum < limit; sum += of.values || 1) shared.enter(of);
    expect(() => shared.enter(of)).toThrow(refused(what));
  });

  it('parts of variables and statements', () => {
    const shared = budget();
    shared.looked(4);
    const plan = (statements: number) =>
      ({ steps: [{ kind: 'mutation', statements: Array(statements) }, { kind: 'select' }], joins: [] }) as unknown as Plan;
    shared.run(plan(1));
    expect(() => shared.looked(1)).toThrow(refused('20 parts of variables that they depend on'));
    expect(() => shared.enter(size)).toThrow(refused('20 parts of variables that they depend on'));
    expect(() => budget().run(plan(2))).toThrow(refused('20 parts of variables that they depend on'));
  });

  it.each([
    { steps: [{ kind: 'remote' }], joins: [] },
    { steps: [{ kind: 'select' }], joins: [{ kind: 'source' }] },
  ])('requests to other servers and joins: %j', (plan) => {
    const shared = budget();
    shared.run(plan as unknown as Plan);
    expect(() => shared.run(plan as unknown as Plan)).toThrow(refused('20 parts of variables that they depend on'));
  });
});

describe('the answers of a batch', () => {
  const message = (of: { refusal(isDone: boolean): Error }, isDone = false): string => of.refusal(isDone).message;

  it('take together no more than their limit while they come', () => {
    const shared = budget();
    const [first, second] = [shared.share(), shared.share()];
    expect([first.take(60), second.take(41), second.take(40), first.take(1)]).toEqual([true, false, true, false]);
    expect(message(second)).toBe('the answers to the operations of the batch have more than 100 bytes together');
    expect(message(second, true)).toBe(
      'the answers to the operations of the batch have more than 100 bytes together. The mutation was committed; its answer was not sent',
    );
    // Nothing is left, though none of them has ended.
    expect(() => shared.begin()).toThrow('not run: the answers to the operations before it have 100 bytes together, or more');
  });

  it('take no more than one may have by itself', () => {
    const own = budget().share();
    expect([own.take(50), own.take(11)]).toEqual([true, false]);
    expect(message(own)).toBe('the answer has more than 60 bytes');
  });

  it('give back what they were made of, and what came for nothing', () => {
    const shared = budget();
    const [first, second] = [shared.share(), shared.share()];
    first.take(60);
    first.giveBack(60);
    first.take(60);
    first.settle(30);
    expect([second.take(60), shared.share().take(11), shared.share().take(10)]).toEqual([true, false, true]);
  });

  it('count nothing of what still comes for one that has ended', () => {
    const shared = budget();
    const ended = shared.share();
    ended.take(20);
    ended.settle(10);
    // What ran beside a part that failed may hear of it later than the next operation begins.
    expect(ended.take(50)).toBe(false);
    ended.giveBack(20);
    expect([shared.share().take(60), shared.share().take(31), shared.share().take(30)]).toEqual([true, false, true]);
  });

  it('count whole, where they are known only in the end', () => {
    const shared = budget();
    shared.share().settle(100);
    expect(() => shared.begin()).toThrow('not run');
    expect(shared.share().take(1)).toBe(false);
  });
});
