/** Estimates the heap size of a plan; caches are limited by it. */
import type { ActionOutput, ActionRoot } from '../ir/action.ts';
import type { WrittenItems, WrittenJson } from '../ir/input-validation.ts';
import type { RemoteOutput, RemotePart, RemoteValue } from '../ir/remote.ts';
import type { Value } from '../ir/value.ts';
import type { Constraint } from '../graphql-engine/constraint.ts';
import type { InsertedRows } from '../backend/backend.ts';
import { isJsonArray, isJsonObject, type Json, JsonNumber } from '../util/json.ts';
import type { JsonLayout } from '../util/json-layout.ts';
import type { OperationPlan } from './plan.ts';
import type { Statement } from '../backend/connection.ts';

// Measured with Node 20 to 24; `plan-size.test.ts` compares estimates with the heap.
const PLAN = 1_000;
const STATEMENT = 500;
/** Reference, operand, binder, encoder. */
const PARAMETER = 600;
/** A step of the path of a variable's part, as an item of a list of keys and as a linked path. */
const PATH_STEP = 100;
const CONSTRAINT = 250;
const JSON_VALUE = 24;
/** A row to insert, without its values. */
const ROW = 400;
/** A field that is requested from another server, and its meaning. */
const REMOTE_FIELD = 400;
/** A field of the answer of an action. */
const ACTION_FIELD = 150;
/** A name of a value that is read once. */
const LAYOUT_ENTRY = 100;
/** The query of a join, per character of its statement. */
const JOINED = 4;

type Measured = Pick<OperationPlan, 'constraints' | 'steps' | 'joins' | 'template' | 'unmatchedTypes' | 'validations'>;

/** Returns the estimate in bytes. */
export function planSize({ constraints, steps, joins, template, unmatchedTypes = [], validations }: Measured): number {
  let bytes = PLAN;
  for (const constraint of constraints) bytes += constraintSize(constraint);
  for (const step of steps) {
    if (step.kind === 'select') bytes += statementSize(step.statement);
    else if (step.kind === 'live') bytes += statementSize(step.query);
    else if (step.kind === 'mutation')
      for (const { statement, rows } of step.statements) bytes += statementSize(statement) + rowsSize(rows);
    else if (step.kind === 'call') bytes += callSize(step.root.root);
    else bytes += STATEMENT + step.request.document.length + remoteFieldsSize(step.root.root.fields);
  }
  for (const join of joins) {
    // The query of a join is stored in addition to its statement.
    if (join.kind === 'source')
      bytes += statementSize(join.statement) + JOINED * join.statement.text.length + layoutSize(join.layout ?? []);
    else bytes += STATEMENT + remoteFieldsSize([join.target.field]);
  }
  for (const part of template) {
    bytes += typeof part === 'string' ? part.length : PARAMETER;
    if (typeof part !== 'string' && 'layout' in part) bytes += layoutSize(part.layout);
  }
  for (const { name } of unmatchedTypes) bytes += CONSTRAINT + name.length;
  for (const { input } of validations) for (const item of input) bytes += writtenSize(item);
  return bytes;
}

function layoutSize(layout: JsonLayout): number {
  return layout.reduce((sum, { key, inner }) => sum + LAYOUT_ENTRY + key.length + (inner === null ? 0 : layoutSize(inner)), 0);
}

function rowsSize(rows: InsertedRows | undefined): number {
  return rows === undefined || !('length' in rows.rows) ? 0 : rows.rows.length * ROW;
}

function writtenSize(written: WrittenJson | WrittenItems): number {
  switch (written.kind) {
    case 'json':
      return jsonSize(written.json);
    case 'list':
      return written.items.reduce((sum, item) => sum + writtenSize(item), PATH_STEP);
    case 'object':
      return written.entries.reduce((sum, [, value]) => sum + PATH_STEP + writtenSize(value), PATH_STEP);
    default:
      return (1 + written.path.length) * PATH_STEP;
  }
}

function callSize(root: ActionRoot): number {
  const values = root.task === 'result' ? [root.id] : root.arguments;
  const answers =
    root.task === 'call'
      ? [root.answer]
      : root.task === 'enqueue'
        ? []
        : root.parts.flatMap((part) => (part.kind === 'output' ? [part.answer] : []));
  const bytes = values.reduce((sum, { value }) => sum + PARAMETER + writtenSize(value), STATEMENT);
  return answers.reduce((sum, { fields }) => sum + actionFieldsSize(fields ?? []), bytes);
}

function actionFieldsSize(fields: readonly ActionOutput[]): number {
  return fields.reduce((sum, field) => sum + ACTION_FIELD + (field.kind === 'field' ? actionFieldsSize(field.fields ?? []) : 0), 0);
}

function remoteFieldsSize(fields: readonly RemoteOutput[]): number {
  let bytes = 0;
  for (const field of fields) {
    bytes += REMOTE_FIELD;
    if (field.kind !== 'field') continue;
    for (const { value } of field.args) bytes += remotePartSize(value);
    if (field.selection?.kind === 'object') bytes += remoteFieldsSize(field.selection.fields);
    else if (field.selection?.kind === 'abstract') for (const type of field.selection.types.values()) bytes += remoteFieldsSize(type);
  }
  return bytes;
}

function remotePartSize(part: RemotePart): number {
  switch (part.kind) {
    case 'printed':
      return PATH_STEP + part.text.length;
    case 'list':
      return part.items.reduce((sum, item) => sum + remotePartSize(item), PATH_STEP);
    case 'object':
      return part.entries.reduce((sum, [, item]) => sum + PATH_STEP + remotePartSize(item), PATH_STEP);
    case 'variable':
      return remoteValueSize(part.value);
  }
}

function remoteValueSize(value: RemoteValue): number {
  switch (value.kind) {
    case 'literal':
      return PATH_STEP + jsonSize(value.json);
    case 'written':
      return PATH_STEP + writtenSize(value.written);
    case 'list':
      return value.items.reduce((sum, item) => sum + remoteValueSize(item), PATH_STEP);
    case 'object':
      return value.entries.reduce((sum, [, item]) => sum + PATH_STEP + remoteValueSize(item), PATH_STEP);
    case 'merged':
      return value.parts.reduce((sum, part) => sum + remoteValueSize(part), PATH_STEP);
    default:
      return PATH_STEP;
  }
}

function statementSize({ text, parameters }: Statement): number {
  let bytes = STATEMENT + text.length;
  for (const { operand, key } of parameters) bytes += PARAMETER + key.length + valueSize(operand.value);
  return bytes;
}

function valueSize(value: Value): number {
  switch (value.kind) {
    case 'literal':
      // Stored as JSON and as the text of the parameter.
      return 2 * jsonSize(value.json);
    case 'variable':
    case 'members':
      return PARAMETER / 2 + value.path.length * PATH_STEP;
    case 'list':
      return value.items.reduce((sum, item) => sum + PARAMETER / 2 + valueSize(item), 0);
    default:
      return 0;
  }
}

function constraintSize({ path, fact }: Constraint): number {
  const bytes = CONSTRAINT + path.length * PATH_STEP;
  switch (fact.kind) {
    case 'equals':
      return bytes + jsonSize(fact.json);
    case 'opaque':
      return bytes + fact.shape.length;
    case 'keys':
      return bytes + fact.keys.length * JSON_VALUE;
    case 'objects':
      return bytes + (fact.required.size + fact.optional.size) * 2 * JSON_VALUE;
    default:
      return bytes;
  }
}

function jsonSize(json: Json): number {
  if (typeof json === 'string') return JSON_VALUE + json.length;
  if (json instanceof JsonNumber) return 2 * JSON_VALUE + json.text.length;
  if (!isJsonArray(json) && !isJsonObject(json)) return JSON_VALUE;
  let bytes = 2 * JSON_VALUE;
  if (isJsonArray(json)) for (const item of json) bytes += jsonSize(item);
  else for (const key of Object.keys(json)) bytes += 2 * JSON_VALUE + key.length + jsonSize(json[key] as Json);
  return bytes;
}
