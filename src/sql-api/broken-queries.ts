/** Finds stored queries that a change makes invalid for the roles that may run them. */
import { ADMIN_ROLE } from '../auth/session.ts';
import type { CollectedQuery } from '../metadata/query-collection.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { groupBy } from '../util/group-by.ts';
import type { Cooperative } from '../util/cooperative.ts';

const MAX_LISTED = 100;

export interface BrokenQuery {
  readonly role: string;
  readonly collection: string;
  readonly query: CollectedQuery;
  /** Reasons why it is invalid after the change: `$.album.note: field 'note' not found in type 'album'`. */
  readonly problems: readonly string[];
  /** Names of its REST endpoints. */
  readonly endpoints: readonly string[];
  /** True if it is in the role's allow-list. */
  readonly isAllowed: boolean;
}

export interface BrokenQueries {
  /** Up to 100. */
  readonly listed: readonly BrokenQuery[];
  readonly count: number;
}

/**
 * Finds queries of the allow-list and of REST endpoints that are valid for a role before a change and invalid after it.
 * @param roles roles whose schemas differ
 */
export function* brokenQueries(before: Snapshot, after: Snapshot, roles: readonly string[]): Cooperative<BrokenQueries> {
  const listed: BrokenQuery[] = [];
  let count = 0;
  const users = groupBy(after.metadata.restEndpoints.values(), ({ definition: { query } }) => keyOf(query.collectionName, query.queryName));
  for (const collection of after.metadata.queryCollections.values()) {
    const entry = after.metadata.allowlist.get(collection.name);
    for (const query of collection.queries.values()) {
      const endpoints = (users.get(keyOf(collection.name, query.name)) ?? []).map(({ name }) => name).sort();
      for (const role of roles) {
        const isAllowed = entry !== undefined && (entry.scope === null || entry.scope.includes(role) || role === ADMIN_ROLE);
        if (!isAllowed && endpoints.length === 0) continue;
        yield;
        const { api } = before.storedOperations.summary(query);
        const problemsAt = ({ storedOperations, roleSchema }: Snapshot): readonly string[] =>
          storedOperations.problemsIn(roleSchema(role, 'frontend', api).roots, query);
        const problems = problemsAt(after);
        if (problems.length === 0 || problemsAt(before).length > 0) continue;
        count++;
        if (listed.length < MAX_LISTED) listed.push({ role, collection: collection.name, query, problems, endpoints, isAllowed });
      }
    }
  }
  return { listed, count };
}

function keyOf(collection: string, query: string): string {
  return JSON.stringify([collection, query]);
}
