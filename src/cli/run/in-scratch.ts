/** Trials of migrations in a scratch database. */
import { checkSteps, type KnownMigration } from '../../migrations/run-migrations.ts';
import { openScratch, type Scratch } from '../../migrations/scratch.ts';
import { type ListedSource, migrationsOf } from '../../migrations/sources.ts';
import type { CommandContext } from '../context.ts';
import { runOptions } from './run-options.ts';

export interface Trial extends Pick<Scratch, 'source' | 'lines' | 'clear'> {
  /** @throws ProjectFailure if the migration cannot be run as it is, or fails; earlier ones are not reverted */
  run(known: KnownMigration, direction: 'up' | 'down'): Promise<void>;
}

/**
 * Runs a trial in the database of the source that `--scratch` names, and empties it afterwards.
 * @param name source of the scratch database
 * @param of source of the migrations
 * @throws ProjectFailure if that database must not be used
 */
export async function inScratch<T>(
  context: CommandContext,
  name: string,
  of: ListedSource,
  trial: (trial: Trial) => Promise<T>,
): Promise<T> {
  const scratch = await openScratch(await context.server(), await context.kinds(), name, of);
  const [options, dialect] = [{ ...runOptions(context), progress: () => undefined }, migrationsOf(of)];
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
