import { useEffect, useState } from 'preact/hooks';

/** Time after which the browser has painted the first render. */
export const AFTER_DRAWN_MS = 150;

/** Returns true after the first paint, to render parts outside of the viewport later. */
export function useAfterDrawn(): boolean {
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDrawn(true), AFTER_DRAWN_MS);
    return () => clearTimeout(timer);
  }, []);
  return isDrawn;
}
