import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ErrorBox } from './error-box.tsx';
import { Loading } from './loading.tsx';

interface LazyProps<T> {
  /** Imports the component. It is called once. */
  load(): Promise<T>;
  /** Name shown while the component loads. Without it nothing is shown, as for dialogs. */
  readonly what?: string;
  children(component: T): ComponentChildren;
}

/** Renders a component of another chunk, which is loaded when it is first shown. */
export function Lazy<T>({ load, what, children }: LazyProps<T>) {
  const [loaded, setLoaded] = useState<{ readonly component: T }>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    load().then(
      (component) => setLoaded({ component }),
      () => setFailed(true),
    );
  }, []);
  if (hasFailed)
    return (
      <ErrorBox
        error={{ message: 'This part of the console could not be loaded. Reload the console.' }}
        onRetry={() => location.reload()}
      />
    );
  if (loaded === undefined) return what === undefined ? null : <Loading what={what} />;
  return <>{children(loaded.component)}</>;
}
