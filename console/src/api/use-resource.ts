import { useEffect, useRef } from 'preact/hooks';
import { type Loaded, resource, type Resource } from './resource.ts';

/**
 * A resource of a component: read when `key` changes, cancelled with the component.
 * @param keeps keeps the value of the previous key until the next one is read, so that forms inside are not unmounted
 */
export function useResource<T>(
  read: (signal: AbortSignal) => Promise<T>,
  key: string,
  { keeps = false }: { readonly keeps?: boolean } = {},
): Loaded<T> & { reload(): void; stop(): void } {
  const latest = useRef(read);
  latest.current = read;
  const holder = useRef<{ key: string; resource: Resource<T> }>(null);
  if (holder.current === null || holder.current.key !== key) {
    const before = keeps ? holder.current?.resource.state.peek().value : undefined;
    holder.current?.resource.stop();
    holder.current = { key, resource: resource((signal) => latest.current(signal), before) };
  }
  const { resource: current } = holder.current;
  useEffect(() => {
    void current.load();
    return () => current.stop();
  }, [current]);
  const state = current.state.value;
  // The first effect starts the read, so the first render counts as loading.
  const isLoading = state.isLoading || (state.value === undefined && state.failure === undefined);
  return { ...state, isLoading, reload: () => void current.load(), stop: () => current.stop() };
}
