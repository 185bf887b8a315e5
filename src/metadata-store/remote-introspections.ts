/** Last introspections of remote schemas, so that the service starts while one of them is down. */
import type { Source } from '../backend/backend.ts';
import { statementDeadline } from './statement-deadline.ts';
import type { Connection } from '../backend/connection.ts';

export interface StoredIntrospection {
  /** Name of the remote schema. */
  readonly name: string;
  /** Identity of the server: an introspection of another server is not used. */
  readonly server: string;
  /** JSON text of the response. */
  readonly text: string;
}

export interface RemoteIntrospectionStore {
  read(names: readonly string[]): Promise<readonly StoredIntrospection[]>;
  /** Runs inside the transaction that stores the metadata. */
  write(connection: Connection, changed: readonly StoredIntrospection[], removed: readonly string[]): Promise<void>;
}

const READ = `
select name, server, introspection from svc_catalog.remote_schema_introspection
where name in (select json_array_elements_text($1::json))`;
const WRITE = `
insert into svc_catalog.remote_schema_introspection (name, server, introspection) values ($1, $2, $3)
on conflict (name) do update set server = excluded.server, introspection = excluded.introspection, read_at = now()`;
const REMOVE = 'delete from svc_catalog.remote_schema_introspection where name in (select json_array_elements_text($1::json))';

/** @param database open metadata database with the current catalog version */
export function createRemoteIntrospectionStore(database: Source): RemoteIntrospectionStore {
  return {
    async read(names) {
      if (names.length === 0) return [];
      const { rows } = await database.query(READ, [JSON.stringify(names)], statementDeadline());
      return rows.map(([name, server, text]) => ({ name: name ?? '', server: server ?? '', text: text ?? '' }));
    },
    async write(connection, changed, removed) {
      for (const { name, server, text } of changed) await connection.query(WRITE, [name, server, text], statementDeadline());
      if (removed.length > 0) await connection.query(REMOVE, [JSON.stringify(removed)], statementDeadline());
    },
  };
}
