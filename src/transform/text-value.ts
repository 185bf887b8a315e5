import { isJsonNumber, type Json, numberText } from '../util/json.ts';
import type { Budget } from './template/budget.ts';
import type { TemplateVariables } from './template/evaluate.ts';
import type { Template } from './template/template.ts';
import { wrongResult } from './transform-failure.ts';

/** Runs a template for the text of a header or parameter. @throws TemplateError, TransformFailure */
export function runText(template: Template, environment: TemplateVariables, budget: Budget): string {
  return textOf(template.run(environment, budget));
}

/** The same, with null for null. */
export function runNullableText(template: Template, environment: TemplateVariables, budget: Budget): string | null {
  const value = template.run(environment, budget);
  return value === null ? null : textOf(value);
}

function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (isJsonNumber(value)) return numberText(value);
  throw wrongResult('Template must produce a String, Number, or Boolean value');
}
