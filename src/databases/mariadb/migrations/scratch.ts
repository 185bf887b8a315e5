import type { ScratchDialect } from '../../../backend/migration-dialect.ts';
import { dialect } from '../compile/dialect.ts';

const EMPTY = `select if(exists(select 1 from information_schema.tables where table_schema = database()) or exists(select 1 from information_schema.routines where routine_schema = database()) or exists(select 1 from information_schema.events where event_schema = database()), '0', '1')`;
const NAME = `select concat(schema_name, char(10), default_character_set_name, char(10), default_collation_name) from information_schema.schemata where schema_name = database()`;

/** @param database lines with its name, character set and collation */
function clear(database: string): string {
  const [name = '', characters = '', collation = ''] = database.split('\n');
  // A single statement, so that an interruption leaves an empty database and never none.
  return `create or replace database ${dialect.identifier(name)} character set ${characters} collate ${collation};\n`;
}

/** Trial migrations in an otherwise empty database. */
export const scratch: ScratchDialect = { empty: EMPTY, baseline: NAME, clear };
