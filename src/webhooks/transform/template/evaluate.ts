/** Evaluates syntax trees. Time, memory and depth are limited, whatever the template and its input. */
import { isJsonArray, isJsonNumber, isJsonObject, type Json, printJson } from '../../../util/json.ts';
import { type Budget, BudgetExceeded } from './budget.ts';
import { FunctionFault, FUNCTIONS, type TemplateFunction } from './functions.ts';
import type { Accessor, Node, TemplateOperator, PathNode } from './syntax.ts';
import { type SourceSpan, TemplateError, type TemplateErrorCode } from './template-error.ts';
import { compare, equal, member, objectFromEntries, jsonTypeName } from './values.ts';

export interface TemplateVariables {
  /** Values by name, which includes the `$`. */
  readonly variables: ReadonlyMap<string, Json>;
  /** In addition to the built-in functions. */
  readonly functions: ReadonlyMap<string, TemplateFunction>;
}

/** A variable of a `range`, linked to the enclosing scopes. */
interface Scope {
  readonly name: string;
  readonly value: Json;
  readonly outer: Scope | undefined;
}

/** Walking past an enclosing scope costs next to nothing, but templates may nest hundreds of them. */
const SCOPES_PER_STEP = 32;

/** @throws TemplateError */
export function evaluate(node: Node, source: string, environment: TemplateVariables, budget: Budget): Json {
  const error = (code: TemplateErrorCode, message: string, span: SourceSpan): TemplateError =>
    new TemplateError(code, message, source, span);
  const wrongType = (expected: string, actual: Json, span: SourceSpan): TemplateError =>
    error('Type Error', `Couldn't match expected type '${expected}' with actual type '${jsonTypeName(actual)}'`, span);

  /** Current position, for the error when the budget is exhausted. */
  let place = node.span;

  const run = (at: Node, scope: Scope | undefined): Json => {
    place = at.span;
    budget.steps(1);
    switch (at.kind) {
      case 'literal':
        return at.value;
      case 'text':
        return at.parts.map((part) => (typeof part === 'string' ? counted(part) : spliced(run(part, scope)))).join('');
      case 'array':
        return at.items.map((item) => run(item, scope));
      case 'object':
        return objectFromEntries(at.entries.map(([key, value]) => [key, run(value, scope)]));
      case 'path':
        return path(at, scope);
      case 'call':
        return call(at.name, at.argument, at.span, scope);
      case 'not':
        return !truth(at.operand, scope);
      case 'operation':
        return operation(at.operator, at.left, at.right, scope);
      case 'if': {
        const branch = at.branches.find(({ condition }) => truth(condition, scope));
        return run(branch === undefined ? at.otherwise : branch.result, scope);
      }
      case 'range': {
        const list = run(at.list, scope);
        if (!isJsonArray(list)) throw error('Index Error', 'Can only range over an array', at.list.span);
        return list.map((item, index) => run(at.body, bind(at.item, item, bind(at.index, index, scope))));
      }
    }
  };

  const counted = (text: string): string => {
    budget.output(text.length);
    return text;
  };

  const spliced = (value: Json): string => {
    if (typeof value === 'string') return counted(value);
    budget.printing(value);
    return printJson(value);
  };

  const truth = (at: Node, scope: Scope | undefined): boolean => {
    const value = run(at, scope);
    if (typeof value !== 'boolean') throw wrongType('Boolean', value, at.span);
    return value;
  };

  const path = ({ variable, variableSpan, optional, accessors, span }: PathNode, scope: Scope | undefined): Json => {
    let value = lookUp(variable, scope);
    if (value === undefined) {
      if (optional) return null;
      throw error('Name Error', `Variable '${variable}' not in scope`, variableSpan);
    }
    for (const accessor of accessors) {
      budget.steps(1);
      const key = typeof accessor.key === 'string' ? accessor.key : computedKey(accessor.key, scope);
      const found = step(value, key, accessor, { start: span.start, end: accessor.end });
      if (found === undefined) return null;
      value = found;
    }
    return value;
  };

  const computedKey = (at: Node, scope: Scope | undefined): Json => {
    const key = run(at, scope);
    // The lookup reads all characters of a computed key.
    if (typeof key === 'string') budget.reading(key.length);
    else if (isJsonNumber(key)) budget.number(key);
    return key;
  };

  const lookUp = (variable: string, scope: Scope | undefined): Json | undefined => {
    let passed = 0;
    for (let each = scope; each !== undefined; each = each.outer) {
      if (each.name === variable) return each.value;
      if (++passed % SCOPES_PER_STEP === 0) budget.steps(1);
    }
    return environment.variables.get(variable);
  };

  /** Returns `undefined` for a missing value that is optional. */
  const step = (value: Json, key: Json, { optional }: Accessor, span: SourceSpan): Json | undefined => {
    const byIndex = isJsonNumber(key);
    let found: Json | undefined;
    if (typeof key === 'string' && isJsonObject(value)) found = member(value, key);
    else if (byIndex && isJsonArray(value)) found = value[Number(key)];
    if (found !== undefined || optional) return found;
    if (byIndex && isJsonArray(value)) throw error('Index Error', `'Array' has no element ${printJson(key)}.`, span);
    if (byIndex) throw wrongType('Array', value, span);
    if (typeof key !== 'string') throw wrongType(isJsonArray(value) ? 'Number' : 'String', key, span);
    throw error('Attribute Error', `'${jsonTypeName(value)}' has no attribute '${key}'.`, span);
  };

  const call = (name: string, argument: Node, span: SourceSpan, scope: Scope | undefined): Json => {
    const called = environment.functions.get(name) ?? FUNCTIONS.get(name);
    if (called === undefined) throw error('Name Error', `Variable '${name}' not in scope`, span);
    const value = run(argument, scope);
    try {
      return called(value, budget);
    } catch (thrown) {
      if (thrown instanceof FunctionFault) throw error('Function Error', thrown.message, argument.span);
      throw thrown;
    }
  };

  const operation = (operator: TemplateOperator, left: Node, right: Node, scope: Scope | undefined): Json => {
    switch (operator) {
      case '??':
        return run(left, scope) ?? run(right, scope);
      case '&&':
      case '||': {
        const both = [truth(left, scope), truth(right, scope)];
        return operator === '&&' ? both.every(Boolean) : both.some(Boolean);
      }
      case 'in':
        return contains(run(right, scope), run(left, scope), left, right);
      case '==':
      case '!=': {
        const values = [run(left, scope), run(right, scope)] as const;
        return equal(...values, budget) === (operator === '==');
      }
      default:
        return ordered(operator, left, right, scope);
    }
  };

  const ordered = (operator: '<' | '<=' | '>' | '>=', left: Node, right: Node, scope: Scope | undefined): boolean => {
    const values = [run(left, scope), run(right, scope)] as const;
    const order = compare(...values, budget);
    if (typeof order !== 'number') {
      throw error('Type Error', `Couldn't match expected type '${order.expected}' with actual type '${order.actual}'`, right.span);
    }
    switch (operator) {
      case '<':
        return order < 0;
      case '<=':
        return order <= 0;
      case '>':
        return order > 0;
      case '>=':
        return order >= 0;
    }
  };

  const contains = (container: Json, value: Json, valueNode: Node, containerNode: Node): boolean => {
    if (isJsonArray(container)) return container.some((item) => equal(item, value, budget));
    if (!isJsonObject(container)) throw wrongType('Array', container, containerNode.span);
    if (typeof value !== 'string') throw wrongType('String', value, valueNode.span);
    budget.reading(value.length);
    return Object.hasOwn(container, value);
  };

  try {
    return run(node, undefined);
  } catch (thrown) {
    if (thrown instanceof BudgetExceeded) throw error('TransformationError', thrown.message, place);
    // Only a stack overflow: compared values come from outside and may be nested arbitrarily deep.
    if (thrown instanceof RangeError) throw error('TransformationError', 'A value is nested too deeply.', place);
    throw thrown;
  }
}

function bind(name: string, value: Json, outer: Scope | undefined): Scope | undefined {
  return name === '_' ? outer : { name, value, outer };
}
