/** The result of planning a deployment. */
import type { Problem } from '../project/failure.ts';
import type { DocumentChange } from '../project/document-diff.ts';
import type { DestructiveStep } from './decisions.ts';
import type { SchemaChange } from './schema-change.ts';
import type { PlannedSeed } from './seed-trial.ts';
import type { PlannedInconsistencies } from './trial-inconsistencies.ts';
import type { PlannedStep } from './trial.ts';

export interface DeploymentPlan {
  /** Hash of the plan's input: the files, and the state of the service. */
  readonly hash: string;
  readonly migrations: readonly PlannedStep[];
  readonly seeds: readonly PlannedSeed[];
  /** Problems for which a deployment would be rejected before its first migration. */
  readonly rejections: readonly Problem[];
  /** Errors of a service that accepts no changes. */
  readonly refusals: readonly Problem[];
  /** Variables that are not set, for which a deployment to such a service ends before it is refused. */
  readonly unset: readonly Problem[];
  readonly changes: readonly DocumentChange[];
  /** Changes that clients may notice, by role. */
  readonly schemas: readonly SchemaChange[];
  /** `schemas` without the changes that follow from another one. */
  readonly mainSchemas: readonly SchemaChange[];
  /** Statements of the migrations that delete data. */
  readonly destructive: readonly DestructiveStep[];
  readonly inconsistencies: PlannedInconsistencies;
  readonly notCompared: NotCompared;
  readonly notes: readonly string[];
}

/** Names of objects that the trial run left out. Their schemas may differ. */
export interface NotCompared {
  readonly roles: readonly string[];
  readonly sources: readonly string[];
  readonly remoteSchemas: readonly string[];
}

/** Returns whether a deployment would do nothing. */
export function isEmptyPlan({ migrations, seeds, changes }: DeploymentPlan): boolean {
  return migrations.length + seeds.length + changes.length === 0;
}
