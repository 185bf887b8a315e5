import { isFieldName, isGraphqlName } from '../metadata/graphql-name.ts';
import type { Json, JsonObject } from '../util/json.ts';
import type { Inconsistency, InconsistencyRefusal } from './schema-cache.ts';

/** A defect of one metadata object, thrown inside a stage and recorded by it; never leaves the room. */
export class Defect extends Error {
  readonly refusal: InconsistencyRefusal | undefined;
  constructor(message: string, refusal?: InconsistencyRefusal) {
    super(message);
    this.name = 'Defect';
    this.refusal = refusal;
  }
}

/** The refusal of a name that GraphQL cannot have; the two spaces are part of the interface. */
export function illegalName(text: string): string {
  return `cannot include "${text}" in the GraphQL schema because  it is not a valid GraphQL identifier`;
}

/** Why a field cannot have the name; null: it can. */
export function refusedFieldName(name: string): string | null {
  if (isFieldName(name)) return null;
  return isGraphqlName(name) ? `no field can have the name "${name}", which GraphQL or conditions use themselves` : illegalName(name);
}

export interface ObjectDescription {
  readonly objectId: string;
  readonly type: string;
  readonly name: string;
  readonly definition: Json;
}

/** @param message what administrators see besides */
export function inconsistent(object: ObjectDescription, reason: string, message?: Json): Inconsistency {
  return { ...object, reason: `Inconsistent object: ${reason}`, ...(message === undefined ? {} : { message }) };
}

/** The record of an object whose definition has a defect; `where` is put before the text, as in `in table "t": `. */
export function fromDefect(object: ObjectDescription, where: string, defect: Defect): Inconsistency {
  const record = inconsistent(object, `${where}${defect.message}`);
  return defect.refusal === undefined ? record : { ...record, refusal: defect.refusal };
}

/** Objects that exclude each other; the record lists them all and each of them is out. */
export function conflicting(objects: readonly ObjectDescription[], text: string): readonly Inconsistency[] {
  const reason = `Conflicting objects: ${text}`;
  const record: JsonObject = {
    reason,
    objects: objects.map(({ type, name, definition }) => ({ type, name, definition })),
  };
  return objects.map((object) => ({ ...object, reason, record }));
}

/** One entry of `inconsistent_objects`. */
export function recordOf(inconsistency: Inconsistency): Json {
  if (inconsistency.record !== undefined) return inconsistency.record;
  const { definition, name, reason, type, message } = inconsistency;
  return { definition, name, reason, type, ...(message === undefined ? {} : { message }) };
}

/** All entries of `inconsistent_objects`; a record that several objects share is listed once. */
export function recordsOf(inconsistencies: readonly Inconsistency[]): readonly Json[] {
  return [...new Set(inconsistencies.map((inconsistency) => inconsistency.record ?? inconsistency))].map((item) =>
    'objectId' in (item as object) ? recordOf(item as Inconsistency) : (item as Json),
  );
}
