/**
 * Values at input positions. A literal is read from the document; a variable, including one inside a literal, is checked against its
 * declaration and then read from the request.
 */
import { Kind, type ValueNode } from 'graphql';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { WrittenJson } from '../ir/input-validation.ts';
import type { Value } from '../ir/value.ts';
import type { Json } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { type Coercion, enumValueOfName, isArrayText } from './input/coerce.ts';
import { declarationOf, type InputContext } from './input/context.ts';
import { describeLiteral, expected, expectedList, unexpectedNull } from './input/input-errors.ts';
import { fieldOf, requireFields } from './input/input-object.ts';
import { holdsVariable, literalJson } from './input/literal-json.ts';
import { createVariableInput } from './input/variable-input.ts';
import { writtenLiteral } from './input/written-json.ts';
import {
  type EnumSchemaValue,
  type InputValue,
  type InputField,
  type InputTypeRef,
  type OpaqueInput,
  printType,
  type ScalarSchemaType,
} from './types.ts';
import { decodeOpaque } from './opaque-text.ts';
import { isUsageAllowed, type VariableDeclaration } from './variables.ts';

/**
 * Returns the argument or input field written as `field: node`; undefined if it counts as absent.
 * @throws SvcError if a variable's declaration does not fit, or for null at a non-null position
 */
export function inputAt(context: InputContext, node: ValueNode, field: InputField, path: Path): InputValue | undefined {
  const hasDefault = field.default !== undefined && field.default !== null;
  if (node.kind === Kind.VARIABLE && context.unsentIsAbsent && isUnsent(context, node.name.value, path)) {
    checkDeclaration(context, node.name.value, field.type, path, hasDefault);
    return undefined;
  }
  return createInput(context, node, field.type, path, hasDefault);
}

/** Returns true if the request does not contain the variable; its presence becomes a constraint. */
function isUnsent(context: InputContext, name: string, path: Path): boolean {
  const declaration = declarationOf(context, name, path);
  if (declaration.type.nonNull || declaration.default !== undefined) return false;
  const present = context.variables[name] !== undefined;
  context.constraints.record({ variable: name, path: [], fact: { kind: 'present', present } });
  return !present;
}

function checkDeclaration(
  context: InputContext,
  name: string,
  type: InputTypeRef,
  path: Path,
  positionHasDefault: boolean,
): VariableDeclaration {
  const declaration = declarationOf(context, name, path);
  if (isUsageAllowed(declaration, type, positionHasDefault) || scalarAccepts(type, declaration, positionHasDefault)) return declaration;
  throw new SvcError(
    'validation-failed',
    `variable '${name}' is declared as '${declaration.typeText}', but used where '${printType(type)}' is expected`,
    { path, suggestions: () => [printType(type)] },
  );
}

/** Returns the value at an input position. @throws SvcError validation-failed for null or a variable that is not allowed there */
export function createInput(
  context: InputContext,
  node: ValueNode,
  type: InputTypeRef,
  path: Path,
  positionHasDefault: boolean,
): InputValue {
  if (node.kind === Kind.VARIABLE) {
    const name = node.name.value;
    const declaration = checkDeclaration(context, name, type, path, positionHasDefault);
    const neverNull = declaration.type.nonNull && !context.nullInNonNullableVariables;
    return createVariableInput(context, { name, inner: [], json: context.variables[name] ?? null, neverNull }, type, path);
  }
  if (node.kind === Kind.NULL && type.nonNull) throw unexpectedNull(type, path);
  return new LiteralInput(context, node, type, path);
}

/** Returns true if a scalar accepts variables with other declarations. */
function scalarAccepts(position: InputTypeRef, declaration: VariableDeclaration, positionHasDefault: boolean): boolean {
  if (position.kind === 'list') return false;
  const named = position.type();
  if (named.kind !== 'scalar') return false;
  const { anyVariable, standsFor } = named;
  if (standsFor === undefined) return anyVariable === true;
  return isUsageAllowed(declaration, { ...standsFor, nonNull: position.nonNull }, positionHasDefault);
}

/** A class, because operations have thousands of values: methods of a prototype need no allocation. */
class LiteralInput implements InputValue {
  readonly type: InputTypeRef;
  readonly path: Path;
  readonly #context: InputContext;
  readonly #node: ValueNode;

  constructor(context: InputContext, node: ValueNode, type: InputTypeRef, path: Path) {
    this.type = type;
    this.path = path;
    this.#context = context;
    this.#node = node;
  }

  as(other: InputTypeRef): InputValue {
    return new LiteralInput(this.#context, this.#node, other, this.path);
  }

  isNull(): boolean {
    return this.#node.kind === Kind.NULL;
  }

  entries(): ReturnType<InputValue['entries']> {
    return entries(this.#context, this.#node, this.type, this.path);
  }

  items(): readonly InputValue[] {
    return items(this.#context, this.#node, this.type, this.path);
  }

  get isData(): boolean {
    return false;
  }

  /** The size of a document is limited, and its literals are part of the plan. */
  objects(): null {
    return null;
  }

  enumValue(): EnumSchemaValue {
    return enumValue(this.#node, this.type, this.path);
  }

  value(): Value {
    return value(this.#context, this.#node, this.type, this.path);
  }

  listValue(): Value {
    return listValue(this.#context, this.#node, this.type, this.path);
  }

  json(): Json {
    return fixed(this.#context, this.#node, this.type, this.path);
  }

  opaque(): OpaqueInput {
    const text = this.json();
    const json = decodeOpaque(text);
    return { text, json, part: (_name, read) => ({ kind: 'literal', json: read(json ?? null, this.path) }) };
  }

  charge(values: number): void {
    this.#context.constraints.charge(values);
  }

  asData(): InputValue {
    return this;
  }

  written(): WrittenJson {
    return writtenLiteral(this.#node);
  }

  checkedAsWritten(): WrittenJson {
    return checkedAsWritten(this.#context, this.#node, this);
  }
}

function checkedAsWritten(context: InputContext, node: ValueNode, input: InputValue): WrittenJson {
  const { type, path } = input;
  if (node.kind === Kind.NULL) return { kind: 'json', json: null };
  if (type.kind === 'list') {
    const inner = input.items().map((item) => item.checkedAsWritten());
    return node.kind === Kind.LIST ? { kind: 'list', items: inner } : (inner[0] as WrittenJson);
  }
  const named = type.type();
  switch (named.kind) {
    case 'input-object': {
      const present = input.entries();
      return { kind: 'object', entries: present.map(({ field, input: value }) => [field.name, value.checkedAsWritten()] as const) };
    }
    case 'enum':
      return { kind: 'json', json: input.enumValue().name };
    case 'scalar':
      return holdsVariable(node) ? input.written() : { kind: 'json', json: scalar(context, node, named, path) };
  }
}

function entries(
  context: InputContext,
  node: ValueNode,
  type: InputTypeRef,
  path: Path,
): readonly { readonly field: InputField; readonly input: InputValue }[] {
  invariant(type.kind === 'named', 'an input object position');
  const object = type.type();
  invariant(object.kind === 'input-object', `${type.name} is an input object`);
  if (node.kind !== Kind.OBJECT) throw expected('an object', type.name, describeLiteral(node), path);
  const inside = object.isCondition === true ? (context.inConditions ?? context) : context;
  const present = new Map<string, { readonly field: InputField; readonly input: InputValue }>();
  for (const { name, value } of node.fields) {
    const field = fieldOf(object, name.value, path);
    const input = inputAt(inside, value, field, at(path, name.value));
    if (input !== undefined) present.set(name.value, { field, input });
  }
  requireFields(object, (name) => present.has(name), path);
  return [...present.values()];
}

function items(context: InputContext, node: ValueNode, type: InputTypeRef, path: Path): readonly InputValue[] {
  invariant(type.kind === 'list', 'a list position');
  if (node.kind === Kind.NULL) throw expectedList('null', path);
  const nodes = node.kind === Kind.LIST ? node.values : [node];
  return nodes.map((item, index) => createInput(context, item, type.item, at(path, index), false));
}

function enumValue(node: ValueNode, type: InputTypeRef, path: Path): EnumSchemaValue {
  invariant(type.kind === 'named', 'an enum position');
  const named = type.type();
  invariant(named.kind === 'enum', `${type.name} is an enum`);
  if (node.kind !== Kind.ENUM) throw expected('an enum value', type.name, describeLiteral(node), path);
  return enumValueOfName(named, node.value, path);
}

function value(context: InputContext, node: ValueNode, type: InputTypeRef, path: Path): Value {
  if (node.kind === Kind.NULL) return { kind: 'literal', json: null };
  if (type.kind === 'named') {
    const named = type.type();
    if (named.kind === 'scalar') return { kind: 'literal', json: scalar(context, node, named, path) };
    return { kind: 'literal', json: enumValue(node, type, path).value };
  }
  if (node.kind === Kind.STRING && isArrayText(node.value)) return { kind: 'literal', json: node.value };
  return listValue(context, node, type, path);
}

function listValue(context: InputContext, node: ValueNode, type: InputTypeRef, path: Path): Value {
  invariant(type.kind === 'list', 'a list position');
  if (node.kind === Kind.NULL) throw expectedList('null', path);
  const nodes = node.kind === Kind.LIST ? node.values : [node];
  const values = nodes.map((item, index) => itemValue(context, item, type.item, at(path, index)));
  if (values.every((item) => item.kind === 'literal')) return { kind: 'literal', json: values.map((item) => item.json) };
  return { kind: 'list', items: values };
}

function itemValue(context: InputContext, node: ValueNode, type: InputTypeRef, path: Path): Value {
  if (node.kind === Kind.NULL) throw unexpectedNull(type, path);
  if (node.kind !== Kind.VARIABLE) return value(context, node, type, path);
  const variable = createInput(context, node, type, path, false).value();
  invariant(variable.kind === 'variable', 'a reference to the variable');
  // Null is rejected when the plan is bound, so that one plan serves all values.
  return { ...variable, check: rejectingNull(variable.check, type) };
}

function rejectingNull(check: Coercion, type: InputTypeRef): Coercion {
  return (json, path) => {
    if (json === null) throw unexpectedNull(type, path);
    return check(json, path);
  };
}

/** Returns a literal as JSON; the values of variables inside are fixed in the plan. */
function fixed(context: InputContext, node: ValueNode, type: InputTypeRef, path: Path): Json {
  if (node.kind === Kind.NULL) return null;
  if (type.kind === 'named') {
    const named = type.type();
    if (named.kind === 'scalar') return scalar(context, node, named, path);
    return enumValue(node, type, path).value;
  }
  if (node.kind === Kind.STRING && isArrayText(node.value)) return node.value;
  return items(context, node, type, path).map((item) => item.json());
}

function scalar(context: InputContext, node: ValueNode, type: ScalarSchemaType, path: Path): Json {
  if (node.kind === Kind.ENUM && type.enumLiterals !== true) throw expected(expectation(type.name), type.name, 'an enum value', path);
  const json = literalJson(node, (name) => {
    declarationOf(context, name, path);
    const sent = context.variables[name];
    const fact = sent === undefined ? ({ kind: 'present', present: false } as const) : ({ kind: 'equals', json: sent } as const);
    context.constraints.record({ variable: name, path: [], fact });
    return sent === undefined && !context.unsentIsAbsent ? null : sent;
  });
  return type.check(json, path, holdsVariable(node) ? undefined : describeLiteral(node));
}

function expectation(scalarName: string): string {
  if (scalarName === 'Boolean') return 'a boolean';
  if (scalarName === 'Int') return 'a 32-bit integer';
  return scalarName === 'Float' ? 'a float' : 'a string';
}
