/**
 * Kills the service at random moments while metadata operations run. The stored document must then be
 * the one before or after the operation in progress, and the service must start with it.
 * `SVC_CRASH_ROUNDS` sets the number of rounds; each round of a worker continues from the end of the last one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { cases } from '../support/deep.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { type ServedProcess, serveInProcess } from '../support/served-process.ts';
import { canonical, type Document, EXTRA, nextOperation, printDocument, readDocument, TABLES } from './documents.ts';

const ROUNDS = Number(process.env['SVC_CRASH_ROUNDS'] ?? cases(100, 2));
/** Number of services that run concurrently, each on its own database: most of a round is waiting. */
const LANES = cases(4, 1);
/** Maximum number of operations that a service finishes before the one in which it is killed. */
const FINISHED = 4;
const START_MS = 600;
/** Every nth kill hits the start instead of an operation. */
const KILLED_STARTS = 8;

const counts = { rounds: 0, operations: 0, before: 0, after: 0, starts: 0 };

/** Repeatable choices; the moments of the kills are not repeatable. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function post(url: string, endpoint: string, body: Json): Promise<{ status: number; text: string }> {
  const response = await fetch(url + endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

class Lane {
  readonly #database: TestDatabase;
  readonly #client: pg.Client;
  readonly #random: () => number;
  #document: Document = { tables: {}, collections: {} };
  #n = 0;

  private constructor(database: TestDatabase, client: pg.Client, seed: number) {
    this.#database = database;
    this.#client = client;
    this.#random = seeded(seed);
  }

  static async open(seed: number): Promise<Lane> {
    const database = await testDatabase();
    const client = new pg.Client(database.url);
    await client.connect();
    return new Lane(database, client, seed);
  }

  async close(): Promise<void> {
    await this.#client.end();
    await this.#database.drop();
  }

  /** The first start is killed while it creates its tables; the next ones find a part of them. */
  async prepare(): Promise<void> {
    await this.#client.query(TABLES.map((name) => `create table ${name} (id int primary key)`).join(';'));
    for (let i = 0; i < cases(3, 1); i++) await this.#killStart();
    const service = serveInProcess(this.#database.url);
    const url = await service.listening;
    this.#document = { tables: Object.fromEntries(TABLES.map((name) => [name, { comment: '', roles: [] }])), collections: {} };
    const { status, text } = await post(url, '/v1/metadata', { type: 'replace_metadata', args: printDocument(this.#document) });
    expect(status, text).toBe(200);
    await this.#end(service);
  }

  async #killStart(): Promise<void> {
    const service = serveInProcess(this.#database.url);
    await sleep(this.#random() * START_MS);
    await this.#end(service);
    counts.starts += 1;
  }

  /** Kills the service, and returns when the database has finished its statements. */
  async #end(service: ServedProcess): Promise<void> {
    service.kill('SIGKILL');
    await service.ended;
    const others = `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
    for (let i = 0; ((await this.#client.query<{ n: number }>(others)).rows[0]?.n ?? 0) > 0; i++) {
      if (i > 6000) throw new Error('connections of a killed service remain');
      await sleep(5);
    }
  }

  async round(): Promise<void> {
    counts.rounds += 1;
    const service = serveInProcess(this.#database.url);
    const url = await service.listening;
    await this.#check(url);
    const possible = await this.#work(service, url);
    await this.#end(service);
    if (this.#random() < 1 / KILLED_STARTS) await this.#killStart();
    await this.#settle(possible);
  }

  /** Sends operations and kills the service in the last one. @returns the documents that may be stored then */
  async #work(service: ServedProcess, url: string): Promise<readonly [before: Document, after: Document]> {
    let expectedMs = 50;
    for (let left = Math.floor(this.#random() * (FINISHED + 1)); ; left -= 1) {
      this.#n += 1;
      const operation = nextOperation(this.#document, this.#n, this.#random);
      const begun = performance.now();
      const killed = left > 0 ? undefined : sleep((0.2 + this.#random()) * expectedMs).then(() => service.kill('SIGKILL'));
      let answer: { status: number; text: string };
      try {
        answer = await post(url, operation.endpoint, operation.body);
      } catch (error) {
        if (killed === undefined) throw error;
        return [this.#document, operation.after];
      }
      expect(answer.status, `${operation.name}: ${answer.text}`).toBe(operation.status);
      counts.operations += 1;
      this.#document = operation.after;
      expectedMs = performance.now() - begun;
      if (killed === undefined) continue;
      // It finished before the kill.
      await killed;
      return [this.#document, this.#document];
    }
  }

  /** Checks the stored pieces directly, before any service reads them. */
  async #settle([before, after]: readonly [Document, Document]): Promise<void> {
    const stored = await this.#stored();
    expect([canonical(before), canonical(after)]).toContain(canonical(stored));
    if (canonical(before) !== canonical(after)) counts[canonical(stored) === canonical(before) ? 'before' : 'after'] += 1;
    this.#document = stored;
    const { rows } = await this.#client.query(
      `select v.resource_version >= max(p.changed_at_version) as fits, bool_or(n.resource_version = v.resource_version) as noticed
       from svc_catalog.metadata_version v, svc_catalog.metadata_piece p, svc_catalog.metadata_notice n group by v.resource_version`,
    );
    expect(rows).toEqual([{ fits: true, noticed: true }]);
  }

  async #stored(): Promise<Document> {
    const { rows } = await this.#client.query<{ kind: string; definition: unknown }>(
      `select kind, definition from svc_catalog.metadata_piece where definition is not null order by kind, key`,
    );
    const of = (kind: string): unknown[] => rows.filter((row) => row.kind === kind).map(({ definition }) => definition);
    return readDocument({ sources: [{ tables: of('table') }], query_collections: of('query_collection') } as Json);
  }

  /** Checks that the service shows the stored document, with no inconsistency except for missing database objects. */
  async #check(url: string): Promise<void> {
    const exported = await post(url, '/v1/metadata', { type: 'export_metadata', args: {} });
    expect(canonical(readDocument(JSON.parse(exported.text) as Json))).toBe(canonical(this.#document));
    const exists = (await this.#client.query(`select to_regclass('${EXTRA}') is not null as it`)).rows[0] as { it: boolean };
    const missing = this.#document.tables[EXTRA] !== undefined && !exists.it;
    const { text } = await post(url, '/v1/metadata', { type: 'get_inconsistent_metadata', args: {} });
    expect(JSON.parse(text), text).toMatchObject({ is_consistent: !missing });
    const answer = await post(url, '/v1/graphql', { query: '{ t0 { id } }' });
    expect(JSON.parse(answer.text)).toEqual({ data: { t0: [] } });
    if (!missing) return;
    await this.#client.query(`create table ${EXTRA} (id int primary key)`);
    const reloaded = await post(url, '/v1/metadata', { type: 'reload_metadata', args: {} });
    expect(reloaded.status, reloaded.text).toBe(200);
  }
}

describe(`a service killed ${ROUNDS} times`, () => {
  it('has the document before or after the operation in progress, and starts', {
    timeout: 180_000 + ROUNDS * 5_000,
  }, async () => {
    const started = performance.now();
    let left = ROUNDS;
    const run = async (seed: number): Promise<void> => {
      const lane = await Lane.open(seed);
      try {
        await lane.prepare();
        while (left > 0) {
          left -= 1;
          await lane.round();
        }
      } finally {
        await lane.close();
      }
    };
    await Promise.all(Array.from({ length: Math.min(LANES, ROUNDS) }, (_, i) => run(i + 1)));
    console.info(JSON.stringify({ ...counts, seconds: Math.round((performance.now() - started) / 1000) }));
    // Kills that never hit an operation would prove nothing.
    expect(counts.before + counts.after).toBeGreaterThanOrEqual(Math.floor(ROUNDS / 10));
  });
});
