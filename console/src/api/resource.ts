/** A value read from the service. The last value stays during a reload; a reload cancels the previous request. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { type Failure, failureOf, isAbort } from './failure.ts';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
  readonly isLoading: boolean;
}

export interface Resource<T> {
  readonly state: ReadonlySignal<Loaded<T>>;
  /** Reads the value and cancels a running read. */
  load(): Promise<void>;
  stop(): void;
}

/** @param before value until the first read succeeds */
export function resource<T>(read: (signal: AbortSignal) => Promise<T>, before?: T): Resource<T> {
  const state = signal<Loaded<T>>({ value: before, failure: undefined, isLoading: false });
  let current: AbortController | undefined;
  return {
    state,
    async load() {
      current?.abort();
      const controller = new AbortController();
      current = controller;
      state.value = { ...state.peek(), isLoading: true };
      try {
        const value = await read(controller.signal);
        if (current === controller) state.value = { value, failure: undefined, isLoading: false };
      } catch (error) {
        if (current !== controller) return;
        if (isAbort(error)) state.value = { ...state.peek(), isLoading: false };
        else state.value = { value: state.peek().value, failure: failureOf(error), isLoading: false };
      }
    },
    stop() {
      current?.abort();
    },
  };
}
