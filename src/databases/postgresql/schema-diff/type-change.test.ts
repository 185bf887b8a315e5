import { expect, it } from 'vitest';
import { typeChange } from './type-change.ts';

type Typed = Parameters<typeof typeChange>[0];

const ENUM: Typed = { name: 'c', type: 'public.mood', base: 'public.mood', modifier: -1, isEnum: true };

/** A column of a type as `format_type` prints it. */
function column(type: string): Typed {
  if (type === ENUM.type) return ENUM;
  const [, base = '', first, second] = /^([a-z ]*[a-z])(?:\((\d+)(?:,(\d+))?\))?(?: without time zone)?$/.exec(type) ?? [];
  const full = type.endsWith('without time zone') ? 'timestamp without time zone' : base;
  const modifier =
    first === undefined
      ? -1
      : base === 'numeric'
        ? (Number(first) << 16) + Number(second) + 4
        : Number(first) + (base.startsWith('timestamp') ? 0 : 4);
  return { name: 'c', type, base: full, modifier, isEnum: false };
}

it.each([
  ['smallint', 'integer'],
  ['integer', 'bigint'],
  ['bigint', 'numeric'],
  ['integer', 'numeric(12,2)'],
  ['numeric(10,2)', 'numeric(12,3)'],
  ['numeric(10,2)', 'numeric'],
  ['real', 'double precision'],
  ['character varying(10)', 'character varying(20)'],
  ['character varying(10)', 'text'],
  ['text', 'character varying'],
  ['date', 'timestamp without time zone'],
  ['timestamp(3) without time zone', 'timestamp(6) without time zone'],
])('changes %s to %s without a comment', (from, to) => {
  expect(typeChange(column(from), column(to))).toEqual({});
});

it.each([
  ['bigint', 'integer'],
  ['bigint', 'numeric(12,2)'],
  ['numeric(12,2)', 'numeric(10,2)'],
  ['character varying(20)', 'character varying(10)'],
  ['text', 'character varying(10)'],
])('changes %s to %s, which fails if a value does not fit', (from, to) => {
  expect(typeChange(column(from), column(to))).toEqual({ note: 'This fails if a value does not fit' });
});

it.each([
  ['public.mood', 'text', 'c::text'],
  ['integer', 'text', 'c::text'],
  ['uuid', 'text', 'c::text'],
  ['text', 'public.mood', 'c::text::public.mood'],
])('converts %s to %s by an expression', (from, to, using) => {
  const change = typeChange(column(from), column(to));
  expect(change).toMatchObject({ using });
  expect(change.refused).toBeUndefined();
});

it.each([
  ['text', 'integer', 'c::text::integer'],
  ['numeric', 'numeric(10,2)', 'c::numeric(10,2)'],
  ['numeric(10,2)', 'numeric(10,1)', 'c::numeric(10,1)'],
  ['double precision', 'real', 'c::real'],
  ['double precision', 'integer', 'c::integer'],
  ['timestamp with time zone', 'date', 'c::date'],
  ['timestamp(6) without time zone', 'timestamp(3) without time zone', 'c::timestamp(3) without time zone'],
  ['jsonb', 'text', 'c::text'],
])('refuses to change %s to %s', (from, to, using) => {
  expect(typeChange(column(from), column(to))).toEqual({
    using,
    refused: `the change of c from ${from} to ${to} may fail or change values`,
  });
});
