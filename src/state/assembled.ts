import type { SvcError } from '../errors/svc-error.ts';
import type { EventTriggerInfo, Inconsistency } from '../schema-cache/schema-cache.ts';
import type { RoleSchemas } from '../schema/role-schemas.ts';
import type { Build } from '../schema-cache/build.ts';
import type { LiveSource } from './live-source.ts';
import type { LiveRemote } from './live-remote.ts';
import type { Snapshot } from './snapshot.ts';

/** The triggers that are not installed as they should be, with what is said of them. */
export type CaptureFailures = ReadonlyMap<EventTriggerInfo, CaptureFailure>;

export interface CaptureFailure {
  readonly source: string;
  readonly error: SvcError;
  readonly inconsistency: Inconsistency;
}

/** A snapshot and what the next one can keep of it. */
export interface Assembled {
  readonly snapshot: Snapshot;
  readonly build: Build;
  readonly sources: ReadonlyMap<string, LiveSource>;
  readonly remotes: ReadonlyMap<string, LiveRemote>;
  readonly roleSchemas: RoleSchemas;
  readonly captureFailures: CaptureFailures;
}
