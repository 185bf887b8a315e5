/** Compiles request transforms. Every part is computed from the original call. */
import { invariant } from '../../errors/svc-error.ts';
import type { HeaderTransform, RequestTransform } from '../../metadata/transform.ts';
import { type TransformedBody, byName, compileBody } from './body.ts';
import { type RequestContext, requestEnvironment } from './context.ts';
import { type Budget, createBudget } from './template/budget.ts';
import type { TemplateVariables } from './template/evaluate.ts';
import { type Template, textTemplate } from './template/template.ts';
import { runNullableText, runText } from './text-value.ts';
import { FaultList, wrongResult } from './transform-failure.ts';
import { parseWebAddress, printParameters, printWebAddress, type UrlParameter, type WebAddress, withQuery } from './web-address.ts';
import { printJson } from '../../util/json.ts';

export type Header = readonly [name: string, value: string];

export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: TransformedBody;
}

/** @throws TransformFailure */
export type RequestTransformer = (request: OutgoingRequest, context: RequestContext) => OutgoingRequest;

/** @throws TemplateError, TransformFailure */
type Maker<T> = (environment: TemplateVariables, budget: Budget) => T;

/**
 * Compiles the templates once for all calls.
 * @throws TransformFailure with all invalid templates
 */
export function compileRequestTransform(transform: RequestTransform): RequestTransformer {
  const faults = new FaultList();
  const { method, url, queryParams, requestHeaders } = transform;
  const makeBody = transform.body && compileBody(transform.body, faults);
  const makeAddress = url === undefined ? undefined : compileAddress(url, faults);
  const makeQuery = queryParams === undefined ? undefined : compileQuery(queryParams, faults);
  const addHeaders = requestHeaders && compileHeaders(requestHeaders, faults);
  faults.finish();

  return (request, context) => {
    const environment = requestEnvironment(context);
    const budget = createBudget();
    const failures = new FaultList();
    const make = <T>(maker: Maker<T> | undefined): T | undefined => maker && failures.attempt(() => maker(environment, budget));
    const body = make(makeBody);
    const address = make(makeAddress ?? (() => webAddress(request.url)));
    const query = make(makeQuery);
    const added = make(addHeaders);
    failures.finish();
    invariant(address !== undefined, 'a failed URL is among the faults');
    const removed = new Set(requestHeaders?.removeHeaders.map((name) => name.toLowerCase()));
    return {
      method: method?.toUpperCase() ?? request.method,
      url: printWebAddress(query === undefined ? address : withQuery(address, query)),
      headers: [...request.headers.filter(([name]) => !removed.has(name.toLowerCase())), ...(added ?? [])],
      body: body ?? request.body,
    };
  };
}

function compileAddress(source: string, faults: FaultList): Maker<WebAddress> | undefined {
  const template = faults.attempt(() => textTemplate(source));
  return (
    template &&
    ((environment, budget) => {
      const value = template.run(environment, budget);
      if (typeof value !== 'string') {
        budget.printing(value);
        throw wrongResult(`URL Transforms must produce a JSON String: ${printJson(value)}`);
      }
      budget.output(value.length);
      return webAddress(value);
    })
  );
}

function webAddress(text: string): WebAddress {
  const address = parseWebAddress(text);
  if (address === undefined) throw wrongResult(`Invalid URL: ${text}`);
  return address;
}

/** Compiles the whole query, without its question mark. */
function compileQuery(source: string | ReadonlyMap<string, string | null>, faults: FaultList): Maker<string> | undefined {
  if (typeof source === 'string') {
    const template = faults.attempt(() => textTemplate(source));
    return template && ((environment, budget) => (runNullableText(template, environment, budget) ?? '').replace(/^\?/, ''));
  }
  const parameters = byName(source).map(([name, value]) => ({
    name: faults.attempt(() => textTemplate(name)),
    value: value === null ? null : faults.attempt(() => textTemplate(value)),
  }));
  return (environment, budget) =>
    printParameters(
      parameters.flatMap((parameter): UrlParameter[] => {
        const name = parameter.name && runNullableText(parameter.name, environment, budget);
        if (name === null || name === undefined) return [];
        if (parameter.value === null) return [[name, null]];
        const value = parameter.value && runNullableText(parameter.value, environment, budget);
        return value === null || value === undefined ? [] : [[name, value]];
      }),
    );
}

/** Valid header names of HTTP. A value must not have line breaks: it would become several headers. */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const NOT_IN_HEADER = /[\0\r\n]/;

function compileHeaders({ addHeaders }: HeaderTransform, faults: FaultList): Maker<readonly Header[]> {
  const headers = byName(addHeaders).flatMap(([name, source]): (readonly [string, Template])[] => {
    const template = faults.attempt(() => {
      if (!HEADER_NAME.test(name)) throw wrongResult(`Invalid header name: ${JSON.stringify(name)}`);
      return textTemplate(source);
    });
    return template === undefined ? [] : [[name, template]];
  });
  return (environment, budget) =>
    headers.map(([name, template]): Header => {
      const value = runText(template, environment, budget);
      if (NOT_IN_HEADER.test(value)) throw wrongResult(`Invalid value of the header ${JSON.stringify(name)}`);
      return [name, value];
    });
}
