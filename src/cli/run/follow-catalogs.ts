/** Databases whose tables somebody else changes, for `svc dev`. */
import { createHash } from 'node:crypto';
import type { Catalog } from '../../catalog/catalog.ts';
import { reasonOf } from '../../project/failure.ts';
import { inSlices, type Sliced } from '../../util/sliced.ts';
import type { Following } from './follow-files.ts';

const LOOK_EVERY_MS = 2000;
/** So often where nothing has changed for a while. */
const IDLE_LOOK_EVERY_MS = 8000;
/** Looks that find nothing, behind which a database counts as idle. */
const IDLE_AFTER_LOOKS = 60;

export interface FollowingCatalogs extends Following {
  /** What is there now is known: whoever has changed it has told the service. */
  settle(): Promise<void>;
}

/**
 * Looks again and again at what databases hold, less often while nothing happens. A source that is there for the first time, or cannot be
 * read, is not told.
 * @param read catalogs by the names of sources; those that are known to be the same may be left out
 * @param changed called with the names of the sources that hold something else; never twice at a time. What it throws is told.
 */
export function followCatalogs(
  read: () => Promise<ReadonlyMap<string, Catalog>>,
  changed: (sources: readonly string[]) => Promise<void>,
  tell: (message: string) => void,
): FollowingCatalogs {
  const known = new Map<string, string>();
  let stopped = false;
  let quiet = 0;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  /** @returns the sources that have changed */
  const look = async (): Promise<readonly string[]> => {
    const different: string[] = [];
    for (const [name, catalog] of await read()) {
      const now = await inSlices(digestOf(catalog));
      const before = known.get(name);
      known.set(name, now);
      if (before !== undefined && before !== now) different.push(name);
    }
    return different;
  };
  const attempt = async (): Promise<void> => {
    try {
      const different = await look();
      quiet = different.length > 0 ? 0 : quiet + 1;
      if (different.length > 0 && !stopped) await changed(different);
    } catch (thrown) {
      tell(reasonOf(thrown));
    }
  };
  const next = (): void => {
    timer = setTimeout(
      () => {
        running = attempt().then(() => (stopped ? undefined : next()));
      },
      quiet < IDLE_AFTER_LOOKS ? LOOK_EVERY_MS : IDLE_LOOK_EVERY_MS,
    );
  };
  next();
  return {
    async settle() {
      quiet = 0;
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
function* digestOf({ tables, functions, ...others }: Catalog): Sliced<string> {
  const hash = createHash('sha256').update(JSON.stringify(others));
  for (const map of [tables, functions])
    for (const entry of map) {
      hash.update(JSON.stringify(entry));
      yield;
    }
  return hash.digest('hex');
}
