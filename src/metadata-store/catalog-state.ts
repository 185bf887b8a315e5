/** What the tools of administrators remember about a metadata database; it is no metadata. */
import type { Source } from '../backend/backend.ts';
import { type Json, parseJson, printJson } from '../util/json.ts';
import { soon } from './soon.ts';

export type CatalogStateOwner = 'cli' | 'console';

export interface CatalogState {
  /** Of the metadata database, the same for as long as it exists. */
  readonly id: string;
  readonly cli: Json;
  readonly console: Json;
}

export interface CatalogStateStore {
  read(): Promise<CatalogState>;
  /** Replaces what one of the tools remembers. */
  write(owner: CatalogStateOwner, state: Json): Promise<void>;
}

const READ = 'select id::text, cli_state::text, console_state::text from svc_catalog.catalog_state';
const WRITE: Readonly<Record<CatalogStateOwner, string>> = {
  cli: 'update svc_catalog.catalog_state set cli_state = $1::json',
  console: 'update svc_catalog.catalog_state set console_state = $1::json',
};

/** `database` is the open metadata database, migrated. */
export function createCatalogStateStore(database: Source): CatalogStateStore {
  return {
    async read() {
      const [id = '', cli = '{}', console = '{}'] = (await database.query(READ, [], soon())).rows[0] ?? [];
      return { id: id ?? '', cli: parseJson(cli ?? '{}'), console: parseJson(console ?? '{}') };
    },
    async write(owner, state) {
      await database.query(WRITE[owner], [printJson(state)], soon());
    },
  };
}
