/** State of administration tools in the metadata database. It is not metadata. */
import type { Source } from '../backend/backend.ts';
import { type Json, parseJson, printJson } from '../util/json.ts';
import { statementDeadline } from './statement-deadline.ts';

export type CatalogStateOwner = 'cli' | 'console';

export interface CatalogState {
  /** Permanent id of the metadata database. */
  readonly id: string;
  readonly cli: Json;
  readonly console: Json;
}

export interface CatalogStateStore {
  read(): Promise<CatalogState>;
  /** Replaces the state of one tool. */
  write(owner: CatalogStateOwner, state: Json): Promise<void>;
}

const READ = 'select id::text, cli_state::text, console_state::text from svc_catalog.catalog_state';
const WRITE: Readonly<Record<CatalogStateOwner, string>> = {
  cli: 'update svc_catalog.catalog_state set cli_state = $1::json',
  console: 'update svc_catalog.catalog_state set console_state = $1::json',
};

/** @param database open metadata database with the current catalog version */
export function createCatalogStateStore(database: Source): CatalogStateStore {
  return {
    async read() {
      const [id = '', cli = '{}', console = '{}'] = (await database.query(READ, [], statementDeadline())).rows[0] ?? [];
      return { id: id ?? '', cli: parseJson(cli ?? '{}'), console: parseJson(console ?? '{}') };
    },
    async write(owner, state) {
      await database.query(WRITE[owner], [printJson(state)], statementDeadline());
    },
  };
}
