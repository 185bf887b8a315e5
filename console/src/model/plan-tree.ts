/** Plans of statements as trees, from the JSON that databases return. */
import { isList, isObject, type Json, type JsonObject, numberOf, JsonNumber } from './json.ts';

export interface PlanNode {
  /** Such as `Index Scan`. */
  readonly title: string;
  /** Table or index that it reads. */
  readonly of: string | undefined;
  /** Part of the whole cost, or of the whole time of a plan that was run; from 0 to 1. Undefined if unknown. */
  readonly share: number | undefined;
  readonly isFullScan: boolean;
  /** The other values, as name and text. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly children: readonly PlanNode[];
}

/** Reads the plan of a statement. Undefined if the JSON has none. */
export function planTree(json: Json): PlanNode | undefined {
  const root = isList(json) ? json[0] : json;
  if (!isObject(root)) return undefined;
  const plan = root['Plan'];
  if (isObject(plan)) {
    const key = plan['Actual Total Time'] === undefined ? 'Total Cost' : 'Actual Total Time';
    const node = typedNode(plan, key, numberAt(plan, key) || 1);
    const times = simpleFacts(root);
    return { ...node, facts: [...node.facts, ...times] };
  }
  return objectNode('Plan', root);
}

/** Keys that are shown elsewhere. */
const SHOWN: readonly string[] = ['Node Type', 'Relation Name', 'Alias', 'Index Name', 'Plans', 'Parent Relationship', 'Schema'];
const FULL_SCAN = /^(?:Parallel )?Seq Scan$/;

/** A node that has its type as a value and its children in a list. */
function typedNode(plan: JsonObject, key: string, whole: number): PlanNode {
  const title = String(plan['Node Type']);
  const relation = plan['Relation Name'];
  const index = plan['Index Name'];
  const of = [relation, index].filter((each) => typeof each === 'string').join(', ');
  const loops = numberAt(plan, 'Actual Loops') || 1;
  return {
    title,
    of: of === '' ? undefined : of,
    share: Math.min(1, (numberAt(plan, key) * (key === 'Total Cost' ? 1 : loops)) / whole),
    isFullScan: FULL_SCAN.test(title),
    facts: simpleFacts(plan).filter(([name]) => !SHOWN.includes(name)),
    children: isList(plan['Plans']) ? plan['Plans'].filter(isObject).map((each) => typedNode(each, key, whole)) : [],
  };
}

/** A node of which each member that is an object is a child. */
function objectNode(title: string, json: JsonObject): PlanNode {
  const { table_name: table, access_type: access } = json;
  return {
    title,
    of: typeof table === 'string' ? table : undefined,
    share: undefined,
    isFullScan: access === 'ALL',
    facts: simpleFacts(json).filter(([name]) => name !== 'table_name'),
    children: Object.entries(json).flatMap(([name, value]) => {
      const words = name.replaceAll('_', ' ');
      if (isList(value)) return value.filter(isObject).map((each) => only(words, each));
      return isObject(value) ? [only(words, value)] : [];
    }),
  };
}

/** Leaves out a level that only holds another one. */
function only(title: string, json: JsonObject): PlanNode {
  const [entry, ...others] = Object.entries(json);
  if (entry !== undefined && others.length === 0 && isObject(entry[1])) return only(entry[0].replaceAll('_', ' '), entry[1]);
  return objectNode(title, json);
}

function simpleFacts(json: JsonObject): readonly (readonly [string, string])[] {
  return Object.entries(json).flatMap(([name, value]): (readonly [string, string])[] => {
    // Most counters of a measured plan are zero.
    if (value === null || value === false || (value === 0 && !/rows/i.test(name))) return [];
    if (isList(value)) {
      const texts = value.filter((each) => typeof each === 'string' || typeof each === 'number');
      return texts.length === 0 ? [] : [[name, texts.join(', ')]];
    }
    return isObject(value) ? [] : [[name, value instanceof JsonNumber ? value.text : String(value)]];
  });
}

function numberAt(json: JsonObject, key: string): number {
  const value = json[key];
  if (typeof value === 'number') return value;
  return value instanceof JsonNumber ? Number(numberOf(value.text)) || 0 : 0;
}
