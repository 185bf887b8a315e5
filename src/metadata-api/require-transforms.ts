import { type Transforms, transformFault } from '../schema-cache/stages/transforms.ts';
import { validationFailed } from '../webhooks/transform/transform-failure.ts';
import type { Path } from '../util/path.ts';

/** Refuses templates that cannot be read, with all that is wrong in `internal`. @throws SvcError validation-failed */
export function requireTransforms(transforms: Transforms, path: Path): void {
  const fault = transformFault(transforms);
  if (fault !== null) throw validationFailed(fault.of, fault.failure, path);
}
