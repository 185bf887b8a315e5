/** Values that mean the same at any time, unlike `'now'` or `'today'` of a timestamp. */
import type { Parameter } from '../../../sql/fragment.ts';

/** Types of `pg_catalog` whose texts never name a moment that is not written out. */
const TIMELESS: ReadonlySet<string> = new Set([
  ...['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'money', 'oid', 'bool', 'uuid', 'bytea', 'bit', 'varbit'],
  ...['text', 'varchar', 'bpchar', 'name', 'char', 'json', 'jsonb', 'inet', 'cidr', 'macaddr'],
]);
const MOMENTS = /now|today|tomorrow|yesterday/i;

/** Whether the text of a parameter stands for the same value whenever the database reads it. */
export function isTimeless({ cast }: Parameter, text: string | null): boolean {
  if (text === null) return true;
  const { schema, name, kind } = cast?.type ?? { schema: '', name: '', kind: 'base' };
  return kind === 'enum' || (schema === 'pg_catalog' && TIMELESS.has(name)) || !MOMENTS.test(text);
}
