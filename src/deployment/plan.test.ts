import { expect, it } from 'vitest';
import { type Plan, planJson, printPlan } from './plan.ts';

const NOTHING: Plan = {
  ...{ hash: 'h', migrations: [], changes: [], schemas: [], notes: [] },
  inconsistencies: { before: [], after: [], notKnown: [], problems: [] },
  notCompared: { roles: [], sources: [], remoteSchemas: [] },
};

it('tells what was not compared, and says nothing where all was', () => {
  expect(printPlan(NOTHING)).toBe('migrations: none\n\nmetadata: no changes\n\nplan h');
  const plan = { ...NOTHING, notCompared: { roles: ['clerk', 'guest'], sources: ['far'], remoteSchemas: ['added'] }, notes: ['so it is'] };
  expect(printPlan(plan)).toBe(`migrations: none

metadata: no changes

not compared:
  roles clerk, guest: there are too many of them, or their schemas are too large
  sources far: they are opened in another way, and are compared as they are known
  remote schemas added: they are new or asked in another way, and no server is asked for a plan

note: so it is

plan h`);
  expect(planJson(plan)).toMatchObject({
    roles_not_compared: ['clerk', 'guest'],
    untried_sources: ['far'],
    untried_remote_schemas: ['added'],
  });
});
