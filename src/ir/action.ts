/** Calls of actions and the composition of our answer. Values are references, as everywhere in the IR. */
import type { ActionDefinition } from '../metadata/action.ts';
import type { GraphqlType } from '../metadata/graphql-type.ts';
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import type { WrittenJson } from './input-validation.ts';

export type ActionRoot = ActionCall | ActionEnqueue | ActionResult;

interface AnyActionRoot {
  readonly name: string;
  readonly definition: ActionDefinition;
  /** Distinguishes it from a `SelectRoot` and a `MutationRoot`. */
  readonly query?: undefined;
  readonly mutation?: undefined;
}

/** Calls the handler and waits for its answer. */
export interface ActionCall extends AnyActionRoot {
  readonly task: 'call';
  readonly arguments: readonly ActionArgument[];
  readonly answer: ActionAnswer;
}

/** Stores the call for later; the answer is its id. */
export interface ActionEnqueue extends AnyActionRoot {
  readonly task: 'enqueue';
  readonly arguments: readonly ActionArgument[];
}

/** Reads the result of a stored call. */
export interface ActionResult extends AnyActionRoot {
  readonly task: 'result';
  readonly id: ActionArgument;
  readonly parts: readonly ActionResultPart[];
}

export interface ActionArgument {
  readonly name: string;
  readonly value: WrittenJson;
  /** Coerces the value of a variable. @throws SvcError if it does not fit */
  readonly check: (json: Json) => Json;
  readonly at: Path;
}

export type ActionResultPart =
  | { readonly kind: 'id' | 'created-at' | 'errors'; readonly responseKey: string }
  | { readonly kind: 'typename'; readonly responseKey: string; readonly typeName: string }
  | { readonly kind: 'output'; readonly responseKey: string; readonly answer: ActionAnswer };

/** Type of the handler's answer, and the fields that are selected from it. */
export interface ActionAnswer {
  readonly type: GraphqlType;
  readonly expects:
    | { readonly kind: 'object'; readonly required: readonly string[] }
    | { readonly kind: 'plain-scalar'; readonly name: string }
    /** A scalar of the metadata or of a database, or an enum: any JSON. */
    | { readonly kind: 'anything' };
  /** `null` if there is no selection. */
  readonly fields: readonly ActionOutput[] | null;
}

/** One key of an object of our answer. Response keys are unique within an object. */
export type ActionOutput =
  | { readonly kind: 'field'; readonly responseKey: string; readonly name: string; readonly fields: readonly ActionOutput[] | null }
  | { readonly kind: 'typename'; readonly responseKey: string; readonly typeName: string }
  /** Placeholder of the join with this index; its key consists of fields of the handler's object. */
  | { readonly kind: 'joined'; readonly responseKey: string; readonly join: number; readonly keys: readonly string[] };
