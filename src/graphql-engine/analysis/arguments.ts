/** Checks the arguments of a stored field: literals against their types, variables against their declarations. */
import { type FieldNode, Kind, type ValueNode } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import { at, type Path } from '../../util/path.ts';
import { isArrayText } from '../input/coerce.ts';
import { createConstraintRecorder, type InputContext } from '../input/context.ts';
import { fieldOf } from '../input/input-object.ts';
import { holdsVariable } from '../input/literal-json.ts';
import { createInput } from '../input.ts';
import type { EnumSchemaType, InputField, InputObjectType, InputTypeRef, ScalarSchemaType } from '../types.ts';
import type { VariableDeclaration } from '../variables.ts';

export type InputNamedType = ScalarSchemaType | EnumSchemaType | InputObjectType;

export interface ArgumentCheck {
  readonly declared: ReadonlyMap<string, VariableDeclaration>;
  /** Receives the types of variables, without lists. */
  readonly types: Map<string, InputNamedType>;
  readonly report: (path: Path, message: string) => void;
}

export function checkArguments(node: FieldNode, definitions: ReadonlyMap<string, InputField>, path: Path, check: ArgumentCheck): void {
  const presentNames = new Set<string>();
  for (const { name, value } of node.arguments ?? []) {
    presentNames.add(name.value);
    const definition = definitions.get(name.value);
    if (definition === undefined) check.report(path, `'${node.name.value}' has no argument named '${name.value}'`);
    else checkValue(value, definition.type, hasDefault(definition), at(path, name.value), check);
  }
  for (const definition of definitions.values()) {
    if (definition.type.nonNull && definition.default === undefined && !presentNames.has(definition.name)) {
      check.report(path, `missing required field '${definition.name}'`);
    }
  }
}

function hasDefault({ default: value }: InputField): boolean {
  return value !== undefined && value !== null;
}

function checkValue(node: ValueNode, type: InputTypeRef, positionHasDefault: boolean, path: Path, check: ArgumentCheck): void {
  const context: InputContext = {
    variables: {},
    declared: check.declared,
    constraints: createConstraintRecorder({ parts: Number.POSITIVE_INFINITY, facts: 0 }),
    nullInNonNullableVariables: false,
    unsentIsAbsent: false,
    inConditions: null,
  };
  const attempt = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      check.report(error.path, error.message);
    }
  };
  const visit = (value: ValueNode, position: InputTypeRef, withDefault: boolean, place: Path): void => {
    attempt(() => {
      if (value.kind === Kind.VARIABLE) check.types.set(value.name.value, innermost(position));
      const input = createInput(context, value, position, place, withDefault);
      if (value.kind === Kind.VARIABLE || value.kind === Kind.NULL) return;
      if (position.kind === 'list') {
        if (value.kind === Kind.STRING && isArrayText(value.value)) return;
        if (value.kind !== Kind.LIST) visit(value, position.item, false, at(place, 0));
        else for (const [i, item] of value.values.entries()) visit(item, position.item, false, at(place, i));
        return;
      }
      const named = position.type();
      if (named.kind === 'enum') input.enumValue();
      else if (named.kind === 'scalar') {
        if (!holdsVariable(value)) input.json();
      } else if (value.kind === Kind.OBJECT) {
        for (const { name, value: item } of value.fields) {
          attempt(() => {
            const field = fieldOf(named, name.value, place);
            visit(item, field.type, hasDefault(field), at(place, name.value));
          });
        }
        const presentNames = new Set(value.fields.map(({ name }) => name.value));
        for (const field of named.fields().values()) {
          if (field.type.nonNull && field.default === undefined && !presentNames.has(field.name)) {
            check.report(at(place, field.name), `missing required field '${field.name}'`);
          }
        }
      } else input.entries();
    });
  };
  visit(node, type, positionHasDefault, path);
}

function innermost(type: InputTypeRef): InputNamedType {
  return type.kind === 'list' ? innermost(type.item) : type.type();
}
