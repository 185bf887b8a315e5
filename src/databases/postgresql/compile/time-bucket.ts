/** Buckets of moments and days, and parts of them, on the clock of a time zone. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { TimeBucket, TimePart, TimeUnit } from '../../../ir/select.ts';
import type { Value } from '../../../ir/value.ts';
import { integer, string, type Sql, sql } from '../../../sql/fragment.ts';
import { baseType } from '../operators.ts';
import { derivedSql } from './operand.ts';
import { typeNameSql } from './type-name.ts';

const TEXT = baseType('text');

const SECONDS: Readonly<Partial<Record<TimeUnit, number>>> = { second: 1, minute: 60, hour: 3600 };
const MONTHS: Readonly<Partial<Record<TimeUnit, number>>> = { month: 1, quarter: 3, year: 12 };

const FIELDS: Readonly<Record<TimePart, string>> = {
  year: 'year',
  quarter: 'quarter',
  month: 'month',
  week: 'week',
  day_of_month: 'day',
  day_of_week: 'isodow',
  day_of_year: 'doy',
  hour: 'hour',
  minute: 'minute',
};

/** Compiles the first moment of the bucket that contains the value, or a part of the value. */
export function timeBucketSql(value: Sql, type: CatalogType, bucket: TimeBucket): Sql {
  const zone = bucket.zone === null ? null : zoneSql(bucket.zone);
  const clock = clockSql(value, type, zone);
  if (bucket.kind === 'time-part') return finite(value, sql`date_part(${string(FIELDS[bucket.part])}, ${clock})::int4`, sql`null`);
  const { unit, every } = bucket;
  if (every === 1) {
    const name = string(unit);
    if (zone !== null) return sql`date_trunc(${name}, ${value}, ${zone})`;
    return type.name === 'date' ? sql`date_trunc(${name}, ${clock})::date` : sql`date_trunc(${name}, ${clock})`;
  }
  const seconds = SECONDS[unit];
  if (seconds !== undefined) {
    const past = sql`${remainder(sql`extract(epoch from ${clock})::numeric`, every * seconds)}::float8`;
    // A longer period is counted on the clock, so that it begins there also on the day on which the clock is changed.
    const isOnClock = zone !== null && 3600 % (every * seconds) !== 0;
    const start = isOnClock
      ? sql`((${clock} - make_interval(secs => ${past})) at time zone ${zone})`
      : sql`${value} - make_interval(secs => ${past})`;
    return finite(value, start, value);
  }
  const start = isMonths(unit) ? monthsSql(clock, every * (MONTHS[unit] ?? 1)) : daysSql(clock, every * (unit === 'week' ? 7 : 1));
  return finite(value, zone !== null ? sql`(${start} at time zone ${zone})` : type.name === 'date' ? sql`(${start})::date` : start, value);
}

function isMonths(unit: TimeUnit): boolean {
  return MONTHS[unit] !== undefined;
}

/** Compiles the time that a clock in the zone shows. */
function clockSql(value: Sql, type: CatalogType, zone: Sql | null): Sql {
  if (zone !== null) return sql`(${value} at time zone ${zone})`;
  return type.name === 'date' ? sql`${value}::timestamp` : value;
}

/** Days are counted from a Monday. */
function daysSql(clock: Sql, days: number): Sql {
  const day = sql`(${clock}::date - date '2000-01-03')`;
  return sql`(date_trunc('day', ${clock}) - make_interval(days => ${remainder(day, days)}))`;
}

/** Months are counted from the year 0, which the database calls the year 1 before Christ. */
function monthsSql(clock: Sql, months: number): Sql {
  const year = sql`(extract(year from ${clock})::int4 + case when extract(year from ${clock}) < 0 then 1 else 0 end)`;
  const month = sql`(${year} * 12 + extract(month from ${clock})::int4 - 1)`;
  return sql`(date_trunc('month', ${clock}) - make_interval(months => ${remainder(month, months)}))`;
}

/** Compiles a remainder that is never negative. */
function remainder(value: Sql, divisor: number): Sql {
  return sql`((${value} % ${integer(divisor)} + ${integer(divisor)}) % ${integer(divisor)})`;
}

/** Infinite values have no buckets. */
function finite(value: Sql, result: Sql, other: Sql): Sql {
  return sql`case when isfinite(${value}) then ${result} else ${other} end`;
}

/** The database reads offsets as POSIX does, which count to the west. */
function zoneSql(value: Value): Sql {
  return derivedSql({ value, type: TEXT, list: false }, ' zone', typeNameSql(TEXT), (text) =>
    text.startsWith('+') ? `-${text.slice(1)}` : text.startsWith('-') ? `+${text.slice(1)}` : text,
  );
}
