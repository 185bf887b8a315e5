/** A database for trials: a source of the service that holds nothing, and holds nothing again when the trial is over. */
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { failure, ProjectFailure } from '../project/failure.ts';
import { type ServerClient, ServerError, type SqlSource } from '../project/server-client.ts';
import type { Runnable } from './run-migrations.ts';
import { cellOf, rowsOf, serverSources } from './sources.ts';

export interface Scratch {
  /** @throws ProjectFailure; what ran before stands */
  run(step: Runnable): Promise<void>;
  /** The schema, to be compared. @throws ProjectFailure */
  lines(): Promise<readonly string[]>;
  /** Takes away all that trials have made. @throws ProjectFailure */
  clear(): Promise<void>;
}

/**
 * @param name of the source for trials
 * @param of whose migrations are to be tried
 * @throws ProjectFailure where it is not there, is of another kind, or holds anything
 */
export async function openScratch(server: ServerClient, kinds: Kinds<Backend>, name: string, of: SqlSource): Promise<Scratch> {
  const found = (await serverSources(server, kinds)).find((source) => source.name === name);
  if (found === undefined) throw failure('no-source', `the service has no source "${name}", which --scratch names`);
  if (found.name === of.name) throw failure('scratch', `--scratch is to name another source than ${of.name}: one with an empty database`);
  if (found.kind !== of.kind)
    throw failure('scratch', `the source ${name} of --scratch is of the kind "${found.kind}", and ${of.name} of "${of.kind}"`);
  const dialect = found.backend?.migrations;
  const means = dialect?.scratch;
  if (dialect === undefined || means === undefined)
    throw failure('not-supported', `migrations of sources of the kind "${found.kind}" are not tried in a database of their own`);
  const cell = cellOf(server, found);
  if ((await cell(means.empty)) !== '1')
    throw failure(
      'scratch',
      `the database of the source ${name} holds something: --scratch is to name one with an empty database, whose content is dropped`,
    );
  const kept = await cell(means.kept);
  return {
    async run({ sql, inTransaction }) {
      const text = dialect.terminated(sql);
      if (text.trim() === '') return;
      try {
        await server.sql(found, text, { check_metadata_consistency: false, ...(inTransaction ? {} : { no_transaction: true }) });
      } catch (thrown) {
        const said = thrown instanceof ServerError ? thrown.databaseError?.message : undefined;
        throw said === undefined ? thrown : failure((thrown as ServerError).code, said);
      }
    },
    lines: async () => (await rowsOf(server, found)(dialect.schemaLines)).map(([line]) => line as string),
    async clear() {
      try {
        await server.sql(found, means.clear(kept), { check_metadata_consistency: false, no_transaction: true });
      } catch (thrown) {
        if (!(thrown instanceof ProjectFailure)) throw thrown;
        throw failure('scratch', `what the trial has made in the source ${name} could not be taken away: ${thrown.message}`);
      }
    },
  };
}
