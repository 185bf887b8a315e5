import { SvcError } from '../errors/svc-error.ts';
import type { Snapshot } from './snapshot.ts';

/** @param expected the `resource_version` that the client sent; `undefined` accepts any @throws SvcError conflict */
export function requireVersion({ resourceVersion }: Pick<Snapshot, 'resourceVersion'>, expected: number | undefined): void {
  if (expected === undefined || expected === resourceVersion) return;
  throw new SvcError('conflict', `metadata resource version referenced (${expected}) did not match current version`);
}
