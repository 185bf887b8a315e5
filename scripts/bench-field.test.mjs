// The parts of bench/field that need no server.
import { readFileSync } from 'node:fs';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { ADAPTERS } from '../bench/field/adapters.mjs';
import { optionsOf } from '../bench/field/options.mjs';
import { reportOf } from '../bench/field/report.mjs';
import { allRowsOf, differenceOf } from '../bench/field/same-data.mjs';
import { pathOf, variablesOf } from '../bench/load.mjs';

const WORKLOADS = JSON.parse(readFileSync(new URL('../bench/workloads.json', import.meta.url), 'utf8'));
const QUERIES = Object.keys(WORKLOADS).filter((name) => name !== 'introspection');

const phrase = (server, query, index = 3) => ADAPTERS[server].phrase(query, WORKLOADS[query], variablesOf(WORKLOADS[query], index));

describe('adapters of bench/field', () => {
  it.each(['svc', 'ideal', 'hasura', 'postgraphile'])('phrase each query in GraphQL for %s', (server) => {
    for (const query of QUERIES) {
      const { method, path, headers, body } = phrase(server, query);
      const { query: text, variables } = JSON.parse(body);
      expect([method, path, headers['content-type']], query).toEqual(['POST', '', 'application/json']);
      const [{ variableDefinitions }] = parse(text).definitions;
      const declared = variableDefinitions.map(({ variable }) => variable.name.value);
      expect(Object.keys(variables).sort(), query).toEqual(declared.sort());
    }
  });

  it('phrase each query for PostgREST, except the aggregate with its rows', () => {
    const requests = Object.fromEntries(QUERIES.map((query) => [query, phrase('postgrest', query)]));
    expect(requests['aggregate']).toBeNull();
    expect(decodeURIComponent(requests['nested_list'].path)).toBe(
      '/album?select=album_id,title,artist(name),tracks:track(track_id,name,milliseconds)&order=album_id.asc&limit=10' +
        '&tracks.order=track_id.asc&tracks.limit=10&album_id=gt.279',
    );
    expect(decodeURIComponent(requests['filtered'].path)).toContain('tracks_of_genre.track.genre.name=eq.Comedy&tracks_of_genre.limit=1');
    expect(requests['by_pk']).toMatchObject({ method: 'GET', headers: { accept: 'application/vnd.pgrst.object+json' } });
    expect(requests['update']).toMatchObject({ method: 'PATCH', headers: { prefer: 'return=representation' } });
    expect(JSON.parse(requests['update'].body)).toEqual({ unit_price: 1 });
    expect(requests['insert']).toMatchObject({ method: 'POST', path: '/invoice_line?select=invoice_line_id%2Ctrack%28name%29' });
  });

  it('read answers in the shape of ours', () => {
    const { postgraphile, postgrest } = ADAPTERS;
    const track_aggregate = { count: 2, aggregates: { avg: { milliseconds: '1.5' }, max: { bytes: 7 } }, nodes: [] };
    expect(postgraphile.read('aggregate', { data: { track_aggregate } })).toEqual({
      track_aggregate: { aggregate: { count: 2, avg: { milliseconds: '1.5' }, max: { bytes: 7 } }, nodes: [] },
    });
    const row = { track_id: 1, unit_price: '2.00' };
    expect(postgraphile.read('update', { data: { update_track_by_pk: { track: row } } })).toEqual({ update_track_by_pk: row });
    expect(postgraphile.read('update', { data: { update_track_by_pk: null } })).toEqual({ update_track_by_pk: null });
    expect(postgrest.read('simple', [{ email: 'a' }])).toEqual({ customer: [{ email: 'a' }] });
  });

  it('add the path of a request to that of the URL', () => {
    expect(pathOf('http://localhost:8080/v1/graphql', '')).toBe('/v1/graphql');
    expect(pathOf('http://localhost:3000', '/album?limit=1')).toBe('/album?limit=1');
    expect(pathOf('http://localhost:3000/rest/v1/', '/album?limit=1')).toBe('/rest/v1/album?limit=1');
  });
});

describe('comparison of answers', () => {
  it('ignores the text of numbers, the order of keys, and the order of rows where the query leaves it open', () => {
    expect(differenceOf('by_pk', { a: { id: 1, price: 0.99 } }, { a: { price: '0.990', id: 1 } })).toBeNull();
    expect(differenceOf('by_pk', { avg: '393599.2121039109' }, { avg: '393599.21210391093' })).toBeNull();
    expect(
      differenceOf('simple', { customer: [{ email: 'a' }, { email: 'b' }] }, { customer: [{ email: 'b' }, { email: 'a' }] }),
    ).toBeNull();
    expect(differenceOf('insert', { row: { invoice_line_id: 1, n: 2 } }, { row: { invoice_line_id: 5, n: 2 } })).toBeNull();
  });

  it.each([
    ['another value', { album: [{ title: 'a' }] }, { album: [{ title: 'b' }] }, '$.album[0].title is "b" instead of "a"'],
    ['a missing row', { album: [1, 2] }, { album: [1] }, '$.album has 1 rows instead of 2'],
    ['another order', { album: [1, 2] }, { album: [2, 1] }, '$.album[0] is 2 instead of 1'],
    ['a missing field', { album: { title: null } }, { album: {} }, '$.album.title is missing instead of null'],
    ['a further field', { album: {} }, { album: { title: 'a' } }, '$.album.title is "a" instead of missing'],
    ['null instead of an object', { album: { title: 'a' } }, { album: null }, '$.album is null instead of {"title":"a"}'],
  ])('finds %s', (_, reference, answer, difference) => {
    expect(differenceOf('nested_list', reference, answer)).toBe(difference);
  });

  it('accepts any rows of a list whose limit the query does not order, but no others and not fewer', () => {
    const playlist = (...names) => ({ playlist: [{ name: 'p', tracks_of_genre: names.map((name) => ({ track: { name } })) }] });
    const all = playlist('a', 'b', 'c');
    expect(allRowsOf('filtered', { genre: 'Comedy', track_lim: 1 })).toEqual({ genre: 'Comedy', track_lim: 1000 });
    expect(allRowsOf('by_pk', { id: 1 })).toBeNull();
    expect(differenceOf('filtered', playlist('a'), playlist('c'), all)).toBeNull();
    expect(differenceOf('filtered', playlist('a'), playlist('x'), all)).toBe('tracks_of_genre has the unknown row {"track":{"name":"x"}}');
    expect(differenceOf('filtered', playlist('a'), playlist(), all)).toBe('$.playlist[0].tracks_of_genre is 0 instead of 1');
  });
});

describe('options of bench/field/run.mjs', () => {
  it('have defaults, and start no server that has a URL', () => {
    expect(optionsOf([], QUERIES)).toMatchObject({ queries: QUERIES, started: ['svc', 'postgraphile'], seconds: 3, rounds: 3, urls: {} });
    const argv = ['--svc', 'http://localhost:8080/v1/graphql', '--header', 'svc=X-Svc-Admin-Secret: a:b', '--header', 'svc=x-a:1'];
    expect(optionsOf(argv, QUERIES)).toMatchObject({
      started: ['postgraphile'],
      urls: { svc: 'http://localhost:8080/v1/graphql' },
      headers: { svc: { 'x-svc-admin-secret': 'a:b', 'x-a': '1' } },
    });
  });

  it.each([
    [['--queries', 'by_pk,introspection'], '--queries: there is no "introspection"'],
    [['--servers', 'hasura'], '--servers: there is no "hasura"'],
    [['--load', 'ab'], '--load: there is no "ab"'],
    [['--seconds', '0'], '--seconds is not a whole number from 1 to 600: 0'],
    [['--hasura', 'localhost'], '--hasura is not a URL http://…'],
    [['--database-url', 'http://localhost'], '--database-url is not a URL postgres://…'],
    [['--header', 'x-secret: s'], '--header is not SERVER=NAME:VALUE'],
    [['--nope'], "Unknown option '--nope'"],
  ])('reject %j', (argv, message) => {
    expect(() => optionsOf(argv, QUERIES)).toThrow(message);
  });
});

describe('report of bench/field', () => {
  const ideal = { rate: 2000, p50: 1.04, p99: 3, own: 20, database: 30 };
  const run = {
    facts: [['date', '2026-11-29']],
    results: [
      { query: 'by_pk', server: 'ideal', figures: ideal },
      { query: 'by_pk', server: 'svc', figures: { rate: 1500, p50: 2, p99: 5.25, own: 60, database: 40 } },
      { query: 'by_pk', server: 'hasura', figures: { rate: 50.06, p50: 2, p99: 5, own: Number.NaN, database: 40 } },
      { query: 'by_pk', server: 'postgrest', reason: 'other data: $ is null' },
    ],
  };

  it('is a table of text, with marks and reasons for what has no figures', () => {
    expect(reportOf(run, { isMarkdown: false }).split('\n')).toEqual([
      'date: 2026-11-29',
      '',
      'query  server     req/s  p50 ms  p99 ms  server CPU  PostgreSQL CPU  req/s to ideal  CPU to ideal',
      'by_pk  ideal       2000     1.0     3.0          20              30            1.00          1.00',
      'by_pk  svc         1500     2.0     5.3          60              40            0.75          0.50',
      'by_pk  hasura      50.1     2.0     5.0           –              40            0.03             –',
      'by_pk  postgrest      –       –       –           –               –               –             –',
      '',
      expect.stringMatching(/^CPU is in ms for 1,000 requests/),
      expect.any(String),
      '',
      'Without figures:',
      '- by_pk, postgrest: other data: $ is null',
    ]);
  });

  it('is Markdown on request', () => {
    const lines = reportOf(run, { isMarkdown: true }).split('\n');
    expect(lines).toContain('- date: 2026-11-29');
    expect(lines).toContain('|---|---|--:|--:|--:|--:|--:|--:|--:|');
    expect(lines).toContain('| by_pk | svc | 1500 | 2.0 | 5.3 | 60 | 40 | 0.75 | 0.50 |');
  });
});
