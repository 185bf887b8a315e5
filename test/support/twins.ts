/** Equal tables on PostgreSQL and on another kind behind one service, with the answers of both to the same requests. */
import type { JsonObject } from '../../src/util/json.ts';
import { startMariadb } from './mariadb.ts';
import { runSql, testDatabase } from './postgres.ts';
import { type GraphqlOptions, startTestService, type TestService } from './service.ts';

/** The kind that is compared with PostgreSQL. */
export type OtherKind = 'dbb' | 'dbc';
export type Kind = 'pg' | OtherKind;

/** The admin secret of the service: requests without it are unauthenticated. */
export const ADMIN_SECRET = 'secret';

/** Removes the prefixes of names from an answer, and the positions of errors, which depend on the lengths of the prefixes. */
export function comparable(answer: string): string {
  return answer.replaceAll(/(?:pg|dbb|dbc|dwh)_/g, '_').replaceAll(/"locations":\[[^\]]*\],/g, '');
}

export interface Twins {
  readonly service: TestService;
  /** Runs a metadata operation, such as `track_table`, on the source of each kind. */
  both(operation: string, args: JsonObject): Promise<void>;
  relate(type: 'object' | 'array', table: string, name: string, on: JsonObject | string): Promise<void>;
  /** The text of the answer. An underscore in the request stands for the prefix of roots, types and tables. */
  answer(kind: Kind, request: string, options?: GraphqlOptions): Promise<string>;
  stop(): Promise<void>;
}

export const SOURCES = { pg: 'default', dbb: 'twin', dbc: 'twin' } as const;

export const PRODUCTS: Readonly<Record<OtherKind, string>> = { dbb: 'MariaDB', dbc: 'Citus' };

/** @param tables table names; roots are prefixed with their source @param options of the service */
export async function startTwins(
  tables: readonly string[],
  sql: Readonly<Record<'pg' | 'dbb', string>>,
  options: Readonly<Record<string, string>> = {},
  other: OtherKind = 'dbb',
): Promise<Twins> {
  const place = await placeOf(other, sql);
  const service = await startTestService({ ADMIN_SECRET, ...options }, { TWIN: place.url });
  await service.sql(sql.pg);
  const customization = (prefix: string): JsonObject => ({ root_fields: { prefix }, type_names: { prefix } });
  await service.metadata('pg_update_source', { name: 'default', customization: customization('pg_') });
  const url = other === 'dbb' ? 'connection_string' : 'database_url';
  await service.metadata(`${other}_add_source`, {
    name: 'twin',
    configuration: { connection_info: { [url]: { from_env: 'TWIN' } } },
    customization: customization(`${other}_`),
  });
  const names = new RegExp(`\\b_(?=(?:(?:insert|update|delete)_)?(?:${tables.join('|')}))`, 'g');
  const twins: Twins = {
    service,
    async both(operation, args) {
      for (const kind of ['pg', other] as const) await service.metadata(`${kind}_${operation}`, { source: SOURCES[kind], ...args });
    },
    relate: (type, table, name, on) => twins.both(`create_${type}_relationship`, { table, name, using: { foreign_key_constraint_on: on } }),
    async answer(kind, request, options = {}) {
      return comparable(JSON.stringify(await service.graphql(request.replaceAll(names, `${kind}_`), options)));
    },
    async stop() {
      await service.stop();
      await place.stop();
    },
  };
  for (const table of tables) await twins.both('track_table', { table });
  return twins;
}

interface Place {
  readonly url: string;
  stop(): Promise<void>;
}

/** The database of the other kind, with its tables. */
async function placeOf(other: OtherKind, sql: Readonly<Record<'pg' | 'dbb', string>>): Promise<Place> {
  if (other === 'dbb') {
    const mariadb = await startMariadb();
    await mariadb.run(`create database twin; use twin; ${sql.dbb}`);
    return { url: mariadb.url('twin'), stop: () => mariadb.stop() };
  }
  const database = await testDatabase();
  await runSql(database.url, sql.pg);
  return { url: database.url, stop: () => database.drop() };
}
