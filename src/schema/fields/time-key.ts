/** Time buckets of a key: `published_at(unit: month, time_zone: "Europe/Berlin")`, and `_part`. */
import type { TimeValues } from '../../backend/type-system.ts';
import type { TimeBucket, TimePart, TimeUnit } from '../../ir/select.ts';
import type { Path } from '../../util/path.ts';
import type { CollectedField, EnumSchemaType, InputField } from '../../graphql-engine/types.ts';
import { typeRef } from '../../graphql-engine/types.ts';
import { builtin, INT_SCALAR, STRING_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import { quoted } from './descriptions.ts';
import { invalid, nonNullArgument } from './input.ts';
import { type RoleColumn, type RoleTable, roleTypeName } from './role-table.ts';
import { columnEnum } from './select-column.ts';
import { timeZoneValue } from './time-zone.ts';
import type { ValuePlace } from './value-place.ts';

const UTC = { kind: 'literal', json: 'UTC' } as const;

const DAY_SECONDS = 86_400;
const SECONDS: Readonly<Partial<Record<TimeUnit, number>>> = { second: 1, minute: 60, hour: 3_600 };
const MAX_EVERY = 1_000;

/** Returns how values of a type are put into buckets; null if they are not. */
export function timeValues(table: RoleTable, { type }: ValuePlace): TimeValues | null {
  return type.array ? null : (table.source.shared.types.grouping?.time(type) ?? null);
}

/** Arguments of a key field. */
export function timeArguments(table: RoleTable, { isZoned }: TimeValues): ReadonlyMap<string, InputField> {
  const { source } = table;
  const unit = source.shared.timeUnit();
  const args: readonly InputField[] = [
    { name: source.field('unit'), description: 'group by periods of this length', type: typeRef(unit.name, () => unit) },
    { name: source.field('every'), description: 'group by periods of several units', type: builtin(INT_SCALAR), default: 1 },
    ...(isZoned ? [zoneArgument(table)] : []),
  ];
  return new Map(args.map((argument) => [argument.name, argument]));
}

function zoneArgument({ source }: RoleTable): InputField {
  const description = 'name of the time zone, or its offset from UTC, such as "+05:30"';
  return { name: source.field('time_zone'), description, type: builtin(STRING_SCALAR), default: 'UTC' };
}

/** Returns the bucket that a key field selects; null for the value itself. @throws SvcError */
export function timeBucket(table: RoleTable, { args, path }: CollectedField, { isZoned, hasTime }: TimeValues): TimeBucket | null {
  const { source } = table;
  const argument = (name: string) => nonNullArgument(args, source.field(name));
  const unit = argument('unit');
  const everyInput = argument('every');
  const zone = argument('time_zone');
  if (unit === null) {
    const [lonely] = [everyInput, zone].filter((each) => each !== null);
    if (lonely !== undefined)
      throw invalid(`"${source.field(lonely === zone ? 'time_zone' : 'every')}" needs "${source.field('unit')}"`, lonely.path);
    return null;
  }
  const name = unit.enumValue().value as TimeUnit;
  const every = everyInput === null ? 1 : Number(everyInput.json());
  checkBucket(name, every, hasTime, everyInput?.path ?? unit.path ?? path);
  return { kind: 'time', unit: name, every, zone: !isZoned ? null : zone === null ? UTC : timeZoneValue(zone) };
}

function checkBucket(unit: TimeUnit, every: number, hasTime: boolean, path: Path): void {
  if (every < 1 || every > MAX_EVERY) throw invalid(`every must be between 1 and ${MAX_EVERY}`, path);
  const seconds = SECONDS[unit];
  if (seconds === undefined) return;
  if (!hasTime) throw invalid(`dates have no buckets of ${unit}s`, path);
  const allowed = unit === 'hour' ? ': 1, 2, 3, 4, 6, 8 or 12' : '';
  if (DAY_SECONDS % (every * seconds) !== 0 || every * seconds === DAY_SECONDS)
    throw invalid(`buckets of ${unit}s must divide a day${allowed}`, path);
}

/** `T_aggregate_time_column`; null if the role sees no such column. */
export function timeColumnEnum(table: RoleTable): EnumSchemaType | null {
  const description = `columns with dates and times of table ${quoted(table.source.info, table.info.name)}`;
  return columnEnum(table, roleTypeName(table, 'aggregate_time_column'), description, ({ place }) => timeValues(table, place) !== null);
}

/** Arguments of `_part`. */
export function partArguments(table: RoleTable, columns: EnumSchemaType): ReadonlyMap<string, InputField> {
  const { source } = table;
  const part = source.shared.timePart();
  const args: readonly InputField[] = [
    { name: source.field('column'), description: null, type: typeRef(columns.name, () => columns, true) },
    { name: source.field('part'), description: null, type: typeRef(part.name, () => part, true) },
    zoneArgument(table),
  ];
  return new Map(args.map((argument) => [argument.name, argument]));
}

/** Returns the column and the part of it that `_part` selects. @throws SvcError */
export function timePart(table: RoleTable, { args, path }: CollectedField): { readonly column: RoleColumn; readonly bucket: TimeBucket } {
  const { source } = table;
  const columnInput = args.get(source.field('column'));
  const partInput = args.get(source.field('part'));
  const column = columnInput === undefined ? undefined : table.columns.get(columnInput.enumValue().value);
  const values = column === undefined ? null : timeValues(table, column.place);
  // The engine has checked that these required arguments are present.
  if (column === undefined || partInput === undefined || values === null) throw invalid('the column has no such parts', path);
  const zone = nonNullArgument(args, source.field('time_zone'));
  if (zone !== null && !values.isZoned) throw invalid(`the column "${column.name}" has no time zone`, zone.path);
  const part = partInput.enumValue().value as TimePart;
  return { column, bucket: { kind: 'time-part', part, zone: !values.isZoned ? null : zone === null ? UTC : timeZoneValue(zone) } };
}
