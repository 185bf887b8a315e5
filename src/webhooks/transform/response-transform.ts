import type { ResponseTransform } from '../../metadata/transform.ts';
import type { Json } from '../../util/json.ts';
import { compileBody } from './body.ts';
import { type ResponseContext, responseEnvironment } from './context.ts';
import { createBudget } from './template/budget.ts';
import { FaultList } from './transform-failure.ts';

/**
 * Returns the transformed body: JSON, the text of a form, or `null` for a removed one.
 * @throws TransformFailure
 */
export type ResponseTransformer = (context: ResponseContext) => Json;

/**
 * Compiles the templates once for all responses.
 * @throws TransformFailure with all invalid templates
 */
export function compileResponseTransform(transform: ResponseTransform): ResponseTransformer {
  const faults = new FaultList();
  const makeBody = transform.body && compileBody(transform.body, faults);
  faults.finish();

  return (context) => {
    if (makeBody === undefined) return context.body;
    const failures = new FaultList();
    const body = failures.attempt(() => makeBody(responseEnvironment(context), createBudget()));
    failures.finish();
    switch (body?.kind) {
      case 'json':
        return body.value;
      case 'form':
        return body.text;
      default:
        return null;
    }
  };
}
