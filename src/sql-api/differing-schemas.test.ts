import { expect, it } from 'vitest';
import { libraryCache } from '../../test/support/library-fixture.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { whileWanted } from '../state/wanted.ts';
import { createRoleSchemas, DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../schema/role-schemas.ts';
import { type DifferingSchema, differingSchemas } from './differing-schemas.ts';

/** As far as schemas are compared; tells of whole schemas that are made. */
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
  most = 10,
): Promise<{ told: readonly DifferingSchema[]; rest: readonly string[] }> {
  const schemas = differingSchemas({ before, after, roles: ['user', 'masked', 'nobody'], most, goOn });
  const told: DifferingSchema[] = [];
  for (;;) {
    const next = await schemas.next();
    if (next.done === true) return { told, rest: next.value };
    told.push(next.value);
  }
}

it('prints nothing where nothing differs', async () => {
  const [cache, made] = [libraryCache(), [] as string[]];
  expect(await compared(snapshotOf(cache, made), snapshotOf(cache, made))).toEqual({ told: [], rest: [] });
  expect(made).toEqual([]);
});

it('tells of the roles whose schemas differ, and of those that were too many', async () => {
  const [before, after] = [snapshotOf(libraryCache()), snapshotOf(libraryCache({ namingConvention: 'graphql-default' }))];
  const { told, rest } = await compared(before, after);
  expect(told.map(({ role }) => role)).toEqual(['user', 'masked']);
  expect(told[0]?.before).toContain('author_bool_exp');
  expect(told[0]?.after).toContain('AuthorBoolExp');
  expect(rest).toEqual([]);
  expect((await compared(before, after, undefined, 1)).rest.length).toBeGreaterThan(0);
});

it('ends when its time does, or nobody waits', async () => {
  const [before, after] = [snapshotOf(libraryCache()), snapshotOf(libraryCache({ namingConvention: 'graphql-default' }))];
  const late = { code: 'timeout', message: 'the time limit passed while schemas were compared' };
  await expect(compared(before, after, whileWanted({ deadline: Date.now() - 1 }, 'schemas were compared'))).rejects.toMatchObject(late);
  await expect(compared(before, after, whileWanted({ signal: { aborted: true } }, 'schemas were compared'))).rejects.toMatchObject(late);
  expect(() => whileWanted({ deadline: Date.now() + 60_000, signal: { aborted: false } }, 'schemas were compared')()).not.toThrow();
});
