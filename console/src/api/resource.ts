/** Something that is read from the service: its last value stays while it is read again; the former request is ended. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { type Failure, failureOf, isAbort } from './failure.ts';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
  readonly isLoading: boolean;
}

export interface Resource<T> {
  readonly state: ReadonlySignal<Loaded<T>>;
  /** Reads; a read that is going on is ended. */
  load(): Promise<void>;
  stop(): void;
}

/** @param before what is shown until it is read for the first time */
export function resource<T>(read: (signal: AbortSignal) => Promise<T>, before?: T): Resource<T> {
  const state = signal<Loaded<T>>({ value: before, failure: undefined, isLoading: false });
  let current: AbortController | undefined;
  return {
    state,
    async load() {
      current?.abort();
      const mine = new AbortController();
      current = mine;
      state.value = { ...state.peek(), isLoading: true };
      try {
        const value = await read(mine.signal);
        if (current === mine) state.value = { value, failure: undefined, isLoading: false };
      } catch (error) {
        if (current !== mine) return;
        if (isAbort(error)) state.value = { ...state.peek(), isLoading: false };
        else state.value = { value: state.peek().value, failure: failureOf(error), isLoading: false };
      }
    },
    stop() {
      current?.abort();
    },
  };
}
