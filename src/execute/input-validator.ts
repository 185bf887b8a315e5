/** Calls the hooks of permissions (`validate_input`), which accept or reject the input of a mutation. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../auth/session.ts';
import { SvcError } from '../errors/svc-error.ts';
import { type EnvironmentVariables, filledTemplate, type MissingVariable, variablesNotFound } from '../metadata/environment-template.ts';
import type { ValidateInput } from '../metadata/validate-input.ts';
import type { OutboundClient } from '../http-client/client.ts';
import { OutboundError } from '../http-client/outbound-error.ts';
import { isJsonObject, type Json, printJson } from '../util/json.ts';
import { responseJsonOrNull } from '../webhooks/response-json.ts';
import { loggedMessage } from '../webhooks/logged-call.ts';
import { callWebhook } from '../webhooks/call-webhook.ts';
import { clientHeaders } from '../webhooks/client-headers.ts';
import { configuredHeaders } from '../webhooks/configured.ts';
import type { RunOptions } from '../backend/connection.ts';
import type { OutboundResponse } from '../http-client/request.ts';

/** Input to validate. */
export interface ValidationRequest {
  readonly hook: ValidateInput;
  readonly input: readonly Json[];
  readonly session: Session;
  /** Headers of the client's request, if there is one, to be forwarded. */
  readonly headers?: IncomingHttpHeaders;
  readonly options: RunOptions;
}

/** @throws SvcError validation-failed with the hook's own message if it rejects the input, unexpected if it cannot be called */
export type InputValidator = (request: ValidationRequest) => Promise<void>;

const MAX_RESPONSE_SIZE = 1_048_576;

export function createInputValidator(outbound: OutboundClient, environment: EnvironmentVariables): InputValidator {
  return async ({ hook: { definition }, input, session, headers, options }) => {
    const configured = configuredHeaders(definition.headers, environment, missing);
    const url = filledTemplate(definition.url, environment, missing);
    const body = printJson({ version: 1, role: session.role, session_variables: Object.fromEntries(session.variables), data: { input } });
    let response: OutboundResponse;
    try {
      const call = {
        kind: 'validation',
        url,
        template: definition.url,
        method: 'POST',
        headers: {
          ...(definition.forwardClientHeaders && headers !== undefined ? clientHeaders(headers) : {}),
          ...configured,
          'content-type': 'application/json',
        },
        body,
        timeout: definition.timeout * 1000,
        maxResponseSize: MAX_RESPONSE_SIZE,
      } as const;
      response = await callWebhook(outbound, call, options);
    } catch (error) {
      throw failed(error instanceof OutboundError ? loggedMessage(error.message, url, definition.url) : 'the hook cannot be called', error);
    }
    const { status } = response;
    if (status >= 200 && status < 300) return;
    const refusal = status === 400 ? messageOf(response.body) : undefined;
    if (refusal === undefined) throw failed(`the hook responded with status ${status}`);
    throw new SvcError('validation-failed', refusal);
  };
}

function failed(reason: string, cause?: unknown): SvcError {
  return new SvcError('unexpected', 'internal error when validating input data', { internal: { error: reason }, cause });
}

function missing(variables: readonly MissingVariable[]): SvcError {
  return failed(variablesNotFound(variables));
}

function messageOf(body: Buffer): string | undefined {
  const json = responseJsonOrNull(body);
  const message = isJsonObject(json) ? json['message'] : undefined;
  return typeof message === 'string' ? message : undefined;
}
