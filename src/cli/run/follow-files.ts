/** Files that somebody edits, for the commands that follow them. */
import { statSync } from 'node:fs';
import { reasonOf } from '../../project/failure.ts';
import type { Files } from '../../project/directory/files.ts';

const LOOK_EVERY_MS = 250;

export interface Following {
  /** Comes back when what was begun has ended. */
  stop(): Promise<void>;
}

/**
 * Looks at files again and again: the watching of folders that Node has for Linux loses files that an editor replaces.
 * @param paths files, and folders with all that is below them; what does not exist yet may come
 * @param changed called once the files stay as they are; never twice at a time. What it throws is told.
 */
export function followFiles(
  files: Files,
  paths: readonly string[],
  changed: () => Promise<void>,
  tell: (message: string) => void,
): Following {
  const look = (): string => paths.map((path) => stateOf(files, path)).join('\n');
  let handled = look();
  let before = handled;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const attempt = async (): Promise<void> => {
    try {
      const now = look();
      const isSettled = now === before;
      before = now;
      if (!isSettled || now === handled) return;
      handled = now;
      await changed();
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
