/** Runs handwritten mutation IR, from the plan to the database and back. */
import pg from 'pg';
import type { Source } from '../../src/backend/backend.ts';
import { compiler } from '../../src/databases/postgresql/compile/compiler.ts';
import { postgresql as backend } from '../../src/databases/postgresql/index.ts';
import { SvcError } from '../../src/errors/svc-error.ts';
import { runPlan } from '../../src/execute/run-plan.ts';
import type { MutationRoot } from '../../src/ir/mutation.ts';
import type { SelectRoot } from '../../src/ir/select.ts';
import { type OperationPlan, planOperation } from '../../src/plan/plan.ts';
import { textOfBytes } from '../../src/util/bytes.ts';
import { type Json, parseJson, printJson } from '../../src/util/json.ts';
import { at, ROOT } from '../../src/util/path.ts';
import { testDatabase } from './postgres.ts';

export type Root = MutationRoot['mutation'] | SelectRoot['query'];

export interface MutationRequest {
  readonly variables?: Readonly<Record<string, Json>>;
  readonly session?: Readonly<Record<string, string>>;
  /** True if the statements are used for one request only. */
  readonly once?: boolean;
}

export interface MutationDatabase {
  readonly client: pg.Client;
  /** @returns `data`: one value per root */
  run(roots: readonly Root[], request?: MutationRequest): Promise<readonly Json[]>;
  one(root: Root, request?: MutationRequest): Promise<Json>;
  /** `code: message @ path` of the failure. */
  failure(roots: readonly Root[], request?: MutationRequest): Promise<string>;
  /** First column of all rows. */
  column(query: string): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

export function planMutation(roots: readonly Root[], once = false): OperationPlan {
  const { mutation, select } = compiler({ stringifyNumericTypes: false });
  return planOperation(
    {
      kind: 'mutation',
      name: null,
      response: { kind: 'object', entries: roots.map((_, index) => [`r${index}`, { kind: 'root', index }] as const) },
      roots: roots.map((root, i) => {
        const alias = String(i);
        const isQuery = root.kind === 'rows' || root.kind === 'aggregate' || root.kind === 'connection';
        const meaning = isQuery ? { alias, query: root } : { alias, mutation: root };
        return { kind: 'source', source: 'default', path: at(at(ROOT, 'selectionSet'), `r${i}`), responseKey: `r${i}`, root: meaning };
      }),
      joins: [],
      constraints: [],
      reusable: !once,
    },
    () => ({ mutation, select }),
  );
}

export interface MutationDatabaseOptions {
  /** Defaults to the server's isolation level, so that no transaction is opened explicitly. */
  readonly isolation?: 'read-committed' | 'repeatable-read' | 'serializable';
  readonly prepare?: boolean;
}

export async function mutationDatabase(
  schema: string,
  { isolation, prepare = true }: MutationDatabaseOptions = {},
): Promise<MutationDatabase> {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(schema);
  const configuration = backend.configuration.decode(
    { connection_info: { database_url: database.url, isolation_level: isolation ?? 'read-committed' } },
    ROOT,
  );
  const source: Source = await backend.connect(configuration, {
    sourceName: 'default',
    environment: {},
    usePreparedStatements: prepare,
    maxConnections: 3,
  });
  const run: MutationDatabase['run'] = async (roots, { variables = {}, session = {}, once = false } = {}) => {
    const body = await runPlan(planMutation(roots, once), {
      connections: new Map([['default', source]]),
      session: { role: 'user', variables: new Map(Object.entries(session)), backendOnly: false },
      variables,
      options: {},
    });
    const { data } = parseJson(textOfBytes(body)) as { readonly data: Record<string, Json> };
    return roots.map((_, i) => data[`r${i}`] as Json);
  };
  return {
    client,
    run,
    one: async (root, request) => (await run([root], request))[0] as Json,
    async failure(roots, request) {
      try {
        return `no failure: ${printJson(await run(roots, request))}`;
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        return `${error.code}: ${error.message} @ ${error.printedPath}`;
      }
    },
    column: async (query) => (await client.query({ text: query, rowMode: 'array' })).rows.map((row) => (row as unknown[])[0]),
    async close() {
      await source.close();
      await client.end();
      await database.drop();
    },
  };
}
