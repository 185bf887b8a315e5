import { type Transforms, invalidTransform } from '../schema-cache/stages/transforms.ts';
import { validationFailed } from '../webhooks/transform/transform-failure.ts';
import type { Path } from '../util/path.ts';

/** Refuses invalid templates, with all problems in `internal`. @throws SvcError validation-failed */
export function requireTransforms(transforms: Transforms, path: Path): void {
  const fault = invalidTransform(transforms);
  if (fault !== null) throw validationFailed(fault.of, fault.failure, path);
}
