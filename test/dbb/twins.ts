/** The same tables on PostgreSQL and MariaDB, behind one service, and the answers of both to the same requests. */
import type { JsonObject } from '../../src/util/json.ts';
import { startMariadb } from '../support/mariadb.ts';
import { type GraphqlOptions, startTestService, type TestService } from '../support/service.ts';

export type Kind = 'pg' | 'dbb';

/** Of the service: what is asked without it is asked by nobody. */
export const ADMIN_SECRET = 'secret';

export interface Twins {
  readonly service: TestService;
  /** Runs an operation on a source of each kind: `track_table`. */
  both(operation: string, args: JsonObject): Promise<void>;
  relate(type: 'object' | 'array', table: string, name: string, on: JsonObject | string): Promise<void>;
  /** The text of the answer; roots, types and tables of the request begin with an underscore in place of a prefix. */
  answer(kind: Kind, request: string, options?: GraphqlOptions): Promise<string>;
  stop(): Promise<void>;
}

export const SOURCES = { pg: 'default', dbb: 'twin' } as const;

/** @param tables their names; roots have the prefix of their source before them @param options of the service */
export async function startTwins(
  tables: readonly string[],
  sql: Readonly<Record<Kind, string>>,
  options: Readonly<Record<string, string>> = {},
): Promise<Twins> {
  const mariadb = await startMariadb();
  await mariadb.run(`create database twin; use twin; ${sql.dbb}`);
  const service = await startTestService({ ADMIN_SECRET, ...options });
  await service.sql(sql.pg);
  const customization = (prefix: string): JsonObject => ({ root_fields: { prefix }, type_names: { prefix } });
  await service.metadata('pg_update_source', { name: 'default', customization: customization('pg_') });
  await service.metadata('dbb_add_source', {
    name: 'twin',
    configuration: { connection_info: { connection_string: mariadb.url('twin') } },
    customization: customization('dbb_'),
  });
  const names = new RegExp(`\\b_(?=(?:(?:insert|update|delete)_)?(?:${tables.join('|')}))`, 'g');
  const twins: Twins = {
    service,
    async both(operation, args) {
      for (const kind of ['pg', 'dbb'] as const) await service.metadata(`${kind}_${operation}`, { source: SOURCES[kind], ...args });
    },
    relate: (type, table, name, on) => twins.both(`create_${type}_relationship`, { table, name, using: { foreign_key_constraint_on: on } }),
    async answer(kind, request, options = {}) {
      const text = JSON.stringify(await service.graphql(request.replaceAll(names, `${kind}_`), options));
      return text.replaceAll(`${kind}_`, '_');
    },
    async stop() {
      await service.stop();
      await mariadb.stop();
    },
  };
  for (const table of tables) await twins.both('track_table', { table });
  return twins;
}
