/** A plan as JSON. */
import type { JsonObject } from '../util/json.ts';
import type { DeploymentPlan } from './deployment-plan.ts';
import { type PlanSummary, summaryJson } from './summary.ts';

export function planJson(
  { hash, migrations, seeds, changes, schemas, inconsistencies, notCompared, notes }: DeploymentPlan,
  summary: PlanSummary,
): JsonObject {
  return {
    hash,
    summary: summaryJson(summary),
    migrations: migrations.map(
      ({ locks, ...step }): JsonObject => ({
        ...step,
        ...(locks === undefined ? {} : { locks: locks.map(({ table, mode, rewritten }) => ({ table, mode, rewritten })) }),
      }),
    ),
    seeds: seeds.map(({ source, name, state, message }) => ({ source, name, state, ...(message === undefined ? {} : { message }) })),
    changes: changes.map(({ kind, object, role, access, details }) => ({
      kind,
      object,
      role: role ?? null,
      access: access ?? null,
      details,
    })),
    schemas: schemas.map((change) => ({ ...change })),
    inconsistencies: { before: inconsistencies.before, after: inconsistencies.after, not_known: inconsistencies.notKnown },
    roles_not_compared: notCompared.roles,
    untried_sources: notCompared.sources,
    untried_remote_schemas: notCompared.remoteSchemas,
    notes,
  };
}
