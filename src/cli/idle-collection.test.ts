import { expect, test } from 'vitest';
import { IdleCollection } from './idle-collection.ts';

const MB = 1024 * 1024;

class Played {
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

function play(): { readonly heap: Played; readonly idle: IdleCollection } {
  const heap = new Played();
  return { heap, idle: new IdleCollection(heap) };
}

test('collects what a storm has left, once there is nothing to do', () => {
  const { heap, idle } = play();
  heap.bytes = 300 * MB;
  idle.look(0.9);
  expect(heap.collections).toBe(0);
  idle.look(0.01);
  expect(heap).toMatchObject({ collections: 1, bytes: 40 * MB });
  idle.look(0.5);
  expect(heap.collections).toBe(1);
  for (let i = 0; i < 5; i++) idle.look(0.01);
  expect(heap.collections).toBe(2);
});

test('leaves a heap alone that has not grown, however large what lives is', () => {
  const { heap, idle } = play();
  heap.bytes = 100 * MB;
  idle.look(0);
  expect(heap.collections).toBe(0);
  heap.live = 400 * MB;
  heap.bytes = 450 * MB;
  idle.look(0);
  for (let i = 0; i < 5; i++) {
    heap.bytes = 460 * MB;
    idle.look(0);
  }
  expect(heap.collections).toBe(2);
});

test('counts from the least that was in use', () => {
  const { heap, idle } = play();
  heap.bytes = 20 * MB;
  idle.look(1);
  heap.bytes = 90 * MB;
  idle.look(0);
  expect(heap.collections).toBe(1);
});

test('does not stop the service for a heap that takes long', () => {
  const { heap, idle } = play();
  heap.bytes = 600 * MB;
  idle.look(0);
  expect(heap.collections).toBe(0);
});
