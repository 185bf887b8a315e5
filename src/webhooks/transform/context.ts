/** Variables and functions of templates. */
import type { Json, JsonObject } from '../../util/json.ts';
import type { TemplateVariables } from './template/evaluate.ts';
import { FunctionFault, type TemplateFunction } from './template/functions.ts';
import { objectFromEntries } from './template/values.ts';
import { parseWebAddress, urlParameters } from './web-address.ts';

/** The call before its transform. */
export interface RequestContext {
  readonly body: Json;
  /** The configured URL, its environment variables filled in. */
  readonly baseUrl: string;
  /** Query parameters of that URL, each as `[name, value]`. */
  readonly queryParams: Json;
  readonly sessionVariables: JsonObject | null;
}

export interface RequestContextOptions {
  readonly body: Json;
  readonly baseUrl: string;
  /** `null` if the call has no session. */
  readonly sessionVariables: ReadonlyMap<string, string> | null;
}

/** Builds the context for templates of a request. */
export function requestContext({ body, baseUrl, sessionVariables }: RequestContextOptions): RequestContext {
  const address = parseWebAddress(baseUrl);
  return {
    body,
    baseUrl,
    queryParams: address === undefined ? [] : urlParameters(address),
    sessionVariables: sessionVariables && objectFromEntries([...sessionVariables].map(([name, value]) => [name.toLowerCase(), value])),
  };
}

function getSessionVariable(variables: JsonObject | null): TemplateFunction {
  return (argument, budget) => {
    if (typeof argument !== 'string') throw new FunctionFault('Session variable name should be a string');
    budget.output(argument.length);
    const key = argument.toLowerCase();
    const value = variables !== null && Object.hasOwn(variables, key) ? variables[key] : undefined;
    if (value === undefined) throw new FunctionFault(`Session variable "${argument}" not found`);
    return value;
  };
}

const functionsOf = (variables: JsonObject | null): TemplateVariables['functions'] =>
  new Map([['getSessionVariable', getSessionVariable(variables)]]);

/** Returns the variables and functions of request templates. */
export function requestEnvironment(context: RequestContext): TemplateVariables {
  return {
    variables: new Map<string, Json>([
      ['$body', context.body],
      ['$base_url', context.baseUrl],
      ['$query_params', context.queryParams],
      ['$session_variables', context.sessionVariables],
    ]),
    functions: functionsOf(context.sessionVariables),
  };
}

export interface ResponseContext {
  /** `null` if it is not JSON. */
  readonly body: Json;
  readonly status: number;
  readonly sessionVariables: JsonObject | null;
  /** The request's context; `null` if it was sent without a transform. */
  readonly request: RequestContext | null;
}

/** Returns the variables and functions of response templates. */
export function responseEnvironment({ body, status, sessionVariables, request }: ResponseContext): TemplateVariables {
  return {
    variables: new Map<string, Json>([
      ['$body', body],
      ['$session_variables', sessionVariables],
      ['$response', { status }],
      [
        '$request',
        request && {
          body: request.body,
          base_url: request.baseUrl,
          query_params: request.queryParams,
          session_variables: request.sessionVariables,
        },
      ],
    ]),
    functions: functionsOf(sessionVariables),
  };
}
