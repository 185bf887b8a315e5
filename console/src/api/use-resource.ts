import { useEffect, useRef } from 'preact/hooks';
import { type Loaded, resource, type Resource } from './resource.ts';

/**
 * A resource of a component: read when `key` changes, ended when the component goes.
 * @param keeps whether what was read for the former key stays until the other is there: where forms are within, which would go with it
 */
export function useResource<T>(
  read: (signal: AbortSignal) => Promise<T>,
  key: string,
  { keeps = false }: { readonly keeps?: boolean } = {},
): Loaded<T> & { reload(): void; stop(): void } {
  const latest = useRef(read);
  latest.current = read;
  const held = useRef<{ key: string; resource: Resource<T> }>(null);
  if (held.current === null || held.current.key !== key) {
    const before = keeps ? held.current?.resource.state.peek().value : undefined;
    held.current?.resource.stop();
    held.current = { key, resource: resource((signal) => latest.current(signal), before) };
  }
  const { resource: mine } = held.current;
  useEffect(() => {
    void mine.load();
    return () => mine.stop();
  }, [mine]);
  const state = mine.state.value;
  // Before the first effect nothing is being read yet, but will be.
  const isLoading = state.isLoading || (state.value === undefined && state.failure === undefined);
  return { ...state, isLoading, reload: () => void mine.load(), stop: () => mine.stop() };
}
