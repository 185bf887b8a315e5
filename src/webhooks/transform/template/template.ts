/** The template language of transforms: JSON with expressions in it. */
import type { Json } from '../../../util/json.ts';
import type { Budget } from './budget.ts';
import { type TemplateVariables, evaluate } from './evaluate.ts';
import { parseExpression, parseText } from './parse.ts';
import type { Node } from './syntax.ts';

/** A template that has been read. */
export interface Template {
  readonly source: string;
  /** @throws TemplateError */
  run(environment: TemplateVariables, budget: Budget): Json;
}

/**
 * A template of any JSON.
 * @throws TemplateError Lex Error, Parse Error
 */
export function jsonTemplate(source: string): Template {
  return template(source, parseExpression(source));
}

/**
 * Text with blocks in it. One that is a single block and nothing else has the value of this
 * block, so that what no text stands for can be told from its JSON text.
 * @throws TemplateError Lex Error, Parse Error
 */
export function textTemplate(source: string): Template {
  return template(source, soleBlock(parseText(source)));
}

function template(source: string, node: Node): Template {
  return { source, run: (environment, budget) => evaluate(node, source, environment, budget) };
}

function soleBlock(node: Node): Node {
  if (node.kind !== 'text' || node.parts.length !== 1) return node;
  const [part] = node.parts;
  return part === undefined || typeof part === 'string' ? node : part;
}
