import { expect, it } from 'vitest';
import { type DeploymentPlan, planJson, printPlan } from './plan.ts';

const NOTHING: DeploymentPlan = {
  ...{ hash: 'h', migrations: [], changes: [], schemas: [], notes: [] },
  inconsistencies: { before: [], after: [], notKnown: [], problems: [] },
  notCompared: { roles: [], sources: [], remoteSchemas: [] },
};

it('lists what was not compared only if something was not compared', () => {
  expect(printPlan(NOTHING)).toBe('migrations: none\n\nmetadata: no changes\n\nplan h');
  const plan = { ...NOTHING, notCompared: { roles: ['clerk', 'guest'], sources: ['far'], remoteSchemas: ['added'] }, notes: ['so it is'] };
  expect(printPlan(plan)).toBe(`migrations: none

metadata: no changes

not compared:
  roles clerk, guest: there are too many roles, or their schemas are too large
  sources far: their connection settings change, so the plan uses the tables that the service knows
  remote schemas added: they are new or their connection settings change, and a plan sends no requests to remote servers

note: so it is

plan h`);
  expect(planJson(plan)).toMatchObject({
    roles_not_compared: ['clerk', 'guest'],
    untried_sources: ['far'],
    untried_remote_schemas: ['added'],
  });
});
