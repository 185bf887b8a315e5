import { isFieldName } from '../metadata/graphql-name.ts';
import { isGraphqlName } from '../model/graphql-name.ts';
import type { Json, JsonObject } from '../util/json.ts';
import type { Inconsistency, InconsistencyRefusal } from './schema-cache.ts';

/** A defect of one metadata object. A stage throws and records it; it never leaves the room. */
export class Defect extends Error {
  readonly refusal: InconsistencyRefusal | undefined;
  constructor(message: string, refusal?: InconsistencyRefusal) {
    super(message);
    this.name = 'Defect';
    this.refusal = refusal;
  }
}

/** Returns a defect with the text `… because r`, or `… for the following reasons:` with one line for each reason. */
export function defectBecause(start: string, reasons: readonly string[]): Defect {
  if (reasons.length === 1) return new Defect(`${start} because ${reasons[0]}`);
  return new Defect(`${start} for the following reasons:\n${reasons.map((reason) => `  • ${reason}\n`).join('')}`);
}

/** Message about a name that is not a GraphQL name; the two spaces are part of the interface. */
export function illegalName(text: string): string {
  return `cannot include "${text}" in the GraphQL schema because  it is not a valid GraphQL identifier`;
}

/** Returns why a field cannot have the name, or null. */
export function fieldNameProblem(name: string): string | null {
  if (isFieldName(name)) return null;
  return isGraphqlName(name) ? `no field can have the name "${name}": it is reserved by GraphQL or by conditions` : illegalName(name);
}

export interface ObjectDescription {
  readonly objectId: string;
  readonly type: string;
  readonly name: string;
  readonly definition: Json;
}

/** @param message details for administrators */
export function inconsistent(object: ObjectDescription, reason: string, message?: Json): Inconsistency {
  return { ...object, reason: `Inconsistent object: ${reason}`, ...(message === undefined ? {} : { message }) };
}

/** Returns the record of an object with a defect; `where` precedes the text: `in table "t": `. */
export function fromDefect(object: ObjectDescription, where: string, defect: Defect): Inconsistency {
  const record = inconsistent(object, `${where}${defect.message}`);
  return defect.refusal === undefined ? record : { ...record, refusal: defect.refusal };
}

/** Records objects that exclude each other: one record lists all of them, and none of them is part of the schema. */
export function conflicting(objects: readonly ObjectDescription[], text: string): readonly Inconsistency[] {
  const reason = `Conflicting objects: ${text}`;
  const record: JsonObject = {
    reason,
    objects: objects.map(({ type, name, definition }) => ({ type, name, definition })),
  };
  return objects.map((object) => ({ ...object, reason, record }));
}

/** Returns an entry of `inconsistent_objects`. */
export function recordOf(inconsistency: Inconsistency): Json {
  if (inconsistency.record !== undefined) return inconsistency.record;
  const { definition, name, reason, type, message } = inconsistency;
  return { definition, name, reason, type, ...(message === undefined ? {} : { message }) };
}

/** Returns all entries of `inconsistent_objects`; a record that several objects share is listed once. */
export function recordsOf(inconsistencies: readonly Inconsistency[]): readonly Json[] {
  return [...new Set(inconsistencies.map((inconsistency) => inconsistency.record ?? inconsistency))].map((item) =>
    'objectId' in (item as object) ? recordOf(item as Inconsistency) : (item as Json),
  );
}
