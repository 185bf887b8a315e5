import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ErrorBox } from './error-box.tsx';
import { Loading } from './loading.tsx';

/** A component of another chunk, which is loaded when it is shown first. */
export function Lazy<P extends object>({
  what,
  load,
  props,
}: {
  /** Name while it loads. */
  readonly what: string;
  load(): Promise<ComponentType<P>>;
  readonly props: P;
}) {
  const [Loaded, setLoaded] = useState<ComponentType<P> | null>(null);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    load().then(
      (component) => setLoaded(() => component),
      () => setFailed(true),
    );
  }, []);
  if (hasFailed)
    return <ErrorBox error={{ message: `${what} could not be loaded. Reload the console.` }} onRetry={() => location.reload()} />;
  return Loaded === null ? <Loading what={what} /> : <Loaded {...props} />;
}
