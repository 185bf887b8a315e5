import { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { Answers } from './answers.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('counts the memory of answers as soon as clients that hardly read have gone', () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  const answers = new Answers({ stall: 30_000, waiting: 100 });
  const held: string[] = [];
  const send = (name: string) => {
    const socket = new Socket();
    const memory = { size: 60, release: () => void held.push(name) };
    return { socket, answer: answers.hold(socket, 0, 60, memory) };
  };
  const [slow, quick] = [send('slow'), send('quick')];
  expect(held).toEqual(['slow']);
  expect(slow.socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(held).toEqual(['slow']);
  vi.advanceTimersByTime(1000);
  expect(held).toEqual(['slow', 'quick']);
  expect(slow.socket.destroyed).toBe(true);
  quick.answer.took(100_000_000);
  const next = send('next');
  vi.advanceTimersByTime(3000);
  expect(quick.socket.destroyed).toBe(false);
  quick.answer.release();
  vi.advanceTimersByTime(1000);
  expect(held).toEqual(['slow', 'quick', 'next']);
  next.answer.release();
  answers.stop();
});
