/** Root fields of actions. */
import { ADMIN_ROLE } from '../../auth/session.ts';
import type { ActionArgument, ActionResultPart } from '../../ir/action.ts';
import { invariant } from '../../errors/svc-error.ts';
import type { GraphqlType } from '../../metadata/graphql-type.ts';
import type { ActionInfo } from '../../schema-cache/action-info.ts';
import type { OperationRoot } from '../../schema-cache/naming.ts';
import type { SchemaCache } from '../../schema-cache/schema-cache.ts';
import { at } from '../../util/path.ts';
import { wholeValue } from '../../graphql-engine/input/whole-value.ts';
import { meaningOf } from '../../graphql-engine/meaning.ts';
import { customScalar } from '../remote/remote-scalar.ts';
import type { CollectedField, InputField, ObjectType, OutputField, ScalarSchemaType } from '../../graphql-engine/types.ts';
import { lazy, typeRef } from '../../graphql-engine/types.ts';
import type { ActionTypes } from './action-types.ts';

/** Returns the root fields of the actions that the role may call, by name. */
export function actionRootFields(
  actions: SchemaCache['actions'],
  types: ActionTypes,
  role: string,
  root: OperationRoot,
): ReadonlyMap<string, OutputField> {
  const fields = new Map<string, OutputField>();
  for (const action of actions.values()) {
    if (role !== ADMIN_ROLE && !action.permissions.has(role)) continue;
    const field = rootField(action, types, root);
    if (field !== null) fields.set(action.name, field);
  }
  return fields;
}

function rootField(action: ActionInfo, types: ActionTypes, root: OperationRoot): OutputField | null {
  switch (action.kind) {
    case 'query':
      return root === 'query' ? callField(action, types) : null;
    case 'synchronous':
      return root === 'mutation' ? callField(action, types) : null;
    case 'asynchronous':
      return root === 'mutation' ? enqueueField(action, types) : resultField(action, types);
  }
}

function argumentsOf({ arguments: list }: ActionInfo, types: ActionTypes): ReadonlyMap<string, InputField> {
  return new Map(list.map((argument) => [argument.name, types.inputField(argument)]));
}

function argumentsOfField(args: ReadonlyMap<string, InputField>, collected: CollectedField): readonly ActionArgument[] {
  return [...args.values()].flatMap(({ name, type }): readonly ActionArgument[] => {
    const input = collected.args.get(name);
    if (input === undefined) return [];
    const place = at(at(collected.path, 'args'), name);
    return [{ name, value: input.checkedAsWritten(), check: (json) => wholeValue(type, json, place), at: place }];
  });
}

function callField(action: ActionInfo, types: ActionTypes): OutputField {
  const { name, comment, definition, output } = action;
  const args = argumentsOf(action, types);
  return {
    name,
    description: comment ?? null,
    type: types.output(output),
    args,
    meaning: {
      kind: 'action',
      translate: (collected) => ({
        task: 'call',
        name,
        definition,
        arguments: argumentsOfField(args, collected),
        answer: types.answer(output, collected),
      }),
    },
  };
}

const UUID = customScalar('uuid', null);
const TIMESTAMP = customScalar('timestamptz', null);
const JSON_SCALAR = customScalar('json', null);

const reference = (scalar: ScalarSchemaType, nonNull: boolean) => typeRef(scalar.name, () => scalar, nonNull);

function enqueueField(action: ActionInfo, types: ActionTypes): OutputField {
  const { name, comment, definition } = action;
  const args = argumentsOf(action, types);
  return {
    name,
    description: comment ?? null,
    type: reference(UUID, true),
    args,
    meaning: {
      kind: 'action',
      translate: (collected) => ({ task: 'enqueue', name, definition, arguments: argumentsOfField(args, collected) }),
    },
  };
}

const RESULT_ARGUMENTS: ReadonlyMap<string, InputField> = new Map([
  ['id', { name: 'id', description: 'the unique id of an action', type: reference(UUID, true) }],
]);

function resultField(action: ActionInfo, types: ActionTypes): OutputField {
  const { name, comment, definition, output } = action;
  const type = lazy(() => resultType(name, output, types));
  return {
    name,
    description: comment ?? null,
    type: typeRef(name, type),
    args: RESULT_ARGUMENTS,
    meaning: {
      kind: 'action',
      translate: (collected) => {
        const [id] = argumentsOfField(RESULT_ARGUMENTS, collected);
        invariant(id !== undefined, 'an id is required');
        const parts = collected.select(type()).map((inner): ActionResultPart => {
          const { field, responseKey, typeName } = inner;
          return field === null ? { kind: 'typename', responseKey, typeName } : meaningOf(field, 'action-result').toPart(inner);
        });
        return { task: 'result', name, definition, id, parts };
      },
    },
  };
}

function resultType(name: string, output: GraphqlType, types: ActionTypes): ObjectType {
  const part = (field: string, description: string, type: OutputField['type'], kind: 'id' | 'created-at' | 'errors'): OutputField => ({
    name: field,
    description,
    type,
    args: new Map(),
    meaning: { kind: 'action-result', toPart: ({ responseKey }) => ({ kind, responseKey }) },
  });
  const fields: readonly OutputField[] = [
    part('created_at', 'the time at which this action was created', reference(TIMESTAMP, true), 'created-at'),
    part('errors', 'errors related to the invocation', reference(JSON_SCALAR, false), 'errors'),
    part('id', 'the unique id of an action', reference(UUID, true), 'id'),
    {
      name: 'output',
      description: 'the output fields of this action',
      type: types.output({ ...output, nonNull: false }),
      args: new Map(),
      meaning: {
        kind: 'action-result',
        toPart: (collected) => ({ kind: 'output', responseKey: collected.responseKey, answer: types.answer(output, collected) }),
      },
    },
  ];
  return {
    kind: 'object',
    name,
    description: `fields of action: "${name}"`,
    fields: () => new Map(fields.map((field) => [field.name, field])),
  };
}
