/**
 * Operations on plain PostgreSQL and on a real Citus cluster in six layouts have the same answers, errors and rows, except for
 * refusals that `docs/citus.md` lists. Seeded (`SVC_TEST_SEED`); `SVC_CITUS_CASES` sets the number of random operations for each layout.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { Choices, numbersOf } from '../permission-safety/choices.ts';
import { cases, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { CITUS_URL, citusEnvironment, describeCitus, onCoordinator } from './citus.ts';
import { CREATE_TABLES, KEYS, type Kind, LAYOUTS, SOURCES, TABLE_NAMES, type TableName, trackLayout } from './layouts.ts';
import { type Operation, randomOperation } from './random-operations.ts';
import { addTwin, placedAlike, sortedLists } from './twin.ts';
import { comparable } from '../support/twins.ts';

const CASES = Number(process.env['SVC_CITUS_CASES'] ?? cases(320, 20));
const MIGRATIONS = 5;
const LIVE_MS = 30_000;

interface Role extends JsonObject {
  readonly role: string;
  readonly session: Readonly<Record<string, string>>;
}
const ROLES: readonly (Role | JsonObject)[] = [
  {},
  {},
  ...['1', '3'].map((id) => ({ role: 'keeper', session: { 'tenant-id': id, score: '0' } })),
  ...['0', '5'].map((score) => ({ role: 'seer', session: { 'tenant-id': '1', score } })),
];

/** Refusals that `docs/citus.md` documents, by message. Any other refusal is a difference. */
const REFUSALS: Readonly<Record<string, RegExp>> = {
  'on_conflict with a condition about other tables': /change where they conflict cannot depend on rows of other tables/,
  'returning other rows of an upsert with different checks': /returned of an upsert cannot be read from other rows/,
};

function prefixed(kind: Kind, request: string): string {
  return request.replaceAll(/(?<!\w)_(?=insert_|update_|delete_|tenant|customer|orders|line|country)/g, `${kind}_`);
}

/** Removes the statement from an error, which differs on Citus. */
function withoutInternal(answer: string): string {
  return answer.startsWith('{"errors"') ? answer.replace(/,"internal":\{.*$/s, '}}]}') : answer;
}

/** Returns whether both have refused a write with constraint violations; of several violations, servers may report different ones. */
function areViolations(...answers: readonly string[]): boolean {
  return answers.every((answer) => /"code":"(?:constraint-violation|permission-error)"/.test(answer));
}

describeCitus.each(LAYOUTS)('Citus with $name', (layout) => {
  let service: TestService;
  let clients: Readonly<Record<Kind, pg.Client>> | undefined;
  const counts = {
    reads: 0,
    writes: 0,
    live: 0,
    migrations: 0,
    refusals: {} as Record<string, number>,
    failed: 0,
    rows: 0,
    otherViolations: 0,
  };
  const differences: string[] = [];

  const answer = async (kind: Kind, { request }: Operation, options: JsonObject): Promise<string> =>
    comparable(JSON.stringify(await service.graphql(prefixed(kind, request), options)));
  const rows = async (kind: Kind): Promise<string> => {
    const found: string[] = [];
    for (const table of TABLE_NAMES) {
      const text = `select * from ${layout.schema}.${table} order by ${KEYS[table].join(', ')}`;
      const list = (await clients?.[kind].query<unknown[]>({ text, rowMode: 'array' }))?.rows ?? [];
      found.push(...list.map((row) => `${table} ${JSON.stringify(row)}`));
    }
    return found.join('\n');
  };

  beforeAll(async () => {
    const create = [
      `drop schema if exists ${layout.schema} cascade`,
      `create schema ${layout.schema}`,
      `set search_path to ${layout.schema}, public`,
    ];
    service = await startTestService({ LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '100' }, { TWIN: CITUS_URL, ...citusEnvironment });
    await service.sql([...create, ...CREATE_TABLES].join(';\n'));
    const tables = CREATE_TABLES.filter((statement) => statement.startsWith('create'));
    const filled = CREATE_TABLES.filter((statement) => !statement.startsWith('create'));
    await onCoordinator(...create, ...tables, ...layout.spread, ...filled);
    await addTwin(service, { from_env: 'TWIN' });
    await trackLayout(service, layout);
    clients = { pg: new pg.Client({ connectionString: service.databaseUrl }), dbc: new pg.Client({ connectionString: CITUS_URL }) };
    for (const client of Object.values(clients)) await client.connect();
  });
  afterAll(async () => {
    for (const client of Object.values(clients ?? {})) await client.end();
    await service?.stop();
    await onCoordinator(`drop schema if exists ${layout.schema} cascade`);
    console.info(`${layout.name}: ${JSON.stringify(counts)}, seed ${SEED}`);
  });

  /** Returns whether Citus has run the operation. */
  const refused = (ours: string, operation: Operation): boolean => {
    const { errors } = JSON.parse(ours) as { errors?: readonly { message: string; extensions: JsonObject }[] };
    const [error] = errors ?? [];
    if (error?.extensions['code'] !== 'not-supported') return false;
    const name = Object.entries(REFUSALS).find(([, message]) => message.test(error.message))?.[0];
    if (name === undefined)
      differences.push(`refused: ${error.message}\n${operation.request}\n${JSON.stringify(error.extensions).slice(0, 1500)}`);
    counts.refusals[name ?? error.message] = (counts.refusals[name ?? error.message] ?? 0) + 1;
    return true;
  };

  const compare = async (operation: Operation, options: JsonObject): Promise<void> => {
    const context = (): string => `${operation.request}\n${JSON.stringify(options)}`;
    const ours = await answer('dbc', operation, options);
    if (refused(ours, operation)) {
      if (operation.kind === 'write' && (await rows('dbc')) !== (await rows('pg'))) differences.push(`rows after a refusal\n${context()}`);
      return;
    }
    const theirs = await answer('pg', operation, options);
    if (theirs.startsWith('{"errors"')) counts.failed++;
    if (/\[\{/.test(theirs.slice(10))) counts.rows++;
    const isWrite = operation.kind === 'write';
    const [shownOurs, shownTheirs] = [withoutInternal(ours), withoutInternal(theirs)];
    const placed = placedAlike(shownOurs, shownTheirs);
    const [one, two] = isWrite ? [sortedLists(placed), sortedLists(shownTheirs)] : [placed, shownTheirs];
    if (isWrite && areViolations(ours, theirs)) counts.otherViolations += one === two ? 0 : 1;
    else if (one !== two) differences.push(`${context()}\nCitus:      ${one.slice(0, 1500)}\nPostgreSQL: ${two.slice(0, 1500)}`);
    if (isWrite && (await rows('dbc')) !== (await rows('pg'))) {
      differences.push(`rows\n${context()}`);
      await copyRows();
    }
  };

  /** Restores the rows of Citus, so that a difference is reported once. */
  const copyRows = async (): Promise<void> => {
    for (const table of TABLE_NAMES) {
      const name = `${layout.schema}.${table}`;
      const found = await clients?.pg.query<{ all: string }>(`select coalesce(json_agg(t), '[]')::text as all from ${name} t`);
      await clients?.dbc.query(`delete from ${name}`);
      await clients?.dbc.query(`insert into ${name} select * from json_populate_recordset(null::${name}, $1)`, [found?.rows[0]?.all]);
    }
  };

  /** Returns the first answer of a subscription. */
  const live = async (kind: Kind, { request }: Operation, options: JsonObject): Promise<string> => {
    const { role, session = {} } = options as Partial<Role>;
    const names = Object.entries(session).map(([name, value]): [string, string] => [`x-svc-${name}`, value]);
    const headers = { ...(role === undefined ? {} : { 'x-svc-role': role }), ...Object.fromEntries(names) };
    const socket = await new TestSocket(service.url, { protocol: MODERN }).opened();
    try {
      socket.send({ type: 'connection_init', payload: { headers } });
      await socket.next();
      socket.send({ id: '1', type: 'subscribe', payload: { query: prefixed(kind, request) } });
      const late = new Promise<JsonObject>((resolve) => setTimeout(() => resolve({ payload: 'nothing came' }), LIVE_MS).unref());
      const { type = null, payload = null } = await Promise.race([socket.next(), late]);
      return comparable(JSON.stringify(type === 'error' ? { errors: payload } : payload));
    } finally {
      socket.websocket.close();
    }
  };

  const compareLive = async (operation: Operation, options: JsonObject): Promise<void> => {
    if (operation.rows !== undefined) {
      const found = await answer('pg', { kind: 'read', request: operation.rows }, options);
      // A stream without rows sends nothing.
      if (found.includes('[]')) return compare({ kind: 'read', request: operation.rows }, options);
    }
    const ours = await live('dbc', operation, options);
    if (refused(ours, operation)) return;
    const theirs = await live('pg', operation, options);
    if (ours !== theirs)
      differences.push(
        `${operation.request}\n${JSON.stringify(options)}\nCitus:      ${ours.slice(0, 1500)}\nPostgreSQL: ${theirs.slice(0, 1500)}`,
      );
  };

  const migrate = async (number: number): Promise<void> => {
    const table = (name: string): string => `${layout.schema}.${name}`;
    const text = `set local citus.multi_shard_modify_mode to 'sequential';
      alter table ${table('customer')} add column more_${number} int default ${number}; alter table ${table('country')} add column more_${number} text;
      create index on ${table('line')} (product, quantity); alter table ${table('orders')} alter column note set default 'd${number}';
      update ${table('customer')} set more_${number} = score where tenant_id = 1;`;
    for (const [kind, source] of Object.entries(SOURCES) as [Kind, string][]) {
      const sent = kind === 'pg' ? text.replace(/set local [^;]*;/, '') : text;
      const { status, text: body } = await service.send('/v2/query', {
        method: 'POST',
        body: JSON.stringify({ type: `${kind}_run_sql`, args: { source, sql: sent } }),
      });
      if (status !== 200) differences.push(`migration of ${kind}: ${body}`);
    }
    counts.migrations++;
    const fields = `more_${number} country { more_${number} }`;
    await compare({ kind: 'read', request: `{ _customer(order_by: [{tenant_id: asc}, {id: asc}]) { id ${fields} } }` }, {});
  };

  it.each(Object.entries(layout.columns) as [TableName, string][])(
    'refuses unsupported changes of the distribution column of %s',
    async (table, column) => {
      const place = async (request: string): Promise<unknown> => {
        const { errors } = (await service.graphql(`mutation { ${prefixed('dbc', request)} }`)) as unknown as {
          errors: readonly { extensions: JsonObject }[];
        };
        const { code, path } = errors[0]?.extensions ?? {};
        return { code, path };
      };
      const key = KEYS[table].map((name) => `${name}: ${column === 'code' ? '"q"' : 77}`);
      const value = column === 'code' ? '"q"' : '77';
      expect(await place(`_update_${table}(where: {}, _set: {${column}: ${value}}) { affected_rows }`)).toEqual({
        ...{ code: 'not-supported', path: `$.selectionSet.dbc_update_${table}.args._set.${column}` },
      });
      const others = key.filter((each) => !each.startsWith(`${column}:`));
      const named = table === 'tenant' || table === 'customer' ? ['name: "q"'] : [];
      expect(await place(`_insert_${table}(objects: [{${[...others, ...named].join(', ')}}]) { affected_rows }`)).toEqual({
        ...{ code: 'constraint-violation', path: `$.selectionSet.dbc_insert_${table}.args.objects[0]` },
      });
      expect(
        await place(`_insert_${table}(objects: [{${[...others, ...named].join(', ')}, ${column}: null}]) { affected_rows }`),
      ).toMatchObject({
        code: 'validation-failed',
      });
      const preset = { columns: '*', filter: {}, set: { [column]: column === 'code' ? 'q' : 1 } };
      const permission = { source: 'twin', table: { schema: layout.schema, name: table }, role: 'other', permission: preset };
      await expect(service.metadata('dbc_create_update_permission', permission)).rejects.toThrow(
        /cannot have a preset for updates, because it decides on which server a row is/,
      );
      expect(await rows('dbc')).toBe(await rows('pg'));
    },
  );

  it('refuses an upsert whose update depends on other tables, with the path of the clause', async () => {
    const request =
      'mutation { dbc_insert_customer(objects: [{tenant_id: 1, id: 1, name: "q"}], on_conflict: {constraint: customer_pkey, update_columns: [name], where: {orders: {paid: {_eq: true}}}}) { affected_rows } }';
    expect(await service.graphql(request)).toMatchObject({
      errors: [{ extensions: { code: 'not-supported', path: expect.stringContaining('dbc_insert_customer.args.on_conflict') } }],
    });
  });

  it(`${layout.together ? 'takes' : 'refuses'} a permission that compares columns of a row and a related one`, async () => {
    const filter = { customer: { id: { _ceq: ['$', 'customer_id'] } } };
    const permission = {
      source: 'twin',
      table: { schema: layout.schema, name: 'orders' },
      role: 'other',
      permission: { columns: '*', filter },
    };
    const created = service.metadata('dbc_create_select_permission', permission);
    if (!layout.together) return expect(created).rejects.toThrow(/not-supported|server/);
    await created;
    const read = '_orders(order_by: [{tenant_id: asc}, {id: asc}]) { tenant_id id }';
    const all = JSON.stringify(await service.graphql(`{ ${prefixed('pg', read.replace('(', '(where: {customer: {}}, '))} }`));
    expect(comparable(JSON.stringify(await service.graphql(`{ ${prefixed('dbc', read)} }`, { role: 'other' })))).toBe(comparable(all));
  });

  it(
    `runs ${CASES} random operations like PostgreSQL (seed ${SEED})`,
    async () => {
      const choices = new Choices(numbersOf(SEED + LAYOUTS.indexOf(layout), CASES * 400));
      for (let i = 0; i < CASES; i++) {
        if (i % Math.ceil(CASES / MIGRATIONS) === 1) await migrate(i);
        const operation = randomOperation(choices);
        const options = choices.pick(ROLES) as JsonObject;
        counts[operation.kind === 'live' ? 'live' : operation.kind === 'read' ? 'reads' : 'writes']++;
        await (operation.kind === 'live' ? compareLive(operation, options) : compare(operation, options));
      }
      expect(differences.join('\n\n')).toBe('');
      expect(counts.rows).toBeGreaterThan(0);
    },
    Math.max(180_000, CASES * 4_000),
  );
});
