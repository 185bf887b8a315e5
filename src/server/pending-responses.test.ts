import { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { PendingResponses } from './pending-responses.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('counts the memory of a response once slow clients are disconnected', () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  const pending = new PendingResponses({ stall: 30_000, waiting: 100 });
  const held: string[] = [];
  const send = (name: string) => {
    const socket = new Socket();
    const memory = { size: 60, release: () => void held.push(name) };
    return { socket, answer: pending.add(socket, 0, 60, memory) };
  };
  const [slow, quick] = [send('slow'), send('quick')];
  expect(held).toEqual(['slow']);
  expect(slow.socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(held).toEqual(['slow']);
  vi.advanceTimersByTime(1000);
  expect(held).toEqual(['slow', 'quick']);
  expect(slow.socket.destroyed).toBe(true);
  quick.answer.onRead(100_000_000);
  const next = send('next');
  vi.advanceTimersByTime(3000);
  expect(quick.socket.destroyed).toBe(false);
  quick.answer.release();
  vi.advanceTimersByTime(1000);
  expect(held).toEqual(['slow', 'quick', 'next']);
  next.answer.release();
  pending.stop();
});
