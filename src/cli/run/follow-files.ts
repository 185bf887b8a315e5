/** Follows edits of files, for `svc dev` and `svc metadata apply --watch`. */
import { statSync } from 'node:fs';
import { reasonOf } from '../../project/failure.ts';
import type { Files } from '../../project/directory/files.ts';

const POLL_INTERVAL_MS = 250;

export interface Following {
  /** Resolves when a running reaction has ended. */
  stop(): Promise<void>;
}

/**
 * Polls files: Node's folder watching on Linux loses files that an editor replaces.
 * @param paths files, and folders with everything below them; they need not exist yet
 * @param onChange called once the files have not changed for one poll, never concurrently; its errors are reported
 */
export function followFiles(
  files: Files,
  paths: readonly string[],
  onChange: () => Promise<void>,
  progress: (message: string) => void,
): Following {
  const state = (): string => paths.map((path) => stateOf(files, path)).join('\n');
  let handled = state();
  let before = handled;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const attempt = async (): Promise<void> => {
    try {
      const now = state();
      const isSettled = now === before;
      before = now;
      if (!isSettled || now === handled) return;
      handled = now;
      await onChange();
    } catch (thrown) {
      progress(reasonOf(thrown));
    }
  };
  const next = (): void => {
    timer = setTimeout(() => {
      running = attempt().then(() => (stopped ? undefined : next()));
    }, POLL_INTERVAL_MS);
  };
  next();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

function stateOf(files: Files, path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return '';
  if (!stats.isDirectory()) return [path, stats.ino, stats.size, stats.mtimeMs].join(' ');
  return files
    .list(path)
    .map((below) => {
      const each = statSync(below, { throwIfNoEntry: false });
      return each === undefined ? '' : [below, each.ino, each.size, each.mtimeMs].join(' ');
    })
    .join('\n');
}
