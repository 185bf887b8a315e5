import type { ResponseTransform } from '../../metadata/transform.ts';
import type { Json } from '../../util/json.ts';
import { compileBody } from './body.ts';
import { type ResponseContext, responseEnvironment } from './context.ts';
import { createBudget } from './template/budget.ts';
import { FaultList } from './transform-failure.ts';

/**
 * Gives the body that stands for that of the response: JSON, the text of a form, or null for one
 * that is removed.
 * @throws TransformFailure
 */
export type ResponseTransformer = (context: ResponseContext) => Json;

/**
 * Reads the templates, once for all responses.
 * @throws TransformFailure with every template that cannot be read
 */
export function compileResponseTransform(transform: ResponseTransform): ResponseTransformer {
  const faults = new FaultList();
  const makeBody = transform.body && compileBody(transform.body, faults);
  faults.finish();

  return (context) => {
    if (makeBody === undefined) return context.body;
    const found = new FaultList();
    const body = found.attempt(() => makeBody(responseEnvironment(context), createBudget()));
    found.finish();
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
