import { expect, test } from 'vitest';
import { IdleCollection } from './idle-collection.ts';

const MB = 1024 * 1024;

class FakeHeap {
  bytes = 50 * MB;
  live = 40 * MB;
  collections = 0;
  used(): number {
    return this.bytes;
  }
  collect(): void {
    this.collections += 1;
    this.bytes = this.live;
  }
}

function play(): { readonly heap: FakeHeap; readonly idle: IdleCollection } {
  const heap = new FakeHeap();
  return { heap, idle: new IdleCollection(heap) };
}

test('collects the garbage of a load peak once the service is idle', () => {
  const { heap, idle } = play();
  heap.bytes = 300 * MB;
  idle.check(0.9);
  expect(heap.collections).toBe(0);
  idle.check(0.01);
  expect(heap).toMatchObject({ collections: 1, bytes: 40 * MB });
  idle.check(0.5);
  expect(heap.collections).toBe(1);
  for (let i = 0; i < 5; i++) idle.check(0.01);
  expect(heap.collections).toBe(2);
});

test('does not collect a heap that has not grown, whatever its size', () => {
  const { heap, idle } = play();
  heap.bytes = 100 * MB;
  idle.check(0);
  expect(heap.collections).toBe(0);
  heap.live = 400 * MB;
  heap.bytes = 450 * MB;
  idle.check(0);
  for (let i = 0; i < 5; i++) {
    heap.bytes = 460 * MB;
    idle.check(0);
  }
  expect(heap.collections).toBe(2);
});

test('measures growth from the lowest size', () => {
  const { heap, idle } = play();
  heap.bytes = 20 * MB;
  idle.check(1);
  heap.bytes = 90 * MB;
  idle.check(0);
  expect(heap.collections).toBe(1);
});

test('does not collect a heap that would take too long', () => {
  const { heap, idle } = play();
  heap.bytes = 600 * MB;
  idle.check(0);
  expect(heap.collections).toBe(0);
});
