/** Extensions that other engines create in every source: this service creates one only where the SQL of a project needs it. */
import type { NeededExtension } from '../backend/migration-dialect.ts';
import { failure } from '../project/failure.ts';
import { ServerError, type ServerClient } from '../project/server-client.ts';
import { cellOf, type ListedSource } from './sources.ts';

/** Returns the second half of a sentence that begins with "creates" or "needs". */
export function describeExtension({ name, schema, functions }: NeededExtension, source: string): string {
  return `${name} in the schema ${schema} of ${source}, which its SQL needs for ${functions.join(', ')}`;
}

/**
 * Creates the extension in a source if SQL needs it and the database lacks it.
 * @throws ProjectFailure with the statement to run if the role of the source may not create it
 */
export async function createNeededExtension(
  server: ServerClient,
  source: ListedSource,
  texts: readonly string[],
  report: (message: string) => void,
): Promise<void> {
  const needed = await source.backend?.migrations?.neededExtension?.(source.entry, texts, cellOf(server, source));
  if (needed === undefined) return;
  try {
    await server.sql(source, needed.sql, { check_metadata_consistency: false });
    report(`created ${describeExtension(needed, source.name)}`);
  } catch (thrown) {
    if (!(thrown instanceof ServerError)) throw thrown;
    const reason = thrown.databaseError?.message ?? thrown.message;
    throw failure(
      'extension',
      `the source ${source.name} needs ${describeExtension(needed, source.name)}, and it cannot be created: ${reason}. Run as the owner of the database or a superuser: ${needed.sql};`,
    );
  }
}
