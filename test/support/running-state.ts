/** A running state on its own database, for tests of the room `state`. */
import { NO_REMOTES } from './no-remotes.ts';
import { afterEach, beforeEach } from 'vitest';
import { runSql, type TestDatabase, testDatabase } from './postgres.ts';
import type { Backend, Source } from '../../src/backend/backend.ts';
import { nameKey } from '../../src/catalog/catalog.ts';
import { postgresql } from '../../src/databases/postgresql/index.ts';
import { withSource, withTable } from '../../src/metadata/edit.ts';
import { kindsOf } from '../../src/metadata/kinds.ts';
import type { Metadata, SourceMetadata } from '../../src/metadata/metadata.ts';
import { newTable } from '../../src/metadata/table.ts';
import { NO_CUSTOMIZATION } from '../../src/metadata/source.ts';
import type { Observer } from '../../src/observability/observation.ts';
import { objectId } from '../../src/schema-cache/object-id.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../../src/schema/role-schemas.ts';
import { createStorage, type Storage } from '../../src/metadata-store/storage.ts';
import { ROOT } from '../../src/util/path.ts';
import { createState, type RunningState } from '../../src/state/create-state.ts';

export const name = (text: string) => ({ schema: 'public', name: text });
export const key = (text: string) => nameKey(name(text));
export const kinds = kindsOf([postgresql as Backend]);

export let database: TestDatabase;
let storageSource: Source;
export let storage: Storage;
export let state: RunningState;
export const opened: { closed: boolean }[] = [];

/** The real kind, with counters of opened and closed sources. */
const counting: Backend = {
  ...(postgresql as Backend),
  async connect(configuration, context) {
    const source = await postgresql.connect(configuration as never, context);
    const record = { closed: false };
    opened.push(record);
    const close = source.close.bind(source);
    source.close = () => {
      record.closed = true;
      return close();
    };
    return source;
  },
};

export function source(sourceName: string, url: string): SourceMetadata {
  const configuration = postgresql.configuration.decode({ connection_info: { database_url: url } }, ROOT);
  return { name: sourceName, kind: 'pg', configuration, customization: NO_CUSTOMIZATION, tables: new Map(), functions: new Map() };
}

export function start(instanceId = 'one', overrides: Partial<Storage> = {}, observe: Observer = () => {}): Promise<RunningState> {
  return createState({
    storage: {
      load: () => storage.load(),
      save: (changes) => storage.save(changes),
      changesSince: (version, isSettled) => storage.changesSince(version, isSettled),
      currentVersion: () => storage.currentVersion(),
      isAlive: (timeoutMs) => storage.isAlive(timeoutMs),
      ...overrides,
    },
    backends: [counting],
    kinds,
    cache: { defaultNamingConvention: 'svc-default' },
    roleSchemas: DEFAULT_ROLE_SCHEMAS_OPTIONS,
    connect: { environment: {}, usePreparedStatements: true, maxConnections: 4 },
    ...NO_REMOTES,
    observe,
    instanceId,
    retry: { firstMs: 20, maxMs: 40 },
    closeDelayMs: 10,
  });
}

export const add = (url: string) => ({
  edit: (metadata: Metadata) => withSource(metadata, source('s', url)),
  edited: [objectId.source('s')],
});
export const track = (table: string) => ({
  edit: (metadata: Metadata) => withTable(metadata, 's', newTable(name(table))),
  edited: [objectId.table('s', name(table))],
});

/** Provides a state on an empty catalog and a database with tables, anew for each test of a file. */
export function useRunningState(): void {
  beforeEach(async () => {
    opened.length = 0;
    database = await testDatabase('ready');
    await runSql(
      database.url,
      `create table author (id int primary key, name text not null);
       create table article (id int primary key, title text, author_id int not null references author);
       create table color (value text primary key, comment text);
       insert into color values ('red', 'warm'), ('blue', null);`,
    );
    const configuration = postgresql.configuration.decode({ connection_info: { database_url: database.url } }, ROOT);
    storageSource = await postgresql.connect(configuration, {
      sourceName: 'storage',
      environment: {},
      usePreparedStatements: true,
      maxConnections: 4,
    });
    storage = createStorage(storageSource, kinds);
    await storage.migrate();
    state = await start();
  });

  afterEach(async () => {
    await state.stop();
    await storageSource.close();
    await database.drop();
  });
}
