/** Databases whose tables somebody else changes, for `svc dev`. */
import { createHash } from 'node:crypto';
import type { Catalog } from '../../catalog/catalog.ts';
import { reasonOf } from '../../project/failure.ts';
import type { Following } from './follow-files.ts';

const LOOK_EVERY_MS = 2000;

export interface FollowingCatalogs extends Following {
  /** What is there now is known: whoever has changed it has told the service. */
  settle(): Promise<void>;
}

/**
 * Looks again and again at what databases hold. A source that is there for the first time, or cannot be read, is not told.
 * @param read catalogs by the names of sources
 * @param changed called with the names of the sources that hold something else; never twice at a time. What it throws is told.
 */
export function followCatalogs(
  read: () => Promise<ReadonlyMap<string, Catalog>>,
  changed: (sources: readonly string[]) => Promise<void>,
  tell: (message: string) => void,
): FollowingCatalogs {
  const known = new Map<string, string>();
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  /** @returns the sources that have changed */
  const look = async (): Promise<readonly string[]> => {
    const different: string[] = [];
    for (const [name, catalog] of await read()) {
      const now = digestOf(catalog);
      const before = known.get(name);
      known.set(name, now);
      if (before !== undefined && before !== now) different.push(name);
    }
    return different;
  };
  const attempt = async (): Promise<void> => {
    try {
      const different = await look();
      if (different.length > 0 && !stopped) await changed(different);
    } catch (thrown) {
      tell(reasonOf(thrown));
    }
  };
  const next = (): void => {
    timer = setTimeout(() => {
      running = attempt().then(() => (stopped ? undefined : next()));
    }, LOOK_EVERY_MS);
  };
  next();
  return {
    async settle() {
      await look();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

/** The same as long as the same is there. */
function digestOf(catalog: Catalog): string {
  const text = JSON.stringify(catalog, (_, value: unknown) => (value instanceof Map ? [...(value as ReadonlyMap<string, object>)] : value));
  return createHash('sha256').update(text).digest('hex');
}
