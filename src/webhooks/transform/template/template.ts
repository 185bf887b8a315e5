/** The template language of transforms: JSON with embedded expressions. */
import type { Json } from '../../../util/json.ts';
import type { Budget } from './budget.ts';
import { type TemplateVariables, evaluate } from './evaluate.ts';
import { parseExpression, parseText } from './parse.ts';
import type { Node } from './syntax.ts';

/** A parsed template. */
export interface Template {
  readonly source: string;
  /** @throws TemplateError */
  run(environment: TemplateVariables, budget: Budget): Json;
}

/**
 * Parses a template that produces any JSON.
 * @throws TemplateError Lex Error, Parse Error
 */
export function jsonTemplate(source: string): Template {
  return template(source, parseExpression(source));
}

/**
 * Parses a template that is text with blocks. If it is a single block, it produces the value of the block, so that the caller can tell
 * non-text values from their JSON text.
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
