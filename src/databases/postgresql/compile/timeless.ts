/** Values that mean the same at any time, unlike the timestamps `'now'` and `'today'`. */
import type { Parameter } from '../../../sql/fragment.ts';

/** Types of `pg_catalog` whose texts never depend on the current time. */
const TIMELESS: ReadonlySet<string> = new Set([
  ...['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'money', 'oid', 'bool', 'uuid', 'bytea', 'bit', 'varbit'],
  ...['text', 'varchar', 'bpchar', 'name', 'char', 'json', 'jsonb', 'inet', 'cidr', 'macaddr'],
]);
const MOMENTS = /now|today|tomorrow|yesterday/i;

/** Returns whether the text of a parameter means the same value at any time. */
export function isTimeless({ cast }: Parameter, text: string | null): boolean {
  if (text === null) return true;
  const { schema, name, kind } = cast?.type ?? { schema: '', name: '', kind: 'base' };
  return kind === 'enum' || (schema === 'pg_catalog' && TIMELESS.has(name)) || !MOMENTS.test(text);
}
