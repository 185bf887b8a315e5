/** Checks the templates of transforms. */
import type { RequestTransform, ResponseTransform } from '../../metadata/transform.ts';
import { compileRequestTransform } from '../../webhooks/transform/request-transform.ts';
import { compileResponseTransform } from '../../webhooks/transform/response-transform.ts';
import { TransformFailure } from '../../webhooks/transform/transform-failure.ts';
import { Defect } from '../inconsistency.ts';

export interface Transforms {
  readonly requestTransform?: RequestTransform | undefined;
  readonly responseTransform?: ResponseTransform | undefined;
}

/** Returns the first transform whose template cannot be parsed, or null. */
export function invalidTransform({
  requestTransform,
  responseTransform,
}: Transforms): { readonly of: 'request' | 'response'; readonly failure: TransformFailure } | null {
  for (const [of, compile] of [
    ['request', () => requestTransform && compileRequestTransform(requestTransform)],
    ['response', () => responseTransform && compileResponseTransform(responseTransform)],
  ] as const) {
    try {
      compile();
    } catch (thrown) {
      if (!(thrown instanceof TransformFailure)) throw thrown;
      return { of, failure: thrown };
    }
  }
  return null;
}

/** @throws Defect */
export function checkTransforms(transforms: Transforms): void {
  const fault = invalidTransform(transforms);
  if (fault !== null) throw new Defect(`${fault.of} transform validation failed: ${fault.failure.message}`);
}
