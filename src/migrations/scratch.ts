/** Scratch database for trial runs: a source of the service that is empty before the trial and emptied after it. */
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { failure, ProjectFailure } from '../project/failure.ts';
import { type ServerClient, ServerError, type SqlSource } from '../project/server-client.ts';
import type { Runnable } from './run-migrations.ts';
import { cellOf, type ListedSource, rowsOf, serverSources } from './sources.ts';

export interface Scratch {
  readonly source: ListedSource;
  /** Runs one step. It is not rolled back if a later one fails. @throws ProjectFailure */
  run(step: Runnable): Promise<void>;
  /** Returns the lines of the schema, for comparison. @throws ProjectFailure */
  lines(): Promise<readonly string[]>;
  /** Drops everything that the trial created. @throws ProjectFailure */
  clear(): Promise<void>;
}

/**
 * @param name name of the scratch source
 * @param of source whose migrations are tried
 * @throws ProjectFailure if the scratch source does not exist, has another kind or is not empty
 */
export async function openScratch(server: ServerClient, kinds: Kinds<Backend>, name: string, of: SqlSource): Promise<Scratch> {
  const found = (await serverSources(server, kinds)).find((source) => source.name === name);
  if (found === undefined)
    throw failure(
      'no-source',
      `the service has no source "${name}", which --scratch names: add one for an empty database to databases.yaml, and run svc deploy`,
    );
  if (found.name === of.name)
    throw failure('scratch', `--scratch names the source ${of.name} itself: name another source with an empty database`);
  if (found.kind !== of.kind)
    throw failure(
      'scratch',
      `the source ${name} has the kind "${found.kind}" and ${of.name} has "${of.kind}": --scratch needs a source of the same kind`,
    );
  const dialect = found.backend?.migrations;
  const scratch = dialect?.scratch;
  if (dialect === undefined || scratch === undefined)
    throw failure('not-supported', `--scratch does not support sources of the kind "${found.kind}"`);
  const cell = cellOf(server, found);
  if ((await cell(scratch.empty)) !== '1')
    throw failure(
      'scratch',
      `the database of the source ${name} is not empty: --scratch needs an empty one, because its content is dropped after the trial`,
    );
  const kept = await cell(scratch.baseline);
  return {
    source: found,
    async run({ sql, inTransaction }) {
      const text = dialect.terminated(sql);
      if (text.trim() === '') return;
      try {
        await server.sql(found, text, { check_metadata_consistency: false, ...(inTransaction ? {} : { no_transaction: true }) });
      } catch (thrown) {
        const message = thrown instanceof ServerError ? thrown.databaseError?.message : undefined;
        throw message === undefined ? thrown : failure((thrown as ServerError).code, message);
      }
    },
    lines: async () => (await rowsOf(server, found)(dialect.schemaLines)).map(([line]) => line as string),
    async clear() {
      try {
        await server.sql(found, scratch.clear(kept), { check_metadata_consistency: false, no_transaction: true });
      } catch (thrown) {
        if (!(thrown instanceof ProjectFailure)) throw thrown;
        throw failure(
          'scratch',
          `the database of the source ${name} could not be emptied after the trial: ${thrown.message}. Empty it before you use it again.`,
        );
      }
    },
  };
}
