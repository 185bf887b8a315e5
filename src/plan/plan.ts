/** IR -> steps. A plan holds no request's values, so it serves every request its constraints fit. */
import type { Statement } from '../backend/backend.ts';
import type { Compiler } from '../backend/backend.ts';
import type { Constraint } from '../schema/constraint.ts';
import type { ResponseNode, TranslatedOperation, TranslatedRoot } from '../schema/translation.ts';
import { type Binder, binder } from './bind.ts';

export interface Plan {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly constraints: readonly Constraint[];
  /** The response's `data`, with holes for results. */
  readonly template: readonly TemplatePart[];
  readonly steps: readonly Step[];
}

export type TemplatePart =
  | Buffer
  | { readonly step: number; readonly column: number }
  | { readonly produce: () => Promise<string> };

/** One statement on one source, answering one or more root fields: a column each. */
export interface Step {
  readonly source: string;
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  readonly roots: readonly TranslatedRoot[];
}

/**
 * Groups root fields by source, one statement each.
 * @param compilerOf the compiler of a source's kind
 */
export function planOperation(operation: TranslatedOperation, compilerOf: (source: string) => Compiler): Plan {
  const bySource = new Map<string, number[]>();
  operation.roots.forEach((root, index) => {
    const indexes = bySource.get(root.source);
    if (indexes === undefined) bySource.set(root.source, [index]);
    else indexes.push(index);
  });
  const holes = new Map<number, { step: number; column: number }>();
  const steps: Step[] = [];
  for (const [source, indexes] of bySource) {
    const roots = indexes.map((index) => operation.roots[index] as TranslatedRoot);
    const statement = compilerOf(source).select(roots.map((r) => r.root));
    for (const [column, index] of indexes.entries()) holes.set(index, { step: steps.length, column });
    steps.push({ source, statement, binders: statement.parameters.map(binder), roots });
  }
  return { kind: operation.kind, constraints: operation.constraints, template: template(operation.response, holes), steps };
}

function template(response: ResponseNode, holes: ReadonlyMap<number, { step: number; column: number }>): readonly TemplatePart[] {
  const parts: (string | Exclude<TemplatePart, Buffer>)[] = [];
  const text = (piece: string): void => {
    const last = parts.length - 1;
    if (typeof parts[last] === 'string') parts[last] += piece;
    else parts.push(piece);
  };
  const visit = (node: ResponseNode): void => {
    switch (node.kind) {
      case 'json':
        text(node.text);
        return;
      case 'root':
        parts.push(holes.get(node.index) as { step: number; column: number });
        return;
      case 'deferred':
        parts.push({ produce: node.produce });
        return;
      case 'object':
        text('{');
        node.entries.forEach(([key, child], i) => {
          text(`${i === 0 ? '' : ','}${JSON.stringify(key)}:`);
          visit(child);
        });
        text('}');
    }
  };
  text('{"data":');
  visit(response);
  text('}');
  return parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
}
