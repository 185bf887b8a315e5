/** Changes of the GraphQL schemas of roles that clients may notice. */
import {
  BreakingChangeType,
  buildSchema,
  DangerousChangeType,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLSchema,
  isInputObjectType,
} from 'graphql';
import { type Json, type JsonObject, objectsIn } from '../util/json.ts';
import { asAddition, isArtificial, isOfStandardScalar, changePlace } from './change-description.ts';
import { mainChanges } from './derived-changes.ts';
import type { SchemaChange } from './schema-change.ts';
import { isGeneratedInputEnum } from './type-names.ts';

export interface SchemaChanges {
  /** All changes, by role. */
  readonly all: readonly SchemaChange[];
  /** Changes without those that follow from another one, such as the filter type of a new table. */
  readonly main: readonly SchemaChange[];
}

/** @param trial result of `plan_changes` */
export function schemaChanges(trial: JsonObject): SchemaChanges {
  const schemas = objectsIn(trial['schemas']);
  const found = schemas.map((each): SchemaChanges => {
    const role = String(each['role']);
    const [before, after] = [schemaOf(each['before']), schemaOf(each['after'])];
    if (before === undefined || after === undefined) {
      const only: SchemaChange = { role, kind: 'safe', message: 'the schema differs' };
      return { all: [only], main: [only] };
    }
    const all = changesOfRole(role, before, after);
    return { all, main: mainChanges(all, before, after) };
  });
  return { all: found.flatMap(({ all }) => all), main: found.flatMap(({ main }) => main) };
}

function changesOfRole(role: string, before: GraphQLSchema, after: GraphQLSchema): readonly SchemaChange[] {
  const breaking = breakingChanges(before, after).map(
    ({ description }): SchemaChange => ({ role, kind: 'breaking', message: description }),
  );
  const others = findDangerousChanges(before, after).map(
    ({ type, description }): SchemaChange => ({ role, kind: isHarmless(type, description) ? 'safe' : 'dangerous', message: description }),
  );
  // A breaking change in the other direction is an addition. Those to input types are among the dangerous changes of graphql-js.
  const gained = breakingChanges(after, before)
    .filter(({ type, description }) => isPlainGain(type, description, after))
    .map(({ description }): SchemaChange => ({ role, kind: 'safe', message: asAddition(description) }));
  const all = [...breaking, ...others, ...gained];
  if (all.length > 0) return all.filter(({ message }) => !isArtificial(message));
  // The service lists only schemas whose texts differ.
  return [{ role, kind: 'safe', message: 'only descriptions or deprecations have changed.' }];
}

/** Returns whether every request that was valid before is still valid and has the same answer. */
function isHarmless(type: DangerousChangeType, description: string): boolean {
  return (
    type === DangerousChangeType.OPTIONAL_INPUT_FIELD_ADDED ||
    type === DangerousChangeType.OPTIONAL_ARG_ADDED ||
    (type === DangerousChangeType.VALUE_ADDED_TO_ENUM && isGeneratedInputEnum(changePlace(description)?.type ?? ''))
  );
}

/** Finds breaking changes except those of standard scalars: the compared documents have only types that differ, so these may be missing. */
function breakingChanges(before: GraphQLSchema, after: GraphQLSchema): ReturnType<typeof findBreakingChanges> {
  return findBreakingChanges(before, after).filter(
    ({ type, description }) => type !== BreakingChangeType.TYPE_REMOVED || !isOfStandardScalar(description),
  );
}

/** Returns whether a change adds a type, or a field to an output type. */
function isPlainGain(type: string, description: string, schema: GraphQLSchema): boolean {
  if (type === BreakingChangeType.TYPE_REMOVED) return true;
  return type === BreakingChangeType.FIELD_REMOVED && !isInputObjectType(schema.getType(changePlace(description)?.type ?? ''));
}

function schemaOf(sdl: Json | undefined): GraphQLSchema | undefined {
  try {
    return buildSchema(String(sdl), { assumeValid: true });
  } catch {
    return undefined;
  }
}
