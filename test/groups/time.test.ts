/** Groups by periods of time, on the clocks of time zones. */
import { beforeAll, describe, expect, it } from 'vitest';
import { resultOf, useLibrary } from './library.ts';
import type { GraphqlOptions } from '../support/service.ts';
import type { Json } from '../../src/util/json.ts';

const library = useLibrary();

interface Group {
  readonly key: Readonly<Record<string, string | number | null>>;
  readonly aggregate: { readonly count: number };
}

async function groupsBy(
  table: string,
  key: string,
  options: GraphqlOptions & { declared?: string; args?: string } = {},
): Promise<readonly Group[] | string> {
  const { declared = '', args = '', ...rest } = options;
  const query = `query${declared} { ${table}_aggregate { groups${args} { key { ${key} } aggregate { count } } } }`;
  const result: Json = resultOf(await library().graphql(query, rest));
  return typeof result === 'string' ? result : (result as unknown as { groups: readonly Group[] }).groups;
}

/** The values of the one part `k` of the key, in the order of the groups. */
async function values(key: string, options: Parameters<typeof groupsBy>[2] = {}): Promise<readonly unknown[] | string> {
  const groups = await groupsBy('article', `k: ${key}`, options);
  return typeof groups === 'string' ? groups : groups.map((group) => group.key['k']);
}

const FAILED = /\(validation-failed\)$/;

describe('periods', () => {
  it('groups moments by the clock of a zone', async () => {
    expect(await values('published_at(unit: month)')).toEqual(['2024-03-01T00:00:00+00:00', '2024-12-01T00:00:00+00:00', 'infinity', null]);
    expect(await values('published_at(unit: year, time_zone: "Europe/Berlin")')).toEqual([
      '2023-12-31T23:00:00+00:00',
      '2024-12-31T23:00:00+00:00',
      'infinity',
      null,
    ]);
    expect(await values('published_at(unit: day, time_zone: "Europe/Berlin")')).toEqual([
      '2024-03-29T23:00:00+00:00',
      '2024-03-30T23:00:00+00:00',
      '2024-12-31T23:00:00+00:00',
      'infinity',
      null,
    ]);
  });

  it('reads offsets as hours to the east', async () => {
    expect(await values('published_at(unit: day, time_zone: "+05:30")', { args: '(limit: 2)' })).toEqual([
      '2024-03-30T18:30:00+00:00',
      '2024-12-31T18:30:00+00:00',
    ]);
    expect(await values('published_at(unit: day, time_zone: "-03:00")', { args: '(limit: 1)' })).toEqual(['2024-03-30T03:00:00+00:00']);
  });

  it('takes the zone from a variable', async () => {
    const declared = '($zone: String)';
    const key = 'published_at(unit: day, time_zone: $zone)';
    const first = async (zone: Json) => values(key, { declared, variables: { zone }, args: '(limit: 1)' });
    expect(await first('Asia/Kathmandu')).toEqual(['2024-03-30T18:15:00+00:00']);
    expect(await first('+05:45')).toEqual(['2024-03-30T18:15:00+00:00']);
    expect(await first(null)).toEqual(['2024-03-30T00:00:00+00:00']);
    expect(await first('Nowhere/Else')).toMatch(/^\$.*zone.*: time zone "Nowhere\/Else" is not known \(validation-failed\)$/);
  });

  it('groups days and times without a zone', async () => {
    expect(await values('day(unit: week)')).toEqual(['2024-03-25', '2024-04-01', '2024-12-30', 'infinity', null]);
    expect(await values('day(unit: quarter)')).toEqual(['2024-01-01', '2024-04-01', '2024-10-01', 'infinity', null]);
    expect(await values('local(unit: hour)', { args: '(limit: 2)' })).toEqual(['-infinity', '2024-03-30T22:00:00']);
    expect(await values('day')).toHaveLength(6);
  });

  it('groups by periods of several units', async () => {
    // Days are counted from Monday 2000-01-03, so every fourteenth is a Monday.
    expect(await values('day(unit: day, every: 14)')).toEqual(['2024-03-25', '2024-12-30', 'infinity', null]);
    expect(await values('day(unit: week, every: 2)')).toEqual(['2024-03-25', '2024-12-30', 'infinity', null]);
    expect(await values('day(unit: month, every: 5)')).toEqual(['2024-03-01', '2024-08-01', 'infinity', null]);
    expect(await values('day(unit: year, every: 10)')).toEqual(['2020-01-01', 'infinity', null]);
    expect(await values('published_at(unit: quarter, every: 2, time_zone: "+01:00")')).toEqual([
      '2023-12-31T23:00:00+00:00',
      '2024-12-31T23:00:00+00:00',
      'infinity',
      null,
    ]);
    expect(await values('published_at(unit: hour, every: 6, time_zone: "+02:00")', { args: '(limit: 2)' })).toEqual([
      '2024-03-30T22:00:00+00:00',
      '2024-03-31T10:00:00+00:00',
    ]);
    expect(await values('local(unit: minute, every: 45)', { args: '(limit: 2)' })).toEqual(['-infinity', '2024-03-30T22:30:00']);
  });

  it('begins longer periods on the clock also on the days on which it is changed', async () => {
    await library().sql(`create table moment (id int primary key, at timestamptz not null);
      insert into moment values (1, '2024-03-31 00:30 Europe/Berlin'), (2, '2024-03-31 05:00 Europe/Berlin'),
        (3, '2024-03-31 06:00 Europe/Berlin'), (4, '2024-10-27 00:30 Europe/Berlin'), (5, '2024-10-27 05:00 Europe/Berlin'),
        (6, '2024-10-27 02:30+02'), (7, '2024-10-27 02:30+01')`);
    await library().metadata('pg_track_table', { table: 'moment' });
    const of = async (period: string): Promise<unknown> => {
      const groups = await groupsBy('moment', `k: at(${period}, time_zone: "Europe/Berlin")`);
      return typeof groups === 'string' ? groups : groups.map(({ key, aggregate }) => [key['k'], aggregate.count]);
    };
    expect(await of('unit: hour, every: 6')).toEqual([
      ['2024-03-30T23:00:00+00:00', 2],
      ['2024-03-31T04:00:00+00:00', 1],
      ['2024-10-26T22:00:00+00:00', 4],
    ]);
    // Half an hour of each of the two hours with the same name.
    expect(await of('unit: minute, every: 30')).toEqual([
      ['2024-03-30T23:30:00+00:00', 1],
      ['2024-03-31T03:00:00+00:00', 1],
      ['2024-03-31T04:00:00+00:00', 1],
      ['2024-10-26T22:30:00+00:00', 1],
      ['2024-10-27T00:30:00+00:00', 1],
      ['2024-10-27T01:30:00+00:00', 1],
      ['2024-10-27T04:00:00+00:00', 1],
    ]);
    await library().metadata('pg_untrack_table', { table: 'moment' });
    await library().sql('drop table moment');
  });

  it('groups by parts of moments', async () => {
    expect(await values('_part(column: published_at, part: day_of_week, time_zone: "Europe/Berlin")')).toEqual([3, 6, 7, null]);
    expect(await values('_part(column: published_at, part: hour)')).toEqual([10, 22, 23, null]);
    expect(await values('_part(column: day, part: day_of_year)')).toEqual([90, 91, 92, 366, null]);
    expect(await values('_part(column: day, part: week)', { args: '(order_by: {key: {_part: desc}})' })).toEqual([null, 14, 13, 1]);
    expect(await values('_part(column: local, part: minute)')).toEqual([0, 30, null]);
  });

  it('is part of the order, under each of its names', async () => {
    const groups = await groupsBy('article', 'title m: published_at(unit: month) y: published_at(unit: year)', {
      args: '(order_by: [{key: {published_at: desc_nulls_last}}, {key: {title: desc}}], limit: 3)',
    });
    expect(groups).toMatchObject([
      { key: { title: 'z', m: 'infinity', y: 'infinity' } },
      { key: { title: 'y', m: '2024-12-01T00:00:00+00:00' } },
      { key: { title: 'y', m: '2024-03-01T00:00:00+00:00' } },
    ]);
  });

  it('rejects what it cannot do, before it reads a row', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['published_at(every: 2)', /args\.every: "every" needs "unit" /],
      ['published_at(time_zone: "UTC")', /args\.time_zone: "time_zone" needs "unit" /],
      ['published_at(unit: day, every: 0)', /every must be between 1 and 1000 /],
      ['published_at(unit: day, every: 1001)', /every must be between 1 and 1000 /],
      ['published_at(unit: hour, every: 5)', /buckets of hours must divide a day: 1, 2, 3, 4, 6, 8 or 12 /],
      ['published_at(unit: hour, every: 24)', /buckets of hours must divide a day/],
      ['published_at(unit: minute, every: 7)', /buckets of minutes must divide a day /],
      ['day(unit: hour)', /dates have no buckets of hours /],
      ['day(unit: day, time_zone: "UTC")', /has no argument named 'time_zone' /],
      ['title(unit: day)', /has no argument named 'unit' /],
      ['_part(column: day, part: hour, time_zone: "UTC")', /the column "day" has no time zone /],
      ['_part(column: title, part: hour)', /title/],
    ];
    for (const [key, error] of cases) {
      const result = await values(key);
      expect(result, key).toMatch(error);
      expect(result, key).toMatch(FAILED);
    }
    for (const zone of ['', 'CET', 'EST5EDT', 'Europe/Nowhere', '+2', '+15:00', '02:00', 'UTC+2', '<x>-2', "'; select 1"]) {
      expect(await values(`published_at(unit: day, time_zone: ${JSON.stringify(zone)})`), zone).toMatch(
        /time zone ".*" is not known \(validation-failed\)$/,
      );
    }
  });
});

describe('clocks', () => {
  const ZONES = [
    ...['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu'],
    ...['Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca', 'UTC'],
  ];
  const HOUR = 3_600_000;
  const START = Date.UTC(2011, 0, 1);
  const COUNT = 3_000;

  beforeAll(async () => {
    await library().sql(`create table tick (id int primary key, at timestamptz not null);
      insert into tick select n, timestamptz '2011-01-01Z' + n * interval '7 hours' from generate_series(0, ${COUNT - 1}) n`);
    await library().metadata('pg_track_table', { table: 'tick' });
  });

  /** Counts by the local time as the runtime's calendar shows it. */
  function countsOf(zone: string, of: (parts: Readonly<Record<string, string>>) => string): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (let i = 0; i < COUNT; i++) {
      const text = of(localTime(zone, new Date(START + i * 7 * HOUR)));
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    return counts;
  }

  const formats = new Map<string, Intl.DateTimeFormat>();

  function localTime(zone: string, moment: Date): Readonly<Record<string, string>> {
    const format =
      formats.get(zone) ??
      new Intl.DateTimeFormat('en', {
        timeZone: zone,
        hourCycle: 'h23',
        weekday: 'short',
        ...({ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const),
      });
    formats.set(zone, format);
    return Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
  }

  it.each(ZONES)('agrees with the calendar of %s', async (zone) => {
    const periods = {
      day: (p: Readonly<Record<string, string>>) => `${p['year']}-${p['month']}-${p['day']}`,
      month: (p: Readonly<Record<string, string>>) => `${p['year']}-${p['month']}`,
    };
    for (const [unit, name] of Object.entries(periods)) {
      const groups = await groupsBy('tick', `at(unit: ${unit}, time_zone: "${zone}")`);
      if (typeof groups === 'string') throw new Error(groups);
      const found = new Map(groups.map(({ key, aggregate }) => [name(localTime(zone, new Date(String(key['at'])))), aggregate.count]));
      expect(found.size).toBe(groups.length);
      expect(found).toEqual(countsOf(zone, name));
    }
    const hours = await groupsBy('tick', `k: _part(column: at, part: hour, time_zone: "${zone}")`);
    if (typeof hours === 'string') throw new Error(hours);
    expect(new Map(hours.map(({ key, aggregate }) => [Number(key['k']), aggregate.count]))).toEqual(
      new Map([...countsOf(zone, (parts) => String(parts['hour']))].map(([hour, count]) => [Number(hour), count])),
    );
  });
});
