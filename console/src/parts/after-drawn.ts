import { useEffect, useState } from 'preact/hooks';

/** After so long the browser has shown what was drawn. */
export const AFTER_DRAWN_MS = 150;

/** Whether what was drawn first has been seen: what is out of sight then, such as the end of a long list, need not be waited for. */
export function useAfterDrawn(): boolean {
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDrawn(true), AFTER_DRAWN_MS);
    return () => clearTimeout(timer);
  }, []);
  return isDrawn;
}
