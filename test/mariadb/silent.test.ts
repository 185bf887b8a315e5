/** A server that accepts connections but stops responding. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Source, Writes } from '../../src/backend/backend.ts';
import { configuration } from '../../src/databases/mariadb/configuration.ts';
import { connect } from '../../src/databases/mariadb/connect.ts';
import { ROOT } from '../../src/util/path.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { type Relay, relayTo } from '../support/relay.ts';
import type { Statement } from '../../src/backend/connection.ts';

describe.skipIf(!hasMariadb())('unresponsive MariaDB', () => {
  let server: TestMariadb;
  let relay: Relay;
  let source: Source & Writes;
  beforeAll(async () => {
    server = await startMariadb();
    await server.run('create database shop; create table shop.item (id int primary key)');
    relay = await relayTo(server.url('shop'));
    source = await connect(
      configuration.decode({ connection_info: { connection_string: relay.url, pool_settings: { max_connections: 2 } } }, ROOT),
      { sourceName: 's', environment: {}, usePreparedStatements: true, maxConnections: 3 },
    );
  });
  afterAll(async () => {
    await relay?.stop();
    await server?.stop();
  });
  const statement = (text: string): Statement => ({ text, parameters: [], repeatable: true, columns: 1 });
  const one = (how = {}) => source.runJson(statement("select '1'"), [], how);

  it('does not delay a request beyond its deadline', async () => {
    await Promise.all([one(), one()]);
    relay.silence();
    const how = { deadline: Date.now() + 100 };
    const insert = { text: 'insert into item values (1)', parameters: [], repeatable: false, columns: 0 };
    const write = { statement: insert, values: [], failures: [], path: ROOT };
    const controller = new AbortController();
    const requests = [
      one(how),
      source.runMutation([write, write], { ...how, settings: [] }),
      // These find no free session.
      one(how),
      source.runMutation([write], { signal: controller.signal, settings: [] }),
    ];
    controller.abort();
    for (const answer of await Promise.allSettled(requests)) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'timeout' } });
    }
    relay.speak();
    expect((await one())[0]?.toString()).toBe('1');
    await source.close();
  });
});
