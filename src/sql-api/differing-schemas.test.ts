import { expect, it } from 'vitest';
import { libraryCache } from '../../test/support/library-fixture.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { deadlineCheck } from '../state/deadline-check.ts';
import { createRoleSchemas, DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../schema/role-schemas.ts';
import { type DifferingSchema, differingSchemas } from './differing-schemas.ts';

/** Makes a snapshot for comparisons. @param made collects the roles for which a whole schema is made */
function snapshotOf(cache: Snapshot['cache'], made: string[] = []): Snapshot {
  const schemas = createRoleSchemas(cache, DEFAULT_ROLE_SCHEMAS_OPTIONS);
  return {
    cache,
    wholeRoots(role: string, variant: 'frontend' | 'backend') {
      made.push(role);
      return schemas.wholeRoots(role, variant);
    },
  } as unknown as Snapshot;
}

async function compared(
  before: Snapshot,
  after: Snapshot,
  goOn: () => void = () => undefined,
  maxRoles = 10,
): Promise<{ differing: readonly DifferingSchema[]; rest: readonly string[] }> {
  const schemas = differingSchemas({ before, after, roles: ['user', 'masked', 'nobody'], maxRoles, goOn });
  const differing: DifferingSchema[] = [];
  for (;;) {
    const next = await schemas.next();
    if (next.done === true) return { differing, rest: next.value };
    differing.push(next.value);
  }
}

it('builds no schema if nothing differs', async () => {
  const [cache, made] = [libraryCache(), [] as string[]];
  expect(await compared(snapshotOf(cache, made), snapshotOf(cache, made))).toEqual({ differing: [], rest: [] });
  expect(made).toEqual([]);
});

it('yields the schemas that differ, and returns the roles beyond the maximum', async () => {
  const [before, after] = [snapshotOf(libraryCache()), snapshotOf(libraryCache({ namingConvention: 'graphql-default' }))];
  const { differing, rest } = await compared(before, after);
  expect(differing.map(({ role }) => role)).toEqual(['user', 'masked']);
  expect(differing[0]?.before).toContain('author_bool_exp');
  expect(differing[0]?.after).toContain('AuthorBoolExp');
  expect(rest).toEqual([]);
  expect((await compared(before, after, undefined, 1)).rest.length).toBeGreaterThan(0);
});

it('rejects with a timeout after the deadline or a cancellation', async () => {
  const [before, after] = [snapshotOf(libraryCache()), snapshotOf(libraryCache({ namingConvention: 'graphql-default' }))];
  const late = { code: 'timeout', message: 'the time limit passed while schemas were compared' };
  await expect(compared(before, after, deadlineCheck({ deadline: Date.now() - 1 }, 'schemas were compared'))).rejects.toMatchObject(late);
  await expect(compared(before, after, deadlineCheck({ signal: { aborted: true } }, 'schemas were compared'))).rejects.toMatchObject(late);
  expect(() => deadlineCheck({ deadline: Date.now() + 60_000, signal: { aborted: false } }, 'schemas were compared')()).not.toThrow();
});
