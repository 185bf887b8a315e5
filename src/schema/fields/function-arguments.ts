/** The `args` argument of functions and computed fields, and its translation to a call. */
import { SvcError } from '../../errors/svc-error.ts';
import type { CatalogFunction, CatalogFunctionArgument } from '../../catalog/catalog.ts';
import type { Value } from '../../ir/value.ts';
import type { CollectedField, InputValue, InputField, InputObjectType } from '../../graphql-engine/types.ts';
import { lazy, typeRef } from '../../graphql-engine/types.ts';
import { entriesOf, nonNullArgument } from './input.ts';
import type { SourceContext } from './source-context.ts';
import { at, type Path } from '../../util/path.ts';
import { valuePlace } from './value-place.ts';
import type { FunctionArgument, FunctionCall } from '../../ir/function-call.ts';

export interface FunctionArguments {
  /** The `args` argument; null if there are no user arguments. */
  readonly argument: InputField | null;
  /** @throws SvcError `not-supported` if a required argument is missing */
  call(field: CollectedField): FunctionCall;
  /** The call without user arguments; null if there are any (then `where` and similar arguments cannot use it). */
  readonly plain: FunctionCall | null;
}

export interface FunctionShape {
  /** Index of the argument that is the row, null for a tracked function. */
  readonly row: number | null;
  /** Columns of the row by the index of the argument that takes their value. */
  readonly columns?: ReadonlyMap<number, string>;
  /** Index of the argument that takes the session variables. */
  readonly session: number | null;
  /** Name of the input type. */
  readonly typeName: string;
  readonly description: string;
}

interface UserArgument {
  readonly index: number;
  readonly field: InputField;
  readonly argument: CatalogFunctionArgument;
  value(input: InputValue): Value;
}

export function functionArguments(source: SourceContext, definition: CatalogFunction, shape: FunctionShape): FunctionArguments {
  const users = userArguments(source, definition, shape);
  const argumentName = source.field('args');
  const byIndex = new Map(users.map((user) => [user.index, user]));

  const call = (inputs: ReadonlyMap<string, InputValue>, path: Path): FunctionCall => {
    const out: FunctionArgument[] = [];
    let omitted = false;
    definition.arguments.forEach((argument, index) => {
      // After an omitted argument the rest must be passed by name.
      const name = omitted ? argument.name : null;
      const pass = (value: Value): void => {
        if (name === '') throw new SvcError('not-supported', 'Only last set of positional arguments can be omitted', { path });
        out.push({ kind: 'value', name, operand: { value, type: argument.type, list: false } });
      };
      const column = shape.columns?.get(index);
      if (index === shape.row) out.push({ kind: 'row' });
      else if (column !== undefined) out.push({ kind: 'column', column });
      else if (index === shape.session) pass({ kind: 'session-variables' });
      else {
        const user = byIndex.get(index);
        const input = user === undefined ? undefined : inputs.get(user.field.name);
        if (user !== undefined && input !== undefined) pass(input.isNull() ? { kind: 'literal', json: null } : user.value(input));
        else if (argument.hasDefault) omitted = true;
        else throw new SvcError('not-supported', 'Non default arguments cannot be omitted', { path });
      }
    });
    // A default is an expression, for example `now()`.
    const immutable = definition.volatility === 'immutable' && !omitted;
    return {
      function: definition.name,
      arguments: out,
      volatile: definition.volatility === 'volatile',
      ...(immutable ? { immutable } : {}),
    };
  };

  return {
    argument: users.length === 0 ? null : argumentOf(argumentName, users, shape),
    call: (field) => {
      const input = nonNullArgument(field.args, argumentName);
      const path = at(at(field.path, 'args'), argumentName);
      return call(new Map(input === null ? [] : entriesOf(input).map((entry) => [entry.field.name, entry.input])), path);
    },
    plain: users.length === 0 ? call(new Map(), { parent: undefined, key: '$' }) : null,
  };
}

/** Returns the one argument of the field, an object with those of the function. */
function argumentOf(name: string, users: readonly UserArgument[], { typeName, description }: FunctionShape): InputField {
  const type: InputObjectType = {
    kind: 'input-object',
    name: typeName,
    description,
    fields: lazy(() => new Map(users.map(({ field }) => [field.name, field]))),
  };
  const isRequired = users.some(({ argument }) => !argument.hasDefault);
  return { name, description, type: typeRef(typeName, () => type, isRequired) };
}

function userArguments(source: SourceContext, definition: CatalogFunction, shape: FunctionShape): readonly UserArgument[] {
  const users: UserArgument[] = [];
  let unnamed = 0;
  definition.arguments.forEach((argument, index) => {
    if (index === shape.row || index === shape.session || shape.columns?.has(index) === true) return;
    const name = argument.name === '' ? `arg_${++unnamed}` : argument.name;
    const place = valuePlace(source, argument.type, null);
    if (place === null) return;
    const list = place.input(false);
    const scalar = argument.type.array ? source.shared.arrayScalar(argument.type) : null;
    const type = scalar === null ? list : typeRef(scalar.name, () => scalar);
    users.push({
      index,
      argument,
      field: { name: source.field(name), description: null, type },
      // Items of a list may be variables, which a scalar would fix in the plan.
      value: (input) => (scalar === null ? input : input.as(list)).value(),
    });
  });
  return users;
}
