/** Requests to the metadata API that an administrator writes. */
import { nearestNames } from '../../../packages/model/nearest.ts';
import { isList, isObject, type Json, type JsonObject, objectOf, parseJsonText } from '../model/json.ts';
import type { Step } from '../model/steps.ts';
import type { Suggestions } from '../model/suggestions.ts';
import { Failure } from './failure.ts';
import { sendAsAdmin } from './http.ts';
import { changesOf, OPERATION_NAMES, withoutAlias } from './operation-names.ts';
import { BULK_OPERATIONS } from './operations.generated.ts';

export interface OperationRequest {
  readonly body: JsonObject;
  /** The operation, or those of a bulk. */
  readonly steps: readonly Step[];
  readonly isRead: boolean;
}

const MAX_SUGGESTIONS = 3;
const ALL_NAMES = [...OPERATION_NAMES, ...BULK_OPERATIONS];

/** Reads a request, and checks its operations against those of the service. @throws SyntaxError, Failure with the path */
export function readRequest(text: string): OperationRequest {
  const body = parseJsonText(text);
  const steps = stepsOf(body, '$');
  return { body: objectOf(body), steps, isRead: steps.every(({ type }) => changesOf(type) === 'nothing') };
}

/** Sends a request that changes nothing. @throws Failure */
export function sendRead({ body, isRead }: OperationRequest): Promise<Json> {
  if (!isRead) throw new Error('the request changes something');
  return sendAsAdmin('v1/metadata', { body });
}

function stepsOf(json: Json, path: string): readonly Step[] {
  if (!isObject(json)) {
    throw fault(
      'Expected an object with "type" and "args".',
      path,
      isList(json) ? { remedies: ['Send a list as {"type": "bulk", "args": [...]}.'] } : {},
    );
  }
  const { type, args } = json;
  if (typeof type !== 'string') throw fault('The key "type" has to be the name of an operation.', path);
  if (args === undefined) throw fault('The key "args" is missing.', path);
  if (BULK_OPERATIONS.includes(type)) {
    if (!isList(args)) throw fault(`The "args" of ${type} have to be a list of operations.`, `${path}.args`);
    return args.flatMap((each, index) => stepsOf(each, `${path}.args[${index}]`));
  }
  const name = withoutAlias(type);
  if (changesOf(name) === undefined) throw unknownOperation(type, path);
  return [{ type: name, args: objectOf(args) }];
}

function unknownOperation(type: string, path: string): Failure {
  const suggestions = /(?:^|_)run_sql$/.test(type)
    ? { remedies: ['Run SQL on the SQL page.'] }
    : { names: nearestNames(type, ALL_NAMES, MAX_SUGGESTIONS) };
  return fault(`The metadata API has no operation "${type}".`, `${path}.type`, suggestions);
}

function fault(message: string, path: string, suggestions: Partial<Suggestions> = {}): Failure {
  return new Failure(message, { code: 'parse-failed', path, ...suggestions });
}
