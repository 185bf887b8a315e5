/** Follows schema changes of databases, for `svc dev`. */
import { createHash } from 'node:crypto';
import type { Catalog } from '../../catalog/catalog.ts';
import { reasonOf } from '../../project/failure.ts';
import { runCooperatively, type Cooperative } from '../../util/cooperative.ts';
import type { Following } from './follow-files.ts';

const POLL_INTERVAL_MS = 2000;
const IDLE_POLL_INTERVAL_MS = 8000;
/** Number of polls without a change after which the longer interval applies. */
const IDLE_AFTER_POLLS = 60;

export interface FollowingCatalogs extends Following {
  /** Accepts the current catalogs as known, after a change that the service has already read. @returns the changed sources */
  settle(): Promise<readonly string[]>;
}

/**
 * Polls the catalogs of databases, less often while nothing changes. New sources, and those that cannot be read, are not reported.
 * @param read returns catalogs by source name; it may leave out unchanged ones
 * @param onChange called with the names of changed sources, never concurrently; its errors are reported
 */
export function followCatalogs(
  read: () => Promise<ReadonlyMap<string, Catalog>>,
  onChange: (sources: readonly string[]) => Promise<void>,
  progress: (message: string) => void,
): FollowingCatalogs {
  const known = new Map<string, string>();
  let stopped = false;
  let quiet = 0;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  /** @returns the sources that have changed */
  const poll = async (): Promise<readonly string[]> => {
    const different: string[] = [];
    for (const [name, catalog] of await read()) {
      const now = await runCooperatively(digestOf(catalog));
      const before = known.get(name);
      known.set(name, now);
      if (before !== undefined && before !== now) different.push(name);
    }
    return different;
  };
  const attempt = async (): Promise<void> => {
    try {
      const different = await poll();
      quiet = different.length > 0 ? 0 : quiet + 1;
      if (different.length > 0 && !stopped) await onChange(different);
    } catch (thrown) {
      progress(reasonOf(thrown));
    }
  };
  const next = (): void => {
    timer = setTimeout(
      () => {
        running = attempt().then(() => (stopped ? undefined : next()));
      },
      quiet < IDLE_AFTER_POLLS ? POLL_INTERVAL_MS : IDLE_POLL_INTERVAL_MS,
    );
  };
  next();
  return {
    async settle() {
      quiet = 0;
      return poll();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

/** Digest that changes with the catalog. */
function* digestOf({ tables, functions, ...others }: Catalog): Cooperative<string> {
  const hash = createHash('sha256').update(JSON.stringify(others));
  for (const map of [tables, functions])
    for (const entry of map) {
      hash.update(JSON.stringify(entry));
      yield;
    }
  return hash.digest('hex');
}
