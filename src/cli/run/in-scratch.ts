/** Trials of migrations in a database of their own. */
import { checkSteps, type KnownMigration } from '../../migrations/run-migrations.ts';
import { openScratch, type Scratch } from '../../migrations/scratch.ts';
import { type ListedSource, migrationsOf } from '../../migrations/sources.ts';
import type { Call } from '../call.ts';
import { runOptions } from './run-options.ts';

export interface Trial extends Pick<Scratch, 'lines' | 'clear'> {
  /** @throws ProjectFailure where it cannot be run as it is, or fails; what ran before stands */
  run(known: KnownMigration, direction: 'up' | 'down'): Promise<void>;
}

/**
 * Runs a trial in the database of the source that `--scratch` names, which holds nothing again when it is over.
 * @param of whose migrations are tried
 * @throws ProjectFailure where that database is not to be used
 */
export async function inScratch<T>(call: Call, name: string, of: ListedSource, trial: (trial: Trial) => Promise<T>): Promise<T> {
  const scratch = await openScratch(await call.server(), await call.kinds(), name, of);
  const [options, dialect] = [{ ...runOptions(call), tell: () => undefined }, migrationsOf(of)];
  try {
    return await trial({
      ...scratch,
      async run(known, direction) {
        for (const step of checkSteps([{ known, direction }], options, dialect)) await scratch.run(step);
      },
    });
  } finally {
    await scratch.clear();
  }
}
