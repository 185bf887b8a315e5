/** Queue of the reactions of `svc dev` to changes. */
import { reasonOf } from '../../project/failure.ts';

/** Subject of a reaction: an error is resolved by a reaction of the same kind only. */
export type ReactionKind = 'metadata' | 'migrations' | 'catalogs' | 'recorded SQL';

/** Runs a reaction after those that were queued before, and reports its result: a text, or the empty string. */
export type Enqueue = (kind: ReactionKind, run: () => Promise<string>) => Promise<void>;

export function changeQueue(progress: (message: string) => void): Enqueue {
  let last: Promise<void> = Promise.resolve();
  const failed = new Set<ReactionKind>();
  return (kind, run) => {
    const attempt = async (): Promise<void> => {
      try {
        const report = await run();
        const isResolved = failed.delete(kind);
        if (report !== '') progress(report);
        else if (isResolved) progress('the previous error is resolved');
      } catch (thrown) {
        // The service continues with its previous metadata.
        failed.add(kind);
        progress(reasonOf(thrown));
      }
    };
    last = last.then(attempt);
    return last;
  };
}
