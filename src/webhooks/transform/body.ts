import type { BodyTransform } from '../../metadata/transform.ts';
import type { Json } from '../../util/json.ts';
import type { Budget } from './template/budget.ts';
import type { TemplateVariables } from './template/evaluate.ts';
import { jsonTemplate, type Template, textTemplate } from './template/template.ts';
import { runNullableText } from './text-value.ts';
import type { FaultList } from './transform-failure.ts';
import { printParameters, type UrlParameter } from './web-address.ts';

export type TransformedBody =
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'form'; readonly text: string }
  | { readonly kind: 'none' };

/** @throws TemplateError, TransformFailure */
export type BodyMaker = (environment: TemplateVariables, budget: Budget) => TransformedBody;

/** Compiles the templates of a body transform; adds invalid ones to `faults`. */
export function compileBody(transform: BodyTransform, faults: FaultList): BodyMaker | undefined {
  switch (transform.action) {
    case 'remove':
      return () => ({ kind: 'none' });
    case 'transform': {
      const template = faults.attempt(() => jsonTemplate(transform.template));
      return template && ((environment, budget) => ({ kind: 'json', value: bounded(template.run(environment, budget), budget) }));
    }
    case 'x_www_form_urlencoded': {
      const fields = byName(transform.formTemplate).flatMap(([name, source]): (readonly [string, Template])[] => {
        const template = faults.attempt(() => textTemplate(source));
        return template === undefined ? [] : [[name, template]];
      });
      return (environment, budget) => ({ kind: 'form', text: form(fields, environment, budget) });
    }
  }
}

function bounded(value: Json, budget: Budget): Json {
  budget.printing(value);
  return value;
}

function form(fields: readonly (readonly [string, Template])[], environment: TemplateVariables, budget: Budget): string {
  const parameters = fields.map(([name, template]): UrlParameter => [name, runNullableText(template, environment, budget)]);
  return printParameters(parameters.filter(([, value]) => value !== null));
}

/** Sorts configured entries by name, the order in which they are sent. */
export function byName<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
