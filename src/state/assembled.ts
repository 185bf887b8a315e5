import type { SvcError } from '../errors/svc-error.ts';
import type { EventTriggerInfo, Inconsistency } from '../schema-cache/schema-cache.ts';
import type { RoleSchemas } from '../schema/role-schemas.ts';
import type { Build } from '../schema-cache/build.ts';
import type { LiveSource } from './live-source.ts';
import type { LiveRemote } from './live-remote.ts';
import type { Snapshot } from './snapshot.ts';

/** Event triggers that are not installed correctly, with their failures. */
export type CaptureFailures = ReadonlyMap<EventTriggerInfo, CaptureFailure>;

export interface CaptureFailure {
  readonly source: string;
  readonly error: SvcError;
  readonly inconsistency: Inconsistency;
}

/** Snapshot with the parts that the next one can reuse. */
export interface Assembled {
  readonly snapshot: Snapshot;
  readonly build: Build;
  readonly sources: ReadonlyMap<string, LiveSource>;
  readonly remotes: ReadonlyMap<string, LiveRemote>;
  readonly roleSchemas: RoleSchemas;
  readonly captureFailures: CaptureFailures;
}
