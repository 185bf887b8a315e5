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
  return new Evaluation(node, source, environment, budget).result();
}

class Evaluation {
  readonly #root: Node;
  readonly #source: string;
  readonly #environment: TemplateVariables;
  readonly #budget: Budget;
  /** Current position, for the error when the budget is exhausted. */
  #place: SourceSpan;

  constructor(root: Node, source: string, environment: TemplateVariables, budget: Budget) {
    this.#root = root;
    this.#place = root.span;
    this.#source = source;
    this.#environment = environment;
    this.#budget = budget;
  }

  result(): Json {
    try {
      return this.#run(this.#root, undefined);
    } catch (thrown) {
      if (thrown instanceof BudgetExceeded) throw this.#error('TransformationError', thrown.message, this.#place);
      // Only a stack overflow: compared values come from outside and may be nested arbitrarily deep.
      if (thrown instanceof RangeError) throw this.#error('TransformationError', 'A value is nested too deeply.', this.#place);
      throw thrown;
    }
  }

  #run(at: Node, scope: Scope | undefined): Json {
    this.#place = at.span;
    this.#budget.steps(1);
    switch (at.kind) {
      case 'literal':
        return at.value;
      case 'text':
        return at.parts.map((part) => (typeof part === 'string' ? this.#counted(part) : this.#spliced(this.#run(part, scope)))).join('');
      case 'array':
        return at.items.map((item) => this.#run(item, scope));
      case 'object':
        return objectFromEntries(at.entries.map(([key, value]) => [key, this.#run(value, scope)]));
      case 'path':
        return this.#path(at, scope);
      case 'call':
        return this.#call(at.name, at.argument, at.span, scope);
      case 'not':
        return !this.#truth(at.operand, scope);
      case 'operation':
        return this.#operation(at.operator, at.left, at.right, scope);
      case 'if': {
        const branch = at.branches.find(({ condition }) => this.#truth(condition, scope));
        return this.#run(branch === undefined ? at.otherwise : branch.result, scope);
      }
      case 'range': {
        const list = this.#run(at.list, scope);
        if (!isJsonArray(list)) throw this.#error('Index Error', 'Can only range over an array', at.list.span);
        return list.map((item, index) => this.#run(at.body, bind(at.item, item, bind(at.index, index, scope))));
      }
    }
  }

  #counted(text: string): string {
    this.#budget.output(text.length);
    return text;
  }

  #spliced(value: Json): string {
    if (typeof value === 'string') return this.#counted(value);
    this.#budget.printing(value);
    return printJson(value);
  }

  #truth(at: Node, scope: Scope | undefined): boolean {
    const value = this.#run(at, scope);
    if (typeof value !== 'boolean') throw this.#wrongType('Boolean', value, at.span);
    return value;
  }

  #path({ variable, variableSpan, optional, accessors, span }: PathNode, scope: Scope | undefined): Json {
    let value = this.#lookUp(variable, scope);
    if (value === undefined) {
      if (optional) return null;
      throw this.#error('Name Error', `Variable '${variable}' not in scope`, variableSpan);
    }
    for (const accessor of accessors) {
      this.#budget.steps(1);
      const key = typeof accessor.key === 'string' ? accessor.key : this.#computedKey(accessor.key, scope);
      const found = this.#step(value, key, accessor, { start: span.start, end: accessor.end });
      if (found === undefined) return null;
      value = found;
    }
    return value;
  }

  #computedKey(at: Node, scope: Scope | undefined): Json {
    const key = this.#run(at, scope);
    // The lookup reads all characters of a computed key.
    if (typeof key === 'string') this.#budget.reading(key.length);
    else if (isJsonNumber(key)) this.#budget.number(key);
    return key;
  }

  #lookUp(variable: string, scope: Scope | undefined): Json | undefined {
    let passed = 0;
    for (let each = scope; each !== undefined; each = each.outer) {
      if (each.name === variable) return each.value;
      if (++passed % SCOPES_PER_STEP === 0) this.#budget.steps(1);
    }
    return this.#environment.variables.get(variable);
  }

  /** Returns `undefined` for a missing value that is optional. */
  #step(value: Json, key: Json, { optional }: Accessor, span: SourceSpan): Json | undefined {
    const byIndex = isJsonNumber(key);
    let found: Json | undefined;
    if (typeof key === 'string' && isJsonObject(value)) found = member(value, key);
    else if (byIndex && isJsonArray(value)) found = value[Number(key)];
    if (found !== undefined || optional) return found;
    if (byIndex && isJsonArray(value)) throw this.#error('Index Error', `'Array' has no element ${printJson(key)}.`, span);
    if (byIndex) throw this.#wrongType('Array', value, span);
    if (typeof key !== 'string') throw this.#wrongType(isJsonArray(value) ? 'Number' : 'String', key, span);
    throw this.#error('Attribute Error', `'${jsonTypeName(value)}' has no attribute '${key}'.`, span);
  }

  #call(name: string, argument: Node, span: SourceSpan, scope: Scope | undefined): Json {
    const called = this.#environment.functions.get(name) ?? FUNCTIONS.get(name);
    if (called === undefined) throw this.#error('Name Error', `Variable '${name}' not in scope`, span);
    const value = this.#run(argument, scope);
    try {
      return called(value, this.#budget);
    } catch (thrown) {
      if (thrown instanceof FunctionFault) throw this.#error('Function Error', thrown.message, argument.span);
      throw thrown;
    }
  }

  #operation(operator: TemplateOperator, left: Node, right: Node, scope: Scope | undefined): Json {
    switch (operator) {
      case '??':
        return this.#run(left, scope) ?? this.#run(right, scope);
      case '&&':
      case '||': {
        const both = [this.#truth(left, scope), this.#truth(right, scope)];
        return operator === '&&' ? both.every(Boolean) : both.some(Boolean);
      }
      case 'in':
        return this.#contains(this.#run(right, scope), this.#run(left, scope), left, right);
      case '==':
      case '!=': {
        const values = [this.#run(left, scope), this.#run(right, scope)] as const;
        return equal(...values, this.#budget) === (operator === '==');
      }
      default:
        return this.#ordered(operator, left, right, scope);
    }
  }

  #ordered(operator: '<' | '<=' | '>' | '>=', left: Node, right: Node, scope: Scope | undefined): boolean {
    const values = [this.#run(left, scope), this.#run(right, scope)] as const;
    const order = compare(...values, this.#budget);
    if (typeof order !== 'number') {
      throw this.#error('Type Error', `Couldn't match expected type '${order.expected}' with actual type '${order.actual}'`, right.span);
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
  }

  #contains(container: Json, value: Json, valueNode: Node, containerNode: Node): boolean {
    if (isJsonArray(container)) return container.some((item) => equal(item, value, this.#budget));
    if (!isJsonObject(container)) throw this.#wrongType('Array', container, containerNode.span);
    if (typeof value !== 'string') throw this.#wrongType('String', value, valueNode.span);
    this.#budget.reading(value.length);
    return Object.hasOwn(container, value);
  }

  #error(code: TemplateErrorCode, message: string, span: SourceSpan): TemplateError {
    return new TemplateError(code, message, this.#source, span);
  }

  #wrongType(expected: string, actual: Json, span: SourceSpan): TemplateError {
    return this.#error('Type Error', `Couldn't match expected type '${expected}' with actual type '${jsonTypeName(actual)}'`, span);
  }
}

function bind(name: string, value: Json, outer: Scope | undefined): Scope | undefined {
  return name === '_' ? outer : { name, value, outer };
}
