/** Events are fetched in the order that their trigger requires, on every kind of database. */
import { expect, it } from 'vitest';
import type { Source } from '../../src/backend/backend.ts';
import type { Captures, CapturedTrigger } from '../../src/backend/captures.ts';
import type { CapturedEvent, CapturedEventStore, DeliveryResult, Lease } from '../../src/backend/event-store.ts';
import type { CatalogTable } from '../../src/catalog/catalog.ts';
import { eventTriggerCodec } from '../../src/metadata/event-trigger.ts';
import type { JsonObject } from '../../src/util/json.ts';
import { ROOT } from '../../src/util/path.ts';
import { DEEP } from './deep.ts';

export const A: Lease = { holder: 'a', seconds: 60 };
export const B: Lease = { holder: 'b', seconds: 60 };
const C: Lease = { holder: 'c', seconds: 60 };
export const INSERT: JsonObject = { insert: { columns: '*' } };

export function capturedTrigger(table: CatalogTable, name: string, definition: JsonObject, more: JsonObject = {}): CapturedTrigger {
  return { definition: eventTriggerCodec.decode({ name, definition, webhook: 'http://example.org', ...more }, ROOT), table };
}

/** Events that `takeFrom` fetches after the captures. */
export type TakeArguments = readonly [lease?: Lease, queues?: Readonly<Record<string, number>>, limit?: number];

/** @param queues number of events that each trigger queue may return, by name */
export function takeFrom(
  captures: Pick<Captures, 'events'>,
  lease: Lease = A,
  queues: Readonly<Record<string, number>> = { t: 100 },
  limit = 100,
): Promise<readonly CapturedEvent[]> {
  return captures.events.fetch({ lease, limit, queues: Object.entries(queues).map(([name, most]) => ({ name, limit: most })) });
}

/** The `id` of the new row. */
export function keyOf({ payload }: CapturedEvent): number {
  return (JSON.parse(payload) as { data: { new: { id: number } } }).data.new.id;
}

export function endOf(
  captures: Captures,
  lease: Lease,
  events: readonly CapturedEvent[],
  result: DeliveryResult = { kind: 'delivered' },
): Promise<readonly string[]> {
  return captures.events.record(
    lease,
    events.map(({ id, tries }) => ({ id, tries, result, invocation: { status: 200, request: '{"a":"\\u0000é"}', response: '{}' } })),
  );
}

/** A table `item` with a key `id` and a text `kind`, without rows. */
export interface OrderedItems {
  captures(): Captures;
  table(): CatalogTable;
  sql(text: string): Promise<readonly (readonly (string | null)[])[]>;
  source(): Source;
  /** The queue of an instance that blocks in each transaction until `committing` resolves. */
  slow(committing: () => Promise<void>): CapturedEventStore;
  /** Inserts rows with ids from 1. */
  rows(count: number, kind?: string): Promise<unknown>;
  /** The kind of such a row: `hot` for all but one, which has the rest of its id. */
  remainder(of: number): string;
  hotBut(id: number): string;
  /** A condition on `svc_catalog.event_log`. */
  isOfRow(id: number): string;
}

/** Creates the cases. */
export function keepsOrder(items: OrderedItems): void {
  const { sql, rows } = items;
  const install = (definition: JsonObject, ordering: JsonObject): Promise<unknown> =>
    items.captures().install([capturedTrigger(items.table(), 't', definition, ordering)], { owner: 'test', version: 1 });
  const take = (lease?: Lease, queues?: Readonly<Record<string, number>>) => takeFrom(items.captures(), lease, queues);
  const taken = async (lease?: Lease): Promise<number[]> => (await take(lease)).map(keyOf).sort((a, b) => a - b);
  const end = (lease: Lease, events: readonly CapturedEvent[], result?: DeliveryResult) => endOf(items.captures(), lease, events, result);
  const byKind: JsonObject = { ordering: ['kind'] };

  it('delivers only the first event of a key, and the next one after it has finished', async () => {
    await install(INSERT, byKind);
    await rows(6, items.remainder(2));
    const first = await take();
    expect(first.map(keyOf).sort()).toEqual([1, 2]);
    expect(await taken(B)).toEqual([]);
    await end(
      A,
      first.filter((event) => keyOf(event) === 2),
    );
    const next = await take(B);
    expect(next.map(keyOf)).toEqual([4]);
    // A failing event holds back only its own key, until its retries are used up.
    await end(
      A,
      first.filter((event) => keyOf(event) === 1),
      { kind: 'retry', seconds: 3600 },
    );
    await end(B, next);
    expect(await taken(B)).toEqual([6]);
    await sql(`update svc_catalog.event_log set next_retry_at = null where ${items.isOfRow(1)}`);
    await end(A, await take(A), { kind: 'failed' });
    expect(await taken(B)).toEqual([3]);
  });

  it.runIf(DEEP)('finds other keys behind a long queue of one key', async () => {
    await install(INSERT, byKind);
    await rows(3000, items.hotBut(3000));
    expect(await taken()).toEqual([1, 3000]);
    const aside = await sql('select count(*) from svc_catalog.event_log where lease_until is not null and lease_holder is null');
    expect(Number(aside[0]?.[0])).toBeGreaterThan(2000);
  });

  it.runIf(DEEP)('preserves the order of a long queue that several instances process concurrently', async () => {
    await install(INSERT, byKind);
    await rows(160, items.remainder(5));
    const seen: number[] = [];
    const work = async (lease: Lease, queues?: Readonly<Record<string, number>>): Promise<void> => {
      for (let idle = 0; idle < 200 && seen.length < 160; ) {
        const events = await take(lease, queues);
        idle = events.length === 0 ? idle + 1 : 0;
        seen.push(...events.map(keyOf));
        await end(lease, events);
      }
    };
    await Promise.all([work(A), work(B, { t: 3 }), work(C, { t: 3 })]);
    expect(seen).toHaveLength(160);
    for (let key = 0; key < 5; key++) {
      const own = seen.filter((id) => id % 5 === key);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
  });

  it('holds back an event of a transaction that commits late while a later event of its key is in delivery', async () => {
    await install(INSERT, byKind);
    let later: readonly CapturedEvent[] = [];
    await items.source().transaction({}, async (connection) => {
      await connection.query("insert into item (id, kind) values (1, 'k')", []);
      await sql("insert into item (id, kind) values (2, 'k'), (3, 'k'), (4, 'other')");
      later = await take();
      expect(later.map(keyOf).sort()).toEqual([2, 4]);
    });
    expect([await taken(B), await taken(A)]).toEqual([[], []]);
    await end(A, later);
    expect(await taken(B)).toEqual([1]);
    expect(await taken(A)).toEqual([]);
  });

  it('preserves the order when two instances fetch events of a key at the same moment', async () => {
    await install(INSERT, byKind);
    let began: () => void = () => undefined;
    const hasTaken = new Promise<void>((resolve) => (began = resolve));
    let goOn: () => void = () => undefined;
    const mayEnd = new Promise<void>((resolve) => (goOn = resolve));
    const slow = items.slow(() => {
      began();
      return mayEnd;
    });
    let first: Promise<readonly CapturedEvent[]> | undefined;
    await items.source().transaction({}, async (connection) => {
      await connection.query("insert into item (id, kind) values (1, 'k')", []);
      await sql("insert into item (id, kind) values (2, 'k')");
      first = takeFrom({ events: slow }, A);
      await hasTaken;
    });
    // The other instance has fetched the second event, which is not visible yet.
    const second = await take(B);
    goOn();
    const both = [...((await first) ?? []), ...second].map(keyOf);
    expect(both).toHaveLength(1);
    expect([await taken(A), await taken(B)]).toEqual([[], []]);
  });

  it('orders events of rows by their primary key', async () => {
    await install({ ...INSERT, update: { columns: '*' } }, { ordering: 'row' });
    await sql('insert into item (id) values (1), (2)');
    await sql("update item set kind = 'a'");
    const first = await take();
    expect(first.map(keyOf).sort()).toEqual([1, 2]);
    await end(A, first);
    expect(await taken()).toEqual([1, 2]);
  });
}
