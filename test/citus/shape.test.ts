import { expect, it } from 'vitest';
import { COMPARES_ROWS, problemsIn } from './shape.ts';

it.each([
  'select coalesce(json_agg(json_build_object(\'a\', "t1"."id")), \'[]\') as "json" from (select "t2"."id" as "id" from "public"."x" as "t2") as "t1"',
  'with "t1" as materialized (select "t2"."id" as "id" from "public"."x" as "t2" where ("t2"."k" in (select "t3"."k" from "public"."y" as "t3"))) select count(*) from "t1" as "t4" left join "t1" as "t5" on "t5"."id" = "t4"."id"',
  'with "t1_0" as materialized (select 1 as "a"), "t1_1" as materialized (select 1 as "a") select 0, "t2_0"."a" from "t1_0" as "t2_0" union all select 1, "t2_1"."a" from "t1_1" as "t2_1"',
  `select case when "t1"."cell" then 1 else concat('svc:ab:', 0 + ("t1"."cell")::int4)::int4 end from "t9" as "t1"`,
  "select case when count(*) = 0 then concat('svc:ab:', 0 + count(*)::int4)::int4 end",
  'with "t3" as (with ":apart" as (select random()) update "public"."x" as "t1" set "n" = case when true then 1 end where (not ("t1"."k" in (select "t2"."k" from "public"."y" as "t2")) is true) returning 1 as ":any") select count(*) from "t3" as "t4"',
])('accepts %s', (sql) => {
  expect(problemsIn(sql)).toEqual([]);
});

it.each([
  ['select 1 from "public"."x" as "t1" left join lateral (select 1) as "t2" on true', 'a lateral join'],
  ['select 1 from "public"."x" as "t1" join "public"."y" as "t2" on true', 'several tables in one select: "public"."x", "public"."y"'],
  [
    'with "t9" as materialized (select 1 as "a") select 1 from "public"."x" as "t1" join "t9" as "t2" on true',
    'the table "public"."x" is joined',
  ],
  ['select 1 from "public"."x" as "t1" where exists (select 1 from "public"."y" as "t2" where "t2"."k" = "t1"."k")', COMPARES_ROWS],
  [
    'select 1 from "public"."x" as "t1" where "t1"."k" in (select "t2"."k" from "public"."y" as "t2" where "t2"."l" = "t1"."l")',
    '"t1" is used in a correlated subquery',
  ],
  [
    'select (select count(*) from "public"."y" as "t2" where "t2"."k" = "t1"."k") from "public"."x" as "t1"',
    '"t1" is used in a correlated subquery',
  ],
  [
    `with "t9" as (select true as "cell") select case when "t1"."cell" then 1 else concat('svc:ab:', (0))::int4 end from "t9" as "t1"`,
    'a failure that depends on no row',
  ],
  ['with "t3" as (delete from "public"."x" as "t1" returning 1) select 1', 'an update or delete that is not planned separately'],
  [
    'with ":apart" as (select random()) delete from "public"."x" as "t1" where not coalesce(("t1"."k" in (select "t2"."k" from "public"."y" as "t2")), false)',
    'a subquery in case or coalesce in an update or delete',
  ],
  [
    'with ":apart" as (select random()) delete from "public"."x" as "t1" where case when ("t1"."k" in (select 1)) then true else false end',
    'a subquery in case or coalesce in an update or delete',
  ],
])('reports %s', (sql, problem) => {
  expect(problemsIn(sql)).toContain(problem);
});

it('expects the documented refusal of conditions that may fail', () => {
  const guarded = (condition: string): string =>
    `with ":apart" as (select random()) delete from "public"."x" as "t1" where case when true then ${condition} else false end`;
  const related = '("t1"."k" in (select "t2"."k" from "public"."y" as "t2")) is true';
  expect(problemsIn(guarded(`(${related}) and ("t1"."n" similar to $1)`))).toEqual([]);
  const aggregated = '("t1"."k" in (select "t2"."k" from "public"."y" as "t2" group by "t2"."k" having (var_samp("t2"."n") < $1)))';
  expect(problemsIn(guarded(aggregated))).toEqual([]);
  expect(problemsIn(guarded(`(${related}) and ("t1"."n" = $1)`))).toEqual(['a subquery in case or coalesce in an update or delete']);
});
