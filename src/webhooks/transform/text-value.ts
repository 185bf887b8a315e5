import { isJsonNumber, type Json, numberText } from '../../util/json.ts';
import type { Budget } from './template/budget.ts';
import type { TemplateVariables } from './template/evaluate.ts';
import type { Template } from './template/template.ts';
import { wrongResult } from './transform-failure.ts';

/** Runs a template for the text of a header or parameter. @throws TemplateError, TransformFailure */
export function runText(template: Template, environment: TemplateVariables, budget: Budget): string {
  return textOf(template.run(environment, budget), budget);
}

/** Like `runText`, but `null` stays `null`. */
export function runNullableText(template: Template, environment: TemplateVariables, budget: Budget): string | null {
  const value = template.run(environment, budget);
  return value === null ? null : textOf(value, budget);
}

/** Counts the characters even if the template is a single value: the text is copied into a URL, a form or a header. */
function textOf(value: Json, budget: Budget): string {
  const text =
    typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : isJsonNumber(value) ? numberText(value) : null;
  if (text !== null) {
    budget.output(text.length);
    return text;
  }
  throw wrongResult('Template must produce a String, Number, or Boolean value');
}
