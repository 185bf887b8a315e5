import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface LaterProps<T> {
  /** Imports the component. It has to be the same function in each render. */
  load(): Promise<T>;
  children(component: T): ComponentChildren;
}

/** Renders a component whose code is loaded when it is first shown. */
export function Later<T>({ load, children }: LaterProps<T>) {
  const [loaded, setLoaded] = useState<{ readonly component: T }>();
  useEffect(() => {
    let isUnmounted = false;
    void load().then((component) => {
      if (!isUnmounted) setLoaded({ component });
    });
    return () => {
      isUnmounted = true;
    };
  }, [load]);
  return loaded === undefined ? null : children(loaded.component);
}
